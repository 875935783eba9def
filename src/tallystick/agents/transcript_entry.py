"""One turn as a session's transcript stores it."""

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
    """The caller; nobody is shown another caller's messages."""
    agent_id: str
    message: str
    reply: str | None
    """None: there was no reply, or the check refused it."""
    code: str | None = None
    """Why there is no reply."""
    receipts: tuple[str, ...] = ()
    more: Mapping[str, Any] | None = None
    """Evidence line, stop hook, model, usage."""

    def as_dict(self) -> dict[str, Any]:
        """One line of the file."""
        wire: dict[str, Any] = {
            "at": self.at, "turn_id": self.turn_id, "subject": self.subject, "agent_id": self.agent_id,
            "message": self.message, "reply": self.reply,
        }  # fmt: skip
        if self.code is not None:
            wire["code"] = self.code
        return wire | {"receipts": list(self.receipts)} | dict(self.more or {})
