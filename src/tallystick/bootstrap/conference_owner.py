"""Whose a conference is: another's does not exist for a caller."""

from tallystick.bootstrap.conference_answer import refused
from tallystick.bootstrap.conversation_answer import Unanswered
from tallystick.gate.role_names import ADMIN_ONLY, AUDIT_ROLES
from tallystick.gate.session import Caller
from tallystick.rooms.studio.conference.nouns import Conference
from tallystick.rooms.studio.conference.store import UNKNOWN, ConferenceFiles
from tallystick.turns.agents.problem import Problem


def not_own(files: ConferenceFiles, conference_id: str, caller: Caller) -> Unanswered | None:
    """Why a caller may not go on with a conference; None: he may. Reads files: not for the event loop."""
    found = files.get(conference_id)
    if isinstance(found, Problem):
        return refused(found)
    return None if _is_own(found, caller) else refused(UNKNOWN)


def may_read(conference: Conference, caller: Caller) -> bool:
    """Whether a caller may see what was said."""
    return _is_own(conference, caller) or caller.has_any(AUDIT_ROLES)


def _is_own(conference: Conference, caller: Caller) -> bool:
    return caller.subject == conference.created_by or caller.has_any(ADMIN_ONLY)
