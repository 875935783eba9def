"""The studio as the gate sees it: its tools, made for one workspace."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.rooms.studio.book.reading import BookShelf
from tallystick.rooms.studio.canon.files import CanonFiles
from tallystick.rooms.studio.canon.indexing import CanonIndex
from tallystick.rooms.studio.continuity.desk import ContinuityDesk
from tallystick.rooms.studio.crew import crew_of
from tallystick.rooms.studio.issues.authorship import texts_of
from tallystick.rooms.studio.issues.joined import open_matters
from tallystick.rooms.studio.prompts.registry import Registry
from tallystick.rooms.studio.runs.catalogue import readable_recipes
from tallystick.rooms.studio.shelf import Shelf
from tallystick.rooms.studio.tools.canon_checker import canon_checker
from tallystick.rooms.studio.tools.consistency_checker import consistency_checker
from tallystick.rooms.studio.tools.file_locator import file_locator
from tallystick.rooms.studio.tools.file_reader import file_reader
from tallystick.rooms.studio.tools.outline_analyzer import outline_analyzer
from tallystick.rooms.studio.tools.prose_analyzer import prose_analyzer
from tallystick.rooms.studio.tools.scene_draft_validator import scene_draft_validator
from tallystick.rooms.studio.tools.search_issues import NAME as SEARCH_ISSUES
from tallystick.rooms.studio.tools.search_issues import search_issues
from tallystick.rooms.studio.tools.task_router import task_router
from tallystick.settings import CONTROL_ROOM

if TYPE_CHECKING:
    from tallystick.agents.ports import ConversationAccess, TaskContext, TurnListener
    from tallystick.plugin import RoomContext
    from tallystick.rooms.studio.runs.desk import RunDesk
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext
    from tallystick.turns.wording import Wordings


class Studio(Room):
    """The writing room of one workspace."""

    name = "studio"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context
        self._sources = context.sources
        self._workspace = context.workspace
        self.books = BookShelf(context.sources)
        self.continuity = ContinuityDesk(self.books, context.workspace)
        self.canon = CanonIndex(self.books, CanonFiles(context.workspace), now=_now)
        self.runs: RunDesk | None = None
        """Pipeline runs, once their flow is registered."""
        self.prompts = Registry(
            context.workspace, user_file=Path(context.settings.storage.user_dir).expanduser() / "prompts.json"
        )
        self.matters = open_matters(context.workspace, context.options.issues)

    def wordings(self) -> "Wordings":
        """How the registry words tools for models."""
        return self.prompts.load().wordings()

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        shelf = Shelf(self._sources)
        return (
            file_locator(shelf),
            file_reader(self._sources),
            task_router(lambda: crew_of(self._workspace), lambda: readable_recipes(self._workspace / CONTROL_ROOM)),
            search_issues(self.matters),
            outline_analyzer(self.books),
            scene_draft_validator(self.books),
            prose_analyzer(self.books),
            canon_checker(self.continuity),
            consistency_checker(self.continuity),
        )

    def conversation_access(self) -> "ConversationAccess":
        """Who may go on with a conference."""
        from tallystick.rooms.studio.conference.access import ConferenceAccess  # noqa: PLC0415 - only chats need it
        from tallystick.rooms.studio.conference.store import ConferenceFiles  # noqa: PLC0415 - as above

        return ConferenceAccess(ConferenceFiles(self._workspace))

    def task_context(self) -> "TaskContext":
        """The issues that tasks belong to, and the scenes they can be about."""
        from tallystick.rooms.studio.task_context import StudioTasks  # noqa: PLC0415 - only tasks need it

        return StudioTasks(self._context, self.books)

    def turn_listener(self) -> "TurnListener":
        """What agents remember of issues fades with their turns."""
        return self.matters.memory

    def texts_by(self, agent_id: str, tool_id: str) -> Iterator[str]:
        """What an agent wrote of all that a tool may show: issues that it opened, and its part of chats kept as one."""
        if tool_id == SEARCH_ISSUES:
            yield from texts_of(self.matters.issues, agent_id)

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the room's long work: pipeline runs, and the canon index by model."""
        from tallystick.rooms.studio.flows.canon import join_canon  # noqa: PLC0415 - only doors that run need it
        from tallystick.rooms.studio.running import RunParts, join_runs  # noqa: PLC0415 - as above

        if self.runs is None:
            parts = RunParts(
                workspace=self._workspace, sources=self._sources, shelf=self.books,
                actions={"canon_index": lambda _: self.canon.build(), "book_check": self._check_whole},
                now=_now,
                chance=lambda: secrets.token_hex(6),
            )  # fmt: skip
            self.runs = join_runs(parts, durable, context)
            join_canon(self.canon, durable, context)

    def _check_whole(self, args: Mapping[str, Any]) -> dict[str, Any]:
        # What it loads takes a second; only who checks a book waits for that.
        from tallystick.rooms.studio.whole_book import check_whole  # noqa: PLC0415

        return check_whole(self.books.book(), self._workspace, args)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
