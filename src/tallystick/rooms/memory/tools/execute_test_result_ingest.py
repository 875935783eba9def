"""`execute_test_result_ingest`: what came of a test; the only way in for a test result."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.model import RESULTS
from tallystick.rooms.memory.tools.payloads import EPISODE, ID, OBSERVED, TEXT, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "execute_test_result_ingest",
    "Report the result of a test that was proposed before.",
    {
        "test_id": ID,
        "result": {"type": "string", "enum": list(RESULTS)},
        "report": {**TEXT, "description": "What was done and seen; it is kept as an observation."},
        "observed_at": OBSERVED,
        "episode_id": EPISODE,
        "proposition_id": {**ID, "description": "What was tested; set when policy itself had asked for the test."},
    },
    ("test_id", "result", "report", "observed_at"),
    {"test_id": {"type": "string"}, "result": {"type": "string"}},
    provenance="test_id",
)


def execute_test_result_ingest(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"test_id": args["test_id"], "result": args["result"]}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
