"""`propose_proposition`: something that may be so, with the observations it comes from."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.ids import proposition_id
from tallystick.rooms.memory.model import KINDS, VOLATILITIES
from tallystick.rooms.memory.tools.payloads import EPISODE, ID, IDS, MAX_IDS, MAX_KEY, NAME, TEXT, TIME, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "propose_proposition",
    "Propose that something is so: subject, predicate, object, and the observations that say it. Whether it is "
    "believed is for policy to work out from the evidence.",
    {
        "subject": NAME,
        "predicate": {**NAME, "maxLength": MAX_KEY, "description": "Such as lives_in."},
        "object": {**NAME, "maxLength": 2_000},
        "class": {"type": "string", "enum": list(KINDS), "default": "descriptive"},
        "volatility": {
            "type": "string",
            "enum": list(VOLATILITIES),
            "default": "medium",
            "description": "How quickly it may cease to be so.",
        },
        "valid_from": {**TIME, "description": "From when on it is so, RFC 3339."},
        "valid_to": {**TIME, "description": "Until when."},
        "observation_ids": {**IDS, "description": "The observations that say so."},
        "quotes": {
            "type": "array",
            "maxItems": MAX_IDS,
            "items": {
                "type": "object",
                "properties": {"observation_id": ID, "quote": TEXT},
                "required": ["observation_id", "quote"],
                "additionalProperties": False,
            },
            "description": "The words in each observation that say so.",
        },
        "supersedes": {**IDS, "minItems": 0, "description": "Propositions that this one takes the place of."},
        "episode_id": EPISODE,
    },
    ("subject", "predicate", "object", "observation_ids"),
    {"proposition_id": {"type": "string"}},
    provenance="observation_ids",
)


def propose_proposition(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"proposition_id": proposition_id(args)}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
