"""The stored form of a turn in a session's transcript."""

from collections.abc import Mapping
from typing import Any

from tallystick.records import record


@record
class TranscriptEntry:
    """One turn of a session."""

    at: str
    """When it ended, in UTC."""
    turn_id: str
    subject: str
    """The caller; a caller never sees another caller's messages."""
    agent_id: str
    message: str
    reply: str | None
    """None: there was no reply, or the check refused it."""
    code: str | None = None
    """The code that says why there is no reply."""
    receipts: tuple[str, ...] = ()
    more: Mapping[str, Any] | None = None
    """Evidence line, stop hook, model, usage."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, one line of the transcript file."""
        wire: dict[str, Any] = {
            "at": self.at,
            "turn_id": self.turn_id,
            "subject": self.subject,
            "agent_id": self.agent_id,
            "message": self.message,
            "reply": self.reply,
        }
        if self.code is not None:
            wire["code"] = self.code
        return wire | {"receipts": list(self.receipts)} | dict(self.more or {})
