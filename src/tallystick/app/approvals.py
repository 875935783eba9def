"""How a person answers a held call. Answering runs nothing; it writes down the answer."""

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
    """A masked argument as the call holds it, for the eyes of the person who asked."""

    approval_id: str
    field: str
    """A JSON pointer into the arguments."""
    value: Any


class Approvals:
    """Held calls: list them, look at one, approve, reject, edit; reveal what is masked in one.

    Every answer stands in the ledger before it takes effect: should the process die in between, the person answers
    again, and no call ever runs on an answer that was not recorded.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self, *, state: str | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """Requests, newest first."""
        chosen = None if state is None else State(state)
        return self._parts.book().list(self._parts.now_ms(), state=chosen, limit=limit, offset=offset)

    def count(self, *, state: str | None = None) -> int:
        """How many requests there are."""
        return self._parts.book().count(self._parts.now_ms(), state=None if state is None else State(state))

    def get(self, approval_id: str) -> Hold | None:
        """One request as it stands now."""
        return self._parts.book().get(approval_id, self._parts.now_ms())

    def approve(self, approval_id: str, *, person: str, channel: str) -> Hold | Unmoved:
        """Say yes to exactly this call.

        Args:
            approval_id: The request.
            person: Who says so.
            channel: How that person reached us: `terminal` or `token`.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="granted", person=person, channel=channel, at=now)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().grant(approval_id, person=person, channel=channel, now=now)

    def reject(self, approval_id: str, *, person: str, channel: str, reason: str) -> Hold | Unmoved:
        """Say no, and why. This is possible whatever became of the stored request."""
        waiting, now = self._waiting(approval_id, proved=False), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="refused", person=person, channel=channel, at=now, reason=reason)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().refuse(approval_id, person=person, channel=channel, now=now, reason=reason)

    def edit(self, approval_id: str, args: Mapping[str, Any], *, person: str, channel: str) -> Hold | Unmoved:
        """Say yes to other arguments; they are checked from the top when the call is resumed.

        Secrets that are left as they were shown (as a digest) stay what they are.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        # A process that does not have the tool knows its secrets by what was hidden when the call was held.
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
        """JSON pointers of the arguments of a request that hold something masked."""
        return tuple(masked_fields(orjson.loads(hold.shown)))

    def reveal(self, approval_id: str, field: str, *, person: str, channel: str) -> Revealed | Unmoved:
        """Show a person a masked argument of a request that can still run. Who looked at which one is recorded first.

        Args:
            approval_id: The request.
            field: One of the pointers that `masked` gives.
            person: Who wants to see it.
            channel: How that person reached us: `terminal` or `token`.
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
        # A person must see, and say yes to, what would run.
        return Unmoved(why="record_mismatch", hold=hold) if proved and not self._parts.proved(hold) else hold
