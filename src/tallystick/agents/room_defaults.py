"""Default ports for agents when no room provides conferences or issues."""

from collections.abc import Callable, Iterable

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import Problem
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.gate.codes import Category
from tallystick.gate.session import Caller, valid_session_id

NO_CONFERENCES = Unanswered(
    code="conference_unknown",
    advice="There is no conference of this id.",
    status=404,
    category=Category.DOWNSTREAM_ERROR,
)
INVALID_ISSUE = Problem(
    code="issue_unknown", message="An issue id has letters, digits, dot, dash and underscore, 128 at most."
)


class NoConversationAccess:
    """A `ConversationAccess` without shared conversations: every id is unknown."""

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:  # noqa: ARG002 - the port's arguments
        """See `ConversationAccess`."""
        return NO_CONFERENCES

    def reply_text(self, conversation_id: str, check_id: str, caller: Caller) -> str | None:
        """See `ConversationAccess`."""


class PlainTaskContext:
    """A `TaskContext` that groups tasks under issue ids without opening issues."""

    def __init__(self, paths: Callable[[], Iterable[str]]) -> None:
        """Create the context; `paths` lists the workspace's files."""
        self._paths = paths

    def issue_id(self, name: str) -> str | Problem:
        """See `TaskContext`: every valid id names a group of tasks."""
        return name if valid_session_id(name) else INVALID_ISSUE

    def open_issue(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """See `TaskContext`: nothing is opened."""

    def known_files(self) -> tuple[KnownFile, ...]:
        """See `TaskContext`: files are known by their names."""
        return tuple(KnownFile(path=path, slugs=(_stem(path),)) for path in self._paths())


def _stem(path: str) -> str:
    """Return a file's name without folder and extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
