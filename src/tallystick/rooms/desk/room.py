"""The desk as the gate sees it: its tools, and the tickets of one workspace."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Protocol

    from tallystick.rooms.desk.store import Store
    from tallystick.settings import Settings

    class Given(Protocol):
        """What the desk takes of the joined parts."""

        settings: Settings
        workspace: Path

        @property
        def engine(self) -> Any:
            """The database, as `Store` takes it."""
            ...

        def now_ms(self) -> int:
            """The wall clock."""
            ...


class Desk:
    """The support desk of one workspace."""

    name = "desk"

    def __init__(self, parts: "Given") -> None:
        self._parts = parts
        self.settings = parts.settings.rooms.get("desk", {})

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second.
        from tallystick.rooms.desk.store import Store  # noqa: PLC0415

        return Store(self._parts.engine)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        return []
