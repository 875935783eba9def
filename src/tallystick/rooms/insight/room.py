"""Insight as the gate sees it: its tools over one workspace's tickets."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Protocol

    from tallystick.rooms.insight.store import Store
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources

    class Given(Protocol):
        """What insight takes of the joined parts."""

        settings: Settings
        workspace: Path

        @property
        def sources(self) -> FileSources:
            """The workspace's files."""
            ...

        @property
        def engine(self) -> Any:
            """The database, as `Store` takes it."""
            ...

        def now_ms(self) -> int:
            """The wall clock."""
            ...


class Insight:
    """What the support tickets of one workspace say."""

    name = "insight"

    def __init__(self, parts: "Given") -> None:
        self._parts = parts
        self.settings = parts.settings.rooms.get("insight", {})

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second, and most workspaces hold no tickets.
        from tallystick.rooms.insight.store import Store  # noqa: PLC0415

        return Store(self._parts.engine)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        return []
