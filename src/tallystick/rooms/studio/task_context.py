"""The issues that tasks belong to, and the files they can be about."""

from tallystick.agents.problem import Problem
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.app.audit_notes import demand_ledger
from tallystick.gate.session import Caller
from tallystick.plugin import RoomContext
from tallystick.rooms.studio.book.naming import stem_of, without_number
from tallystick.rooms.studio.book.nouns import Scene
from tallystick.rooms.studio.book.reading import BookShelf
from tallystick.rooms.studio.issues.changing import UNKNOWN
from tallystick.rooms.studio.issues.joined import Matters, open_matters
from tallystick.rooms.studio.issues.nouns import Link, NewIssue
from tallystick.storage.issue_links import link_issue

MAX_TITLE = 120
"""A line of a list."""


class StudioTasks:
    """Satisfies the agents' `TaskContext` with the studio's issues and scenes."""

    def __init__(self, context: RoomContext, shelf: BookShelf) -> None:
        self._context = context
        self._shelf = shelf

    def issue_id(self, name: str) -> str | Problem:
        """The id of an issue by its id or its number."""
        heading = self._matters().issues.heading(name)
        return UNKNOWN if heading is None else heading.issue_id

    def open_issue(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """Open the issue that the packet names as its own, and link the receipts of its routing."""
        demand_ledger(self._context)
        line = " ".join(message.split())
        issue = self._matters(routed.packet.parent_issue_id).issues.create(
            NewIssue(
                title=line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…",
                body=message,
                opened_by=caller.subject,
                tags=("task",),
                assigned_to=routed.agent_id,
                links=(Link(kind="session", id=session_id),),
            )
        )
        if isinstance(issue, Problem):
            return issue
        link_issue(self._context.workspace, self._context.ledger, session_id, issue.issue_id)
        return None

    def known_files(self) -> tuple[KnownFile, ...]:
        """The files of the workspace; scenes with their numbers, slugs and titles."""
        scenes = {scene.path: scene for scene in self._shelf.book().scenes}
        return tuple(
            _called(scenes[path]) if path in scenes else KnownFile(path=path, slugs=(stem_of(path),))
            for path in self._shelf.sources.paths()
        )

    def _matters(self, issue_id: str | None = None) -> Matters:
        settings = self._context.options.issues
        return open_matters(self._context.workspace, settings, new_id=None if issue_id is None else lambda _: issue_id)


def _called(scene: Scene) -> KnownFile:
    numbers = () if scene.number is None else (f"SCN-{scene.number}", f"SCN-{scene.number:02}", f"scene {scene.number}")
    slugs = (stem_of(scene.path), scene.slug, without_number(scene.slug), *numbers)
    return KnownFile(path=scene.path, slugs=tuple(dict.fromkeys(slugs)), titles=(scene.title,))
