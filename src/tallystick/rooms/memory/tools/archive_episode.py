"""`archive_episode`: an episode ends."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.tools.payloads import EPISODE, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "archive_episode",
    "End an episode: it is consolidated, and takes no more observations.",
    {"episode_id": {**EPISODE, "description": "The episode that ends."}},
    ("episode_id",),
    {"episode_id": {"type": "string"}},
)


def archive_episode(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"episode_id": args["episode_id"]}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
