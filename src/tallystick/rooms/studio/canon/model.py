"""The extract of a card for the canon index, and its JSON form."""

from collections.abc import Mapping
from typing import Any, Literal

from tallystick.records import record
from tallystick.rooms.studio.book.model import CanonCard, CardKind

Hardness = Literal["hard", "soft"]
By = Literal["rules", "model"]
MAX_ENTRIES = 40
MAX_TEXT = 240
MAX_SUMMARY = 400
"""Characters. The index points to the card; it does not replace it."""

_TEXTS = {
    "type": "array",
    "maxItems": MAX_ENTRIES,
    "items": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": r"^[^\n\r]*$"},
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "minLength": 1, "maxLength": 40},
        "scope": _TEXTS,
        "hardness": {"enum": ["hard", "soft"]},
        "topics": _TEXTS,
        "defines": _TEXTS,
        "constraints": _TEXTS,
        "summary": {"type": "string", "maxLength": MAX_SUMMARY},
    },
    "required": ["type", "scope", "hardness", "topics", "defines", "constraints", "summary"],
    "additionalProperties": False,
}
"""The schema of an extract, made by rules or by a model."""


@record
class Extract:
    """The extract of one card."""

    type: CardKind
    scope: tuple[str, ...]
    """Where it holds: `book`, or scenes, acts, books of a series."""
    hardness: Hardness
    """`hard`: settled; `soft`: may still change."""
    topics: tuple[str, ...]
    defines: tuple[str, ...]
    """Names and attributes that the card defines."""
    constraints: tuple[str, ...]
    """Rules of the card, in its own words."""
    summary: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "type": self.type,
            "scope": list(self.scope),
            "hardness": self.hardness,
            "topics": list(self.topics),
            "defines": list(self.defines),
            "constraints": list(self.constraints),
            "summary": self.summary,
        }


@record
class Indexed:
    """A card with its extraction."""

    card: CanonCard
    extract: Extract
    by: By
    problem: str | None
    """A fixed code where the model's extraction could not be used, and rules took its place."""


def extract_of(given: Mapping[str, Any], kind: CardKind) -> Extract:
    """Read the form back; it was checked against the schema. The kind is the card's own to say."""
    return Extract(
        type=kind,
        scope=tuple(given["scope"]),
        hardness=given["hardness"],
        topics=tuple(given["topics"]),
        defines=tuple(given["defines"]),
        constraints=tuple(given["constraints"]),
        summary=given["summary"],
    )
