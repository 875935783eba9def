"""The room as the gate sees it."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick import Tool
from tallystick.plugin import Room
from tasting_room import flows, tools

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext
    from tasting_room.store import Store


class Tastings(Room):
    """A log of tastings in one workspace."""

    name = "tastings"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context

    @cached_property
    def store(self) -> "Store":
        """The table; the SQL toolkit is loaded and the table migrated on first use."""
        from tasting_room.store import Store  # noqa: PLC0415

        return Store(self._context.engine)

    def tools(self) -> Iterable[Tool]:
        """The room's tools."""
        return (tools.add(self._context, lambda: self.store), tools.listing(lambda: self.store))

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the import."""
        flows.register(self._context, durable, context)
