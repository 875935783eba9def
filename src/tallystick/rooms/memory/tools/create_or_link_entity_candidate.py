"""`create_or_link_entity_candidate`: somebody or something that propositions speak of."""

from typing import Any

from tallystick.gate.tool import Tool
from tallystick.rooms.memory.ids import entity_id
from tallystick.rooms.memory.tools.payloads import IDS, KEY, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "create_or_link_entity_candidate",
    "Name a person, place or thing that was observed. Entities are never merged by this: who may be the same is noted "
    "in possible_same_as.",
    {
        "name": KEY,
        "kind": {**KEY, "description": "person, place, organisation, …; thing if not given."},
        "aliases": {"type": "array", "items": KEY, "maxItems": 20},
        "observation_ids": {**IDS, "description": "Where it was observed."},
        "possible_same_as": {**IDS, "minItems": 0, "description": "Entities that may be the same."},
    },
    ("name", "observation_ids"),
    {"entity_id": {"type": "string"}},
    provenance="observation_ids",
)


def create_or_link_entity_candidate(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        return {"entity_id": entity_id(args["name"], args.get("kind", "thing"))}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)
