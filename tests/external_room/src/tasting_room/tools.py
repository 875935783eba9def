"""What agents, people and programs may call."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from tallystick import Tool, tool
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tasting_room.rule import Snapshot, check

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tasting_room.store import Store

Wine = Annotated[str, Field(max_length=200, description="Name and vintage.")]
Score = Annotated[int, Field(ge=0, description="Points.")]
Key = Annotated[str | None, Field(max_length=200, description="A tasting with the same key is stored once.")]
Limit = Annotated[int, Field(ge=1, le=500)]


def add(context: "RoomContext", store: Callable[[], "Store"]) -> Tool:
    """Build `tastings.add`."""

    def snapshot() -> Snapshot:
        return Snapshot(scale=context.options.scale, most=context.options.most, logged=store().wines())

    @tool(name="tastings.add", effect="write", roles=WORK_ROLES, rule=check, snapshot=snapshot)
    def tastings_add(wine: Wine, score: Score, key: Key = None) -> dict[str, Any]:
        """Log a tasting of a wine with its score."""
        tasting_id = key or context.new_id("tasting")
        added = store().add(id=tasting_id, wine=wine, score=score, added_ms=context.now_ms())
        return {"id": tasting_id, "added": added}

    return tastings_add


def listing(store: Callable[[], "Store"]) -> Tool:
    """Build `tastings.list`."""

    @tool(name="tastings.list", effect="read", roles=EVERY_ROLE)
    def tastings_list(limit: Limit = 50) -> dict[str, Any]:
        """List tastings, newest first."""
        items, total = store().page(limit=limit, offset=0)
        return {"items": items, "total": total}

    return tastings_list
