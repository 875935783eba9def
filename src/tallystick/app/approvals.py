"""How a person answers a held call. Answering runs nothing; it writes down the answer."""

from collections.abc import Mapping
from typing import Any

import orjson

from tallystick.app.approval_edits import put_back
from tallystick.app.approval_notices import tell_answered
from tallystick.app.wiring import Parts
from tallystick.gate.decide.approvals import Hold, State, Unmoved
from tallystick.gate.record import entries
from tallystick.gate.record.secrets import redacted_keys


class Approvals:
    """Held calls: list them, look at one, approve, reject, edit.

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
        waiting = self._waiting(approval_id)
        if isinstance(waiting, Unmoved):
            return waiting
        self._parts.ledger.record_sync(entries.answered(waiting, answer="granted", person=person, channel=channel))
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().grant(approval_id, person=person, channel=channel, now=self._parts.now_ms())

    def reject(self, approval_id: str, *, person: str, channel: str, reason: str) -> Hold | Unmoved:
        """Say no, and why."""
        waiting = self._waiting(approval_id)
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="refused", person=person, channel=channel, reason=reason)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        book, now = self._parts.book(), self._parts.now_ms()
        return book.refuse(approval_id, person=person, channel=channel, now=now, reason=reason)

    def edit(self, approval_id: str, args: Mapping[str, Any], *, person: str, channel: str) -> Hold | Unmoved:
        """Say yes to other arguments; they are checked from the top when the call is resumed.

        Secrets that are left as they were shown (as a digest) stay what they are.
        """
        waiting = self._waiting(approval_id)
        if isinstance(waiting, Unmoved):
            return waiting
        self._parts.ledger.record_sync(entries.answered(waiting, answer="edited", person=person, channel=channel))
        tell_answered(self._parts.notifications, approval_id)
        book, now = self._parts.book(), self._parts.now_ms()
        # A process that does not have the tool knows its secrets by what was hidden when the call was held.
        was_shown = orjson.loads(waiting.shown)
        hidden = redacted_keys(was_shown) | self._parts.pipeline.secret_names()
        wanted: dict[str, Any] = put_back(args, shown=was_shown, exact=waiting.arguments())
        shown, _ = self._parts.redactor.redact(wanted, hidden)
        return book.edit(approval_id, wanted, person=person, channel=channel, now=now, shown=shown)

    def _waiting(self, approval_id: str) -> Hold | Unmoved:
        hold = self.get(approval_id)
        if hold is None:
            return Unmoved(why="not_found")
        state = hold.at(self._parts.now_ms())
        if state is State.HELD:
            return hold
        return Unmoved(why="expired" if state is State.EXPIRED else "not_waiting", hold=hold)
