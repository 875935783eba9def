"""`attach_support`: one more observation for a proposition, with the words that say so."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.tools.payloads import ID, TEXT, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "attach_support",
    "Attach an observation that supports a proposition. The quote must occur in the observation; one "
    "observation counts once.",
    {
        "proposition_id": ID,
        "observation_id": ID,
        "quote": {**TEXT, "description": "The words in the observation."},
    },
    ("proposition_id", "observation_id", "quote"),
    {"proposition_id": {"type": "string"}, "observation_id": {"type": "string"}},
    provenance="observation_id",
)


def attach_support(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"proposition_id": args["proposition_id"], "observation_id": args["observation_id"]}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
