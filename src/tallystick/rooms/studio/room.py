"""The studio room of one workspace: its tools, flows and services."""

import logging
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.agents.problem import Problem
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.app.audit_notes import demand_ledger
from tallystick.errors import ConfigError, TallyError, ToolError
from tallystick.gate.session import Caller, Session
from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.reading.agent.intents import RequestExample, read_examples
from tallystick.rooms.studio.book.model import Scene
from tallystick.rooms.studio.book.paths import stem_of, without_number
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.canon.index import CanonIndex
from tallystick.rooms.studio.canon.index_file import CanonFiles
from tallystick.rooms.studio.continuity.service import ContinuityService
from tallystick.rooms.studio.issues.model import Link, NewIssue
from tallystick.rooms.studio.issues.rules import UNKNOWN
from tallystick.rooms.studio.issues.tracker import IssueTracker, open_tracker, texts_of
from tallystick.rooms.studio.prompts.registry import PromptRegistry
from tallystick.rooms.studio.runs.catalogue import readable_recipes
from tallystick.rooms.studio.search.files import FileIndex
from tallystick.rooms.studio.tools.canon_checker import canon_checker
from tallystick.rooms.studio.tools.consistency_checker import check_whole, consistency_checker
from tallystick.rooms.studio.tools.file_locator import file_locator
from tallystick.rooms.studio.tools.file_reader import file_reader
from tallystick.rooms.studio.tools.outline_analyzer import outline_analyzer
from tallystick.rooms.studio.tools.prose_analyzer import prose_analyzer
from tallystick.rooms.studio.tools.scene_draft_validator import scene_draft_validator
from tallystick.rooms.studio.tools.search_issues import NAME as SEARCH_ISSUES
from tallystick.rooms.studio.tools.search_issues import search_issues
from tallystick.rooms.studio.tools.task_router import task_router
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.agents import Registry as AgentRegistry
from tallystick.storage.issue_links import link_issue
from tallystick.turns.agent import Agent

if TYPE_CHECKING:
    from tallystick.agents.ports import ConversationAccess, TaskContext, TurnListener
    from tallystick.plugin import RoomContext
    from tallystick.rooms.studio.runs.service import RunService
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext
    from tallystick.turns.tool_prompts import ToolPrompts

_log = logging.getLogger("tallystick.studio")
MAX_TITLE = 120
"""Characters of an issue's title: one line of a list."""


READING = ("file_locator", "file_reader")
TOOLS_BY_ROLE: Mapping[str, tuple[str, ...]] = {
    "planner": (*READING, "outline_analyzer"),
    "writer": (*READING, "scene_draft_validator"),
    "editor": (*READING, "prose_analyzer", "scene_draft_validator"),
    "critic": (*READING, "prose_analyzer", "scene_draft_validator"),
    "continuity": (*READING, "canon_checker", "consistency_checker"),
}
"""What the agents of a novel need; any other role, such as the Chief of Staff, is offered every tool."""


class Studio(Room):
    """The writing room of one workspace."""

    name = "studio"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context
        self._sources = context.sources
        self._workspace = context.workspace
        self.books = BookReader(context.sources)
        self.continuity = ContinuityService(self.books, context.workspace, context.settings.models_dir())
        self.canon = CanonIndex(self.books, CanonFiles(context.workspace), now=_now)
        self.runs: RunService | None = None
        """Pipeline runs, once their flow is registered."""
        self.prompts = PromptRegistry(
            context.workspace,
            user_file=Path(context.settings.storage.user_dir).expanduser() / "prompts.json",
            cards=lambda: [tool.card for tool in self.tools()],
        )
        self.tracker = open_tracker(context.workspace, context.options.issues)
        self._files = FileIndex(context.sources, context.workspace / CONTROL_ROOM / "search" / "words.db")
        self._indexing: threading.Thread | None = None

    def wordings(self) -> "ToolPrompts":
        """The tool prompts of the registry."""
        return self.prompts.load().wordings()

    def requests(self) -> tuple[RequestExample, ...]:
        """Requests in a novelist's words; see `requests.toml`."""
        return read_examples(Path(__file__).with_name("requests.toml").read_text(encoding="utf-8"))

    def tools(self) -> Iterable[Tool]:
        """The room's tools."""
        return (
            file_locator(self._files),
            file_reader(self._sources),
            task_router(lambda: crew_of(self._workspace), lambda: readable_recipes(self._workspace / CONTROL_ROOM)),
            search_issues(self.tracker),
            outline_analyzer(self.books),
            scene_draft_validator(self.books),
            prose_analyzer(self.books),
            canon_checker(self.continuity),
            consistency_checker(self.continuity),
        )

    def tools_for(self, role: str) -> tuple[str, ...] | None:
        """See `Room`."""
        return TOOLS_BY_ROLE.get(role)

    def conversation_access(self) -> "ConversationAccess":
        """The access rules of conferences."""
        from tallystick.rooms.studio.conference.access import ConferenceAccess  # noqa: PLC0415 - only chats need it
        from tallystick.rooms.studio.conference.store import ConferenceFiles  # noqa: PLC0415 - as above

        return ConferenceAccess(ConferenceFiles(self._workspace))

    def task_context(self) -> "TaskContext":
        """The issues that tasks belong to, and the scenes they can be about."""
        return StudioTasks(self._context, self.books)

    def turn_listener(self) -> "TurnListener":
        """The listener that decays the agents' memory of issues."""
        return self.tracker.memory

    def texts_by(self, agent_id: str, tool_id: str) -> Iterator[str]:
        """An agent's own texts among those a tool may show: its issues, and its part of chats stored as issues."""
        if tool_id == SEARCH_ISSUES:
            yield from texts_of(self.tracker.issues, agent_id)

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the room's long work: pipeline runs, and the canon index by model."""
        from tallystick.rooms.studio.flows.canon import register_canon  # noqa: PLC0415 - only doors that run need it
        from tallystick.rooms.studio.flows.pipeline import RunDependencies, register_runs  # noqa: PLC0415 - as above

        if self.runs is None:
            parts = RunDependencies(
                workspace=self._workspace,
                sources=self._sources,
                books=self.books,
                actions={"canon_index": lambda _: self.canon.build(), "book_check": self._check_whole},
                now=_now,
                chance=lambda: secrets.token_hex(6),
            )
            self.runs = register_runs(parts, durable, context)
            register_canon(self.canon, durable, context)

    def served(self) -> None:
        """Make the canon index where the cards have none yet."""
        self._indexing = threading.Thread(target=self._first_index, name="studio-canon", daemon=True)
        self._indexing.start()

    def close(self) -> None:
        """Wait for the first canon index, so that its record is written, and close the index of words."""
        if self._indexing is not None:
            self._indexing.join()
        self._files.close()

    def _first_index(self) -> None:
        try:
            made = self.canon.build_first()
            if made is not None:
                metadata = {"by": made["by"], "sha256": made["index_sha256"]}
                self._context.flow_context().note(Session(session_id="canon"), "canon.index", made["path"], metadata)
        except (TallyError, OSError) as error:
            _log.warning("The canon index was not made: %s. Make it with tally studio canon.", error)

    def _check_whole(self, args: Mapping[str, Any]) -> dict[str, Any]:
        return check_whole(self.continuity, args)


class StudioTasks:
    """Satisfies the agents' `TaskContext` with the studio's issues and scenes."""

    def __init__(self, context: "RoomContext", books: BookReader) -> None:
        self._context = context
        self._books = books

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
        scenes = {scene.path: scene for scene in self._books.book().scenes}
        return tuple(
            _called(scenes[path]) if path in scenes else KnownFile(path=path, slugs=(stem_of(path),))
            for path in self._books.sources.paths()
        )

    def _matters(self, issue_id: str | None = None) -> IssueTracker:
        settings = self._context.options.issues
        return open_tracker(self._context.workspace, settings, new_id=None if issue_id is None else lambda _: issue_id)


def _called(scene: Scene) -> KnownFile:
    numbers = () if scene.number is None else (f"SCN-{scene.number}", f"SCN-{scene.number:02}", f"scene {scene.number}")
    slugs = (stem_of(scene.path), scene.slug, without_number(scene.slug), *numbers)
    return KnownFile(path=scene.path, slugs=tuple(dict.fromkeys(slugs)), titles=(scene.title,))


def crew_of(workspace: Path) -> tuple[Agent, ...]:
    """The agents that are switched on now.

    Raises:
        ToolError: The registry is damaged; the message says where.
    """
    try:
        return AgentRegistry(workspace).list(enabled_only=True)
    except ConfigError as damaged:
        raise ToolError(str(damaged), hint="Repair or remove the agents file.") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
