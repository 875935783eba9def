"""Durable flows: one run per ticket attempt, and a periodic sweep that expires leases and sends replies.

A worker that is killed loses nothing. A ticket it had begun is taken up by the run that begun it, wherever that goes
on; what it had filled is filled once; what it had sent has its key.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.rooms.desk.flows.worker import Worker
from tallystick.rooms.desk.service import DeskService
from tallystick.rooms.desk.tickets.leases import Leases
from tallystick.turns.durable import Durable, Run
from tallystick.turns.runs import Queue, Retry, Schedule, StepFailed

TICKET, SWEEP, MAIL = "desk.ticket", "desk.sweep", "desk.mail"
TICKETS, CLOCK = "desk.tickets", "desk.clock"
TRIES = Retry(attempts=3, first_s=0.5, longest_s=10)
EVERY = "*/5 * * * * *"
"""Seconds first: late leases and the outbox are looked after every five seconds."""
Wake = Callable[[Sequence[str]], None]
PER_WORKER = 16
"""Tickets in work at once: a queue is looked into every half second, so four would be eight a second at the most."""
AT_ONCE = 500
"""Waiting tickets that one sweep wakes a worker for."""


def join_tickets(
    made: Callable[[], tuple[DeskService, Worker]],
    durable: Durable,
    *,
    own: bool,
    mail_every_minutes: int | None = None,
) -> Wake | None:
    """Register the flows; return the function that wakes them, or None if outside workers do all the work.

    Args:
        made: The service and its worker; made when the first ticket is worked on, since that opens the database.
        durable: The port.
        own: Whether tickets are worked on by the flows.
        mail_every_minutes: Minutes between checks for new mails; None: never.
    """
    flows = _Flows(made, durable, own=own)
    durable.add_queue(Queue(name=TICKETS, per_worker=PER_WORKER))
    durable.add_queue(Queue(name=CLOCK, concurrency=1, per_worker=1))
    durable.register(TICKET, flows.ticket, queue=TICKETS)
    durable.register(SWEEP, flows.sweep, queue=CLOCK)
    # Leases expire and messages fall due whether workers are built in or external.
    durable.schedule(Schedule(name=SWEEP, flow=SWEEP, cron=EVERY))
    durable.register(MAIL, flows.mail, queue=CLOCK)
    if mail_every_minutes is not None:
        durable.schedule(Schedule(name=MAIL, flow=MAIL, cron=f"0 */{mail_every_minutes} * * * *"))
    return flows.wake if own else None


class _Flows:
    def __init__(self, made: Callable[[], tuple[DeskService, Worker]], durable: Durable, *, own: bool) -> None:
        self._made = made
        self._durable = durable
        self._own = own

    @cached_property
    def _service(self) -> DeskService:
        return self._made()[0]

    @cached_property
    def _worker(self) -> Worker:
        return self._made()[1]

    def wake(self, ticket_ids: Sequence[str]) -> None:
        """Start a run for each; the run of one attempt is one, however often it is started."""
        with self._service.store.reading() as tx:
            attempts = {
                name: None if (one := tx.get(name, lock=False)) is None else one.attempts for name in ticket_ids
            }
        for name, attempt in attempts.items():
            if attempt is not None:
                self._durable.start(TICKET, {"ticket_id": name}, run_id=run_of(name, attempt))

    def ticket(self, run: Run, args: dict[str, Any]) -> Any:
        """One attempt at a ticket."""
        ticket_id = str(args["ticket_id"])
        try:
            ended = run.step("work", self._work, ticket_id, run.id, retry=TRIES)
        except StepFailed as failed:
            ended = run.step("give_up", self._give_up, ticket_id, run.id, failed.failure.code or "work_failed")
        if ended["queued"]:
            run.step("send", self._send)
        return {"ticket_id": ticket_id, "status": ended["status"]}

    def sweep(self, run: Run, _args: dict[str, Any]) -> Any:
        """The periodic sweep: expired leases, tickets without a worker, due messages."""
        late = run.step("late", self._leases.give_back_late)
        woken = run.step("wake", self._wake_waiting)
        sent = run.step("send", self._send)
        return {"late": late, "woken": woken, **sent}

    def mail(self, run: Run, _args: dict[str, Any]) -> Any:
        """Take in unread mails."""
        return run.step("mail", self._take_mails)

    def _take_mails(self) -> dict[str, Any]:
        mailbox = self._service.mailbox
        return {} if mailbox is None else mailbox.take().as_dict()

    @property
    def _leases(self) -> Leases:
        return self._service.leases

    def _work(self, ticket_id: str, run_id: str) -> dict[str, Any]:
        filled = self._worker.work(ticket_id, run_id)
        if isinstance(filled, Problem):
            # Not to be worked on, or it was filled before this worker could write down that it was.
            return {"status": filled.code, "queued": True}
        return {"status": filled.ticket.status, "queued": filled.queued}

    def _give_up(self, ticket_id: str, run_id: str, why: str) -> dict[str, Any]:
        left = self._leases.give_up(ticket_id, run_id, why)
        return {"status": left.code if isinstance(left, Problem) else left.ticket.status, "queued": False}

    def _send(self) -> dict[str, int]:
        sent = self._service.sending.send_due()
        return {"sent": sent.sent, "withheld": sent.withheld}

    def _wake_waiting(self) -> int:
        if not self._own:
            return 0
        with self._service.store.reading() as tx:
            waiting = [one.ticket_id for one in tx.waiting(kind=None, limit=AT_ONCE, lock=False)]
        self.wake(waiting)
        return len(waiting)


def run_of(ticket_id: str, attempt: int) -> str:
    """The run of one attempt at a ticket."""
    return f"desk.{ticket_id}.{attempt}"
