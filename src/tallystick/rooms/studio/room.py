"""The studio as the gate sees it: its tools, made for one workspace."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool
from tallystick.rooms.studio.crew import crew_of
from tallystick.rooms.studio.shelf import Shelf
from tallystick.rooms.studio.tools.file_locator import file_locator
from tallystick.rooms.studio.tools.file_reader import file_reader
from tallystick.rooms.studio.tools.task_router import task_router

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    from tallystick.storage.files import FileSources

    class Given(Protocol):
        """What the studio takes of the joined parts."""

        workspace: Path

        @property
        def sources(self) -> FileSources:
            """The workspace's files."""
            ...


class Studio:
    """The writing room of one workspace."""

    name = "studio"

    def __init__(self, parts: "Given") -> None:
        self._sources = parts.sources
        self._workspace = parts.workspace

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        shelf = Shelf(self._sources)
        return (
            file_locator(shelf),
            file_reader(self._sources),
            task_router(lambda: crew_of(self._workspace)),
        )
