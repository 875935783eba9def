"""Where a task belongs, and what it can be about: the issue it is part of, and the files of the workspace."""

from tallystick.agents.problem import Problem
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.app.audit_notes import demand_ledger
from tallystick.app.gate import Gate
from tallystick.app.room_context import options_of
from tallystick.gate.session import Caller
from tallystick.rooms.studio import MANIFEST
from tallystick.rooms.studio.book.naming import stem_of, without_number
from tallystick.rooms.studio.book.nouns import Scene
from tallystick.rooms.studio.book.reading import BookShelf
from tallystick.rooms.studio.issues.changing import UNKNOWN
from tallystick.rooms.studio.issues.joined import Matters, open_matters
from tallystick.rooms.studio.issues.nouns import Link, NewIssue
from tallystick.storage.issue_links import link_issue

MAX_TITLE = 120
"""A line of a list."""


class TaskIssues:
    """The issues that tasks belong to."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def named(self, name: str) -> str | Problem:
        """The id of an issue by its id or its number."""
        heading = self._matters().issues.heading(name)
        return UNKNOWN if heading is None else heading.issue_id

    def open_for(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """Open the issue that the packet names as its own, and link what was called for it."""
        demand_ledger(self._gate)
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
        link_issue(self._gate.workspace, self._gate.ledger, session_id, issue.issue_id)
        return None

    def _matters(self, issue_id: str | None = None) -> Matters:
        settings = options_of(MANIFEST, self._gate.settings).issues
        return open_matters(self._gate.workspace, settings, new_id=None if issue_id is None else lambda _: issue_id)


def known_files(shelf: BookShelf) -> tuple[KnownFile, ...]:
    """The files of a workspace; scenes with what people call them. Reads files: not for the event loop."""
    scenes = {scene.path: scene for scene in shelf.book().scenes}
    return tuple(
        _called(scenes[path]) if path in scenes else KnownFile(path=path, slugs=(stem_of(path),))
        for path in shelf.sources.paths()
    )


def _called(scene: Scene) -> KnownFile:
    numbers = () if scene.number is None else (f"SCN-{scene.number}", f"SCN-{scene.number:02}", f"scene {scene.number}")
    slugs = (stem_of(scene.path), scene.slug, without_number(scene.slug), *numbers)
    return KnownFile(path=scene.path, slugs=tuple(dict.fromkeys(slugs)), titles=(scene.title,))
