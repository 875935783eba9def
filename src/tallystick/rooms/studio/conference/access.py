"""Who may read a conference and go on with it: other callers' conferences do not exist for a caller."""

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import Problem
from tallystick.gate.session import Caller
from tallystick.rooms.studio.conference.answers import refused
from tallystick.rooms.studio.conference.nouns import Conference
from tallystick.rooms.studio.conference.store import UNKNOWN, ConferenceFiles

READERS = frozenset({"auditor", "admin"})
"""May read what others said; the owner of the machine has every role."""


class ConferenceAccess:
    """Satisfies the agents' `ConversationAccess` for conferences."""

    def __init__(self, files: ConferenceFiles) -> None:
        self._files = files

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:
        """Why a caller may not go on with a conference; None: allowed. Reads files: not for the event loop."""
        found = self._files.get(conversation_id)
        if isinstance(found, Problem):
            return refused(found)
        return None if _is_own(found, caller) else refused(UNKNOWN)

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
