"""Memory as the gate sees it: nine proposals and two ways of reading, over one workspace's log."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.rooms.memory.checks import Snapshot
from tallystick.rooms.memory.hidden import hidden_names, without_hidden
from tallystick.rooms.memory.projection import Projection
from tallystick.rooms.memory.tools.archive_episode import archive_episode
from tallystick.rooms.memory.tools.attach_contradiction import attach_contradiction
from tallystick.rooms.memory.tools.attach_support import attach_support
from tallystick.rooms.memory.tools.create_or_link_entity_candidate import create_or_link_entity_candidate
from tallystick.rooms.memory.tools.execute_test_result_ingest import execute_test_result_ingest
from tallystick.rooms.memory.tools.mem_explain import mem_explain
from tallystick.rooms.memory.tools.mem_search import mem_search
from tallystick.rooms.memory.tools.propose_proposition import propose_proposition
from tallystick.rooms.memory.tools.propose_test import propose_test
from tallystick.rooms.memory.tools.record_observation import record_observation
from tallystick.rooms.memory.tools.request_consolidation import request_consolidation
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.turn import Turn

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.rooms.memory.policy import Policy
    from tallystick.rooms.memory.reading import Reading
    from tallystick.rooms.memory.store import Store

TURN_NAME = "memory.lock"
PROPOSALS: tuple[Callable[[Snapshot], Tool], ...] = (
    record_observation,
    create_or_link_entity_candidate,
    propose_proposition,
    attach_support,
    attach_contradiction,
    propose_test,
    execute_test_result_ingest,
    request_consolidation,
    archive_episode,
)
"""The nine, and no other way to change anything."""


class Memory(Room):
    """What agents may come to believe, in one workspace."""

    name = "memory"

    def __init__(self, context: "RoomContext") -> None:
        self.policy: Policy = context.options

        def open_store() -> "Store":
            # The SQL toolkit costs a quarter of a second, and most workspaces never ask memory anything.
            from tallystick.rooms.memory.store import Store  # noqa: PLC0415

            return Store(context.engine)

        self._redacted = context.settings.redact.keys
        self._folder = context.workspace / CONTROL_ROOM
        self.projection = Projection(context.ledger, open_store, self.policy, Turn(self._folder / TURN_NAME))
        self._ledger = context.ledger
        self.now: Callable[[], int] = lambda: context.now_ms() // 1000
        """The wall clock, in seconds."""

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        snapshot = Snapshot(digest=self.policy.digest, policy=self.policy, ask=self.projection.ask, now=self.now)
        reading = [mem_search(lambda: self.reading), mem_explain(lambda: self.reading)]
        proposals = [made(snapshot) for made in PROPOSALS]
        hidden = hidden_names((tool.card for tool in proposals), self._redacted)
        if hidden:
            proposals = [without_hidden(tool, hidden) for tool in proposals]
        return [*proposals, *reading]

    @cached_property
    def reading(self) -> "Reading":
        """All that can be asked of memory."""
        # Loaded when something is asked.
        from tallystick.rooms.memory.reading import Reading  # noqa: PLC0415

        return Reading(self.projection, self._ledger, self._folder, self.now)

    def close(self) -> None:
        """Write what waits to be written."""
        if "reading" in self.__dict__:
            self.reading.close()
        self.projection.close()
