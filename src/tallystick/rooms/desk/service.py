"""The desk's service: intake, tickets, leases and the outbox, joined.

    service.intake.take(event)                    → IntakeResult
    service.leases.lease_some("worker-7")         → [LeasedTicket]
    service.leases.fill(id, outputs, by=…, proof=…, caller=…)   → FillResult | Problem
    service.tickets.show(id)
    service.sending.send_due()                    → SendResult

The room sets `service.judge` and `service.woken` afterwards.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from tallystick.errors import ConfigError
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.session import Caller, Session
from tallystick.http_port import HttpClient
from tallystick.mail_port import MailClient
from tallystick.records import record
from tallystick.rooms.desk.intake.mailbox import MailboxIntake
from tallystick.rooms.desk.intake.service import Intake
from tallystick.rooms.desk.model import VERDICTS, session_of
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.ports import Judge, NoJudge, ServicePorts
from tallystick.rooms.desk.reply.channels import channels_of
from tallystick.rooms.desk.reply.outbox import OutboxSender
from tallystick.rooms.desk.store import Store, Transaction
from tallystick.rooms.desk.tickets.leases import Leases
from tallystick.rooms.desk.tickets.service import TicketService
from tallystick.storage.notifications import Notifications
from tallystick.turns.runs import DurableError

TOKEN_BYTES = 32
HOUR_MS = 3_600_000


class LedgerPort(Protocol):
    """The ledger, as far as the desk writes to it."""

    def record_sync(self, draft: Draft) -> Receipt:
        """Record something."""
        ...

    def session(self, session_id: str) -> Iterator[Receipt]:
        """Receipts of one session that verify, in order."""
        ...


@record
class ServiceContext:
    """What the service needs from the room."""

    workspace: Path
    options: Options
    ledger: LedgerPort
    http: HttpClient
    mail: Callable[[], MailClient]
    known_tools: Callable[[], frozenset[str]]
    new_id: Callable[[str], str]
    now: Callable[[], str]


class DeskService:
    """The services of one desk, joined."""

    def __init__(self, store: Store, service_context: ServiceContext) -> None:
        self.store = store
        self.options = service_context.options
        self.judge: Judge = NoJudge()
        self.woken: Callable[[Sequence[str]], None] | None = None
        """Called with tickets that wait for the built-in worker."""
        self._context = service_context
        self.around = ServicePorts(
            judge=lambda: self.judge,
            note=self._note,
            wake=self._wake,
            tell=self._tell,
            known_tools=service_context.known_tools,
            new_id=service_context.new_id,
            new_token=lambda: secrets.token_urlsafe(TOKEN_BYTES),
            now=service_context.now,
        )
        self.intake = Intake(store, self.options, self.around)
        self.leases = Leases(store, self.options, self.around)
        self.tickets = TicketService(store, self.options, self.around)

    @cached_property
    def sending(self) -> OutboxSender:
        """The way out.

        Raises:
            ConfigError: The channel that is chosen cannot be used as it is set.
        """
        context = self._context
        channels = channels_of(self.options, context.workspace, context.http, context.mail, self.now_s)
        return OutboxSender(self.store, channels, self._note, attempts=self.options.send_attempts)

    @cached_property
    def mailbox(self) -> MailboxIntake | None:
        """Reads new mails; None: the settings name no folder."""
        server = None if self.options.mail is None else self.options.mail.imap()
        if self.options.mail is None or server is None:
            return None
        return MailboxIntake(self._context.mail(), server, self.options.mail, self.intake)

    def now_s(self) -> int:
        """The wall clock in seconds since 1970, for signatures."""
        return int(datetime.fromisoformat(self._context.now()).timestamp())

    def figures(self) -> dict[str, Any]:
        """The desk in numbers."""
        with self.store.reading() as tx:
            return figures(tx, answer_hours=self.options.answer_hours)

    def _note(self, caller: Caller, action: str, ticket_id: str, metadata: Mapping[str, Any]) -> str:
        audit = {
            "subject": caller.subject,
            "action": action,
            "resource": f"tickets/{ticket_id}",
            "metadata": dict(metadata),
        }
        where = Session(session_id=session_of(ticket_id), caller=caller, ticket_id=ticket_id)
        return self._context.ledger.record_sync(Draft(kind="note", session=where, audit=audit)).receipt_id

    def _wake(self, ticket_ids: Sequence[str]) -> None:
        if self.woken is None or self.options.workers != "own" or not ticket_ids:
            return
        # The tickets are stored by now. If nobody can be woken, the clock's next sweep finds them.
        with suppress(DurableError):
            self.woken(ticket_ids)

    def _tell(self) -> None:
        # One line for however many wait: the queue itself is on the page. A damaged list must not stop the desk.
        with suppress(ConfigError):
            kept = Notifications(self._context.workspace)
            kept.add(level="info", source="desk", text="Tickets wait for a person.", link="/desk")


def figures(tx: Transaction, *, answer_hours: int = 24) -> dict[str, Any]:
    """All figures; a share is None while there is nothing to share.

    `defer` and `block` count what was decided on a message, on its evidence or on its draft; `proceed` on evidence.
    """
    counts = tx.counts()
    tally = tx.tally()
    verdicts = {name.lower(): counts.get(f"verdict.{name}", 0) for name in VERDICTS}
    for name in ("DEFER", "BLOCK"):
        verdicts[name.lower()] += counts.get(f"draft.{name}", 0)
    reviewed = sum(counts.get(f"reviews.{state}", 0) for state in ("approved", "rejected"))
    decided = counts.get("queue.decided", 0)
    _, total = tx.reviews(state="waiting", limit=1)
    mean, oldest = tx.waits()
    return {
        **verdicts,
        "tickets": sum(tally.values()),
        "waiting_for_workers": sum(many for (_, status), many in tally.items() if status == "pending"),
        "waiting_for_people": total,
        "late_for_people": tx.late_reviews(tx.clock() - answer_hours * HOUR_MS),
        "mean_review_ms": mean if total else None,
        "oldest_review_ms": oldest if total else None,
        "mean_decision_ms": counts.get("queue.ms", 0) // decided if decided else None,
        "override_rate": _share(counts.get("overrides", 0), reviewed),
        "unsupported_sentence_rate": _share(counts.get("sentences.unsupported", 0), counts.get("sentences", 0)),
        "lost_leases": counts.get("lost_leases", 0),
        "dead_letters": counts.get("dead_letters", 0),
        "withheld": sum(many for name, many in counts.items() if name.startswith("withheld.")),
        "sent": counts.get("sent", 0),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
