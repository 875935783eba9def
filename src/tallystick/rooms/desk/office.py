"""The desk's work, joined: the way in, the tickets, those who hold them, and the way out.

    office.intake.take(event)                    → Received
    office.leases.lease_some("worker-7")         → [Leased]
    office.leases.fill(id, outputs, by=…, proof=…, caller=…)   → Filled | Problem
    office.tickets.show(id)
    office.sending.send_due()                    → Sent

Who judges and who is woken is joined later, by whoever brings it: `office.judge`, `office.woken`.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from tallystick.errors import ConfigError
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.session import Caller, Session
from tallystick.records import record
from tallystick.rooms.desk.intake.taking import Intake
from tallystick.rooms.desk.leasing import Leases
from tallystick.rooms.desk.measuring import figures
from tallystick.rooms.desk.naming import session_of
from tallystick.rooms.desk.options import Options
from tallystick.rooms.desk.outbox.channels import channels_of
from tallystick.rooms.desk.outbox.sending import Sending
from tallystick.rooms.desk.ports import Judge, NoJudge, Surroundings
from tallystick.rooms.desk.store import Store
from tallystick.rooms.desk.tickets import Tickets
from tallystick.storage.notifications import Notifications
from tallystick.turns.runs import DurableError

TOKEN_BYTES = 32


class Records(Protocol):
    """The ledger, as far as the desk writes to it."""

    def record_sync(self, draft: Draft) -> Receipt:
        """Record something."""
        ...

    def session(self, session_id: str) -> Iterator[Receipt]:
        """Receipts of one session that verify, in order."""
        ...


@record
class Fittings:
    """What the office takes of the room."""

    workspace: Path
    options: Options
    ledger: Records
    known_tools: Callable[[], frozenset[str]]
    new_id: Callable[[str], str]
    now: Callable[[], str]


class Office:
    """The work of one desk."""

    def __init__(self, store: Store, fittings: Fittings) -> None:
        self.store = store
        self.options = fittings.options
        self.judge: Judge = NoJudge()
        self.woken: Callable[[Sequence[str]], None] | None = None
        """Told of tickets that wait for a worker of our own."""
        self._fittings = fittings
        self.around = Surroundings(
            judge=lambda: self.judge, note=self._note, wake=self._wake, tell=self._tell,
            known_tools=fittings.known_tools, new_id=fittings.new_id,
            new_token=lambda: secrets.token_urlsafe(TOKEN_BYTES), now=fittings.now,
        )  # fmt: skip
        self.intake = Intake(store, self.options, self.around)
        self.leases = Leases(store, self.options, self.around)
        self.tickets = Tickets(store, self.options, self.around)

    @cached_property
    def sending(self) -> Sending:
        """The way out.

        Raises:
            ConfigError: The channel that is chosen cannot be used as it is set.
        """
        channels = channels_of(self.options, self._fittings.workspace)
        return Sending(self.store, channels, self._note, attempts=self.options.send_attempts)

    def figures(self) -> dict[str, Any]:
        """The desk in numbers."""
        with self.store.reading() as tx:
            return figures(tx)

    def _note(self, caller: Caller, action: str, ticket_id: str, metadata: Mapping[str, Any]) -> str:
        audit = {
            "subject": caller.subject, "action": action, "resource": f"tickets/{ticket_id}",
            "metadata": dict(metadata),
        }  # fmt: skip
        where = Session(session_id=session_of(ticket_id), caller=caller, ticket_id=ticket_id)
        return self._fittings.ledger.record_sync(Draft(kind="note", session=where, audit=audit)).receipt_id

    def _wake(self, ticket_ids: Sequence[str]) -> None:
        if self.woken is None or self.options.workers != "own" or not ticket_ids:
            return
        # The tickets are stored by now. If nobody can be woken, the clock's next sweep finds them.
        with suppress(DurableError):
            self.woken(ticket_ids)

    def _tell(self) -> None:
        # One line for however many wait: the queue itself is on the page. A damaged list must not stop the desk.
        with suppress(ConfigError):
            kept = Notifications(self._fittings.workspace)
            kept.add(level="info", source="desk", text="Tickets wait for a person.", link="/desk")
