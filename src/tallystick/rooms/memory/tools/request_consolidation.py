"""`request_consolidation`: ask policy to promote what passes, and to look again at what aged."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.model import DEFAULT_EPISODE
from tallystick.rooms.memory.tools.payloads import EPISODE, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "request_consolidation",
    "Ask for a consolidation: what passed every check is promoted, what grew old is looked at again, what stays open "
    "is carried over or put aside.",
    {"episode_id": EPISODE},
    (),
    {"episode_id": {"type": "string"}},
)


def request_consolidation(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"episode_id": args.get("episode_id", DEFAULT_EPISODE)}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
