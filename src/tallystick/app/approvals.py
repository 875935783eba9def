"""Answer held calls on behalf of a person. An answer is only recorded; it does not run the call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tallystick.app.approval_edits import put_back
from tallystick.app.approval_notices import tell_answered
from tallystick.app.wiring import Parts
from tallystick.gate.decide.approvals import LIVE, Hold, State, Unmoved
from tallystick.gate.record import entries
from tallystick.gate.record.masks import masked_fields, value_at
from tallystick.gate.record.secrets import redacted_keys


@dataclass(frozen=True, kw_only=True, slots=True)
class Revealed:
    """The unmasked value of one masked argument, for the person who requested it."""

    approval_id: str
    field: str
    """A JSON pointer into the arguments."""
    value: Any


class Approvals:
    """List, read, approve, reject and edit held calls, and reveal their masked arguments.

    Every answer is recorded in the ledger before it takes effect. If the process dies in between, the person must
    answer again; no call runs on an unrecorded answer.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self, *, state: str | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """List approval requests, newest first."""
        chosen = None if state is None else State(state)
        return self._parts.book().list(self._parts.now_ms(), state=chosen, limit=limit, offset=offset)

    def count(self, *, state: str | None = None) -> int:
        """Count approval requests."""
        return self._parts.book().count(self._parts.now_ms(), state=None if state is None else State(state))

    def get(self, approval_id: str) -> Hold | None:
        """Return one request in its current state; None if it does not exist."""
        return self._parts.book().get(approval_id, self._parts.now_ms())

    def approve(self, approval_id: str, *, person: str, channel: str) -> Hold | Unmoved:
        """Approve exactly this call.

        Args:
            approval_id: The request.
            person: The approver.
            channel: How the approver is authenticated: `terminal` or `token`.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="granted", person=person, channel=channel, at=now)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().grant(approval_id, person=person, channel=channel, now=now)

    def reject(self, approval_id: str, *, person: str, channel: str, reason: str) -> Hold | Unmoved:
        """Reject a call with a reason, even if the stored request no longer matches its signed record."""
        waiting, now = self._waiting(approval_id, proved=False), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="refused", person=person, channel=channel, at=now, reason=reason)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().refuse(approval_id, person=person, channel=channel, now=now, reason=reason)

    def edit(self, approval_id: str, args: Mapping[str, Any], *, person: str, channel: str) -> Hold | Unmoved:
        """Approve the call with other arguments; resuming it validates and decides them from the start.

        Secrets whose mask (digest) is left unchanged keep their value.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        # If the tool is not registered in this process, only the masks stored with the request say what is secret.
        was_shown = orjson.loads(waiting.shown)
        hidden = redacted_keys(was_shown) | self._parts.pipeline.secret_names()
        wanted: dict[str, Any] = put_back(args, shown=was_shown, exact=waiting.arguments())
        shown, _ = self._parts.redactor.redact(wanted, hidden)
        edited = waiting.with_arguments(wanted, shown)
        if isinstance(edited, Unmoved):
            return edited
        said = entries.answered(edited, answer="edited", person=person, channel=channel, at=now)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().edit(edited, person=person, channel=channel, now=now)

    def masked(self, hold: Hold) -> tuple[str, ...]:
        """Return the JSON pointers of the masked arguments of a request."""
        return tuple(masked_fields(orjson.loads(hold.shown)))

    def reveal(self, approval_id: str, field: str, *, person: str, channel: str) -> Revealed | Unmoved:
        """Return a masked argument of a request that can still run, after recording the access in the ledger.

        Args:
            approval_id: The request.
            field: One of the pointers that `masked` returns.
            person: Who requests the value.
            channel: How that person is authenticated: `terminal` or `token`.
        """
        hold = self._waiting(approval_id, states=LIVE)
        if isinstance(hold, Unmoved):
            return hold
        if field not in self.masked(hold):
            return Unmoved(why="not_masked", hold=hold)
        self._parts.ledger.record_sync(entries.revealed(hold, field, person=person, channel=channel))
        return Revealed(approval_id=approval_id, field=field, value=value_at(hold.arguments(), field))

    def _waiting(
        self, approval_id: str, *, states: frozenset[State] = frozenset({State.HELD}), proved: bool = True
    ) -> Hold | Unmoved:
        hold = self.get(approval_id)
        if hold is None:
            return Unmoved(why="not_found")
        state = hold.at(self._parts.now_ms())
        if state not in states:
            return Unmoved(why="expired" if state is State.EXPIRED else "not_waiting", hold=hold)
        # The person must see and approve exactly what would run.
        return Unmoved(why="record_mismatch", hold=hold) if proved and not self._parts.proved(hold) else hold
