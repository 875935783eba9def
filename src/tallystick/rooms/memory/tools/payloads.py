"""Parts of the payload schemas of the nine proposals, and the card that they share."""

from typing import Any

from tallystick.gate.role_names import WORK_ROLES
from tallystick.gate.tool import Card
from tallystick.rooms.memory.model import CLASSES

MAX_TEXT = 65_536
"""Characters of one observation; a longer document is several observations."""
MAX_NAME = 500
MAX_KEY = 200
MAX_IDS = 100
"""Ids in one proposal; more evidence is attached with further proposals."""

OWNED = frozenset(
    {
        "status",
        "state",
        "confidence",
        "score",
        "tier",
        "canonical",
        "promote",
        "direct_write",
        # The same in the spellings that the comparison does not fold together, and near ones that mean it.
        "directwrite",
        "statuses",
        "states",
        "confidences",
        "scores",
        "tiers",
        "canonicals",
        "promoted",
        "promotion",
        "is_canonical",
        "iscanonical",
        "canonical_write",
        "canonicalwrite",
        "canonical_id",
        "canonicalid",
        "belief",
        "disbelief",
        "conflict",
        "evidence_status",
        "evidencestatus",
        "weighed_as",
        "weighedas",
        "reliability",
    }
)
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
    """Return the card of a proposal.

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
        input_schema=_object({**properties, "at": AT}, list(required)),
        output_schema=_object(result, sorted(result)),
        effect="write",
        roles=WORK_ROLES,
        # It writes nothing itself: its effect is derived from its receipt.
        idempotent=True,
        how="inline",
        owned_keys=OWNED,
        provenance_key=provenance,
    )


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
