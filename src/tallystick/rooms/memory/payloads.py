"""The parts that the payload schemas of the nine proposals are made of, and what every one of their cards has."""

from typing import Any

from tallystick.gate.role_names import WORK_ROLES
from tallystick.gate.tool import Card
from tallystick.rooms.memory.nouns import CLASSES

MAX_TEXT = 65_536
"""Characters of one observation: a long page. A longer document is several observations."""
MAX_NAME = 500
MAX_KEY = 200
MAX_IDS = 100
"""Things that one proposal may name; more evidence is attached with proposals of its own."""

OWNED = frozenset(
    {
        "status", "state", "confidence", "score", "tier", "canonical", "promote", "direct_write",
        # The same in the spellings that the comparison does not fold together, and near ones that mean it.
        "directwrite", "statuses", "states", "confidences", "scores", "tiers", "canonicals", "promoted", "promotion",
        "is_canonical", "iscanonical", "canonical_write", "canonicalwrite", "canonical_id", "canonicalid", "belief",
        "disbelief", "conflict", "evidence_status", "evidencestatus", "weighed_as", "weighedas", "reliability",
    }
)  # fmt: skip
"""What only policy writes; any of these keys, at any depth, is a direct canonical write."""

_PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"
TIME = {"type": "string", "minLength": 4, "maxLength": 40}
ID = {"type": "string", "minLength": 1, "maxLength": 64, "pattern": _PRINTABLE}
KEY = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": _PRINTABLE}
NAME = {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": _PRINTABLE}
TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}
IDS = {"type": "array", "items": ID, "minItems": 1, "maxItems": MAX_IDS}
AT = {**TIME, "description": "Log time of the proposal, RFC 3339; now if not given. It never goes back."}
EPISODE = {**KEY, "description": "The episode it belongs to; `default` if not given."}
OBSERVED = {**TIME, "description": "When it was observed, RFC 3339; may lie in the past."}
SOURCE = {
    "type": "object",
    "properties": {
        "id": {**KEY, "description": "Who or what said it."},
        "class": {"type": "string", "enum": list(CLASSES)},
        "group": {**KEY, "description": "Sources that depend on each other share one; the id if not given."},
    },
    "required": ["id", "class"],
    "additionalProperties": False,
}


def card(
    name: str,
    description: str,
    properties: dict[str, Any],
    required: tuple[str, ...],
    result: dict[str, Any],
    *,
    provenance: str | None = None,
) -> Card:
    """The card of a proposal.

    Args:
        name: The tool's id.
        description: What it proposes.
        properties: Its payload.
        required: Which of it must be there.
        result: What its result holds; all of it is always there.
        provenance: The argument that names where it comes from.
    """
    return Card(
        name=name,
        description=description,
        input_schema={
            "type": "object", "properties": {**properties, "at": AT}, "required": list(required),
            "additionalProperties": False,
        },
        output_schema={
            "type": "object", "properties": result, "required": sorted(result), "additionalProperties": False,
        },
        effect="write",
        roles=WORK_ROLES,
        # It writes nothing itself: what it means is worked out from its receipt.
        idempotent=True,
        how="inline",
        owned_keys=OWNED,
        provenance_key=provenance,
    )  # fmt: skip
