"""Access to conferences: a caller cannot see other callers' conferences."""

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import Problem
from tallystick.gate.session import Caller
from tallystick.rooms.studio.conference.model import Conference
from tallystick.rooms.studio.conference.results import refusal_of
from tallystick.rooms.studio.conference.store import UNKNOWN, ConferenceFiles

READERS = frozenset({"auditor", "admin"})
"""Roles that may read all transcripts; the owner of the machine has every role."""


class ConferenceAccess:
    """Satisfies the agents' `ConversationAccess` for conferences."""

    def __init__(self, files: ConferenceFiles) -> None:
        self._files = files

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:
        """Why a caller may not continue a conference; None if allowed. Reads files: not for the event loop."""
        found = self._files.get(conversation_id)
        if isinstance(found, Problem):
            return refusal_of(found)
        return None if _is_own(found, caller) else refusal_of(UNKNOWN)

    def reply_text(self, conversation_id: str, check_id: str, caller: Caller) -> str | None:
        """The reply that a check was of, where the transcript still has it and the caller may read it."""
        found = self._files.get(conversation_id)
        if isinstance(found, Problem) or not may_read(found, caller):
            return None
        lines = self._files.transcript(conversation_id).read()
        return next((str(line.get("text", "")) for line in lines if line.get("check_receipt") == check_id), None)


def may_read(conference: Conference, caller: Caller) -> bool:
    """Whether a caller may read the transcript."""
    return _is_own(conference, caller) or caller.has_any(READERS)


def _is_own(conference: Conference, caller: Caller) -> bool:
    return caller.subject == conference.created_by or caller.has_any(frozenset({"admin"}))
