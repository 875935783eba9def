"""`propose_test`: a way to find out, where there is something to find out."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.ids import trial_id
from tallystick.rooms.memory.tools.payloads import ID, KEY, NAME, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "propose_test",
    "Propose how to find out whether a proposition is so. A discriminating test refutes it when it fails.",
    {
        "proposition_id": ID,
        "method": {**KEY, "description": "How; results of one method count as one source."},
        "expectation": {**NAME, "description": "What must be seen if the proposition is so."},
        "discriminating": {"type": "boolean", "default": False, "description": "Whether a failure refutes it."},
    },
    ("proposition_id", "method", "expectation"),
    {"test_id": {"type": "string"}},
    provenance="proposition_id",
)


def propose_test(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"test_id": trial_id(args["proposition_id"], args["method"], args["expectation"])}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
