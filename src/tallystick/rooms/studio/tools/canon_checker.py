"""`canon_checker`: what a scene says against the author's cards, each finding with both lines.

Facts come from the cards' fields, tables, constraints and sentences, and from the scene's narration. What is said,
dreamt, remembered, denied or asked in the scene is no fact. Findings never block the author.
"""

from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.lookup import find_cards, find_prose
from tallystick.rooms.studio.book.model import COMPLAINTS_SCHEMA, complaints_json
from tallystick.rooms.studio.continuity.findings import FINDING_SCHEMA, LOOKED_AT_SCHEMA, NOT_CHECKED_SCHEMA
from tallystick.rooms.studio.continuity.service import ContinuityService, complaints_of, places_of
from tallystick.rooms.studio.quotes import record_shown_lines

MODES = ("strict", "hard")
MAX_CARDS = 500
TIMEOUT_S = 120.0
"""The first call on a long book reads all of it."""
_INPUT = {
    "type": "object",
    "properties": {
        "scene_path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "The scene's path.",
        },
        "canon_paths": {
            "type": "array",
            "maxItems": MAX_CARDS,
            "items": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "description": "Cards to compare with. Canon.md, or none: all cards.",
        },
        "mode": {
            "type": "string",
            "enum": list(MODES),
            "default": "strict",
            "description": "strict: hard and soft facts. hard: only what must not change.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be compared; compare nothing."},
    },
    "required": ["scene_path"],
    "additionalProperties": False,
    "examples": [
        {
            "scene_path": "Story/Scenes/scene.md",
            "canon_paths": ["Story/Compendium/Canon.md"],
            "mode": "strict",
            "dry_run": False,
        }
    ],
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "scene_path": {"type": "string"},
        "sha256": {"type": "string"},
        "mode": {"enum": list(MODES)},
        "dry_run": {"type": "boolean"},
        "canon_paths": {"type": "array", "items": {"type": "string"}},
        "canon_facts": {"type": "integer"},
        "looked_at": {"anyOf": [LOOKED_AT_SCHEMA, {"type": "null"}]},
        "not_checked": NOT_CHECKED_SCHEMA,
        "findings_total": {"type": "integer"},
        "waived_total": {"type": "integer"},
        **COMPLAINTS_SCHEMA,
        "findings": {"type": "array", "items": FINDING_SCHEMA},
    },
    "required": [
        "scene_path",
        "sha256",
        "mode",
        "dry_run",
        "canon_paths",
        "canon_facts",
        "looked_at",
        "not_checked",
        "findings_total",
        "waived_total",
        "complaints_total",
        "complaints",
        "findings",
    ],
    "additionalProperties": False,
}

_CARD = Card(
    name="canon_checker",
    roles=EVERY_ROLE,
    description=(
        "Compare a scene with the canon cards: looks, ages, kin, titles, dates, places, things, constraints, who is "
        "dead, spelling of names and terms. "
        "Each finding has a rule, the card's line and the scene's line."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
    timeout_s=TIMEOUT_S,
)


def canon_checker(continuity: ContinuityService) -> Tool:
    """The tool over one workspace's book."""

    def handler(
        scene_path: str, canon_paths: list[str] | None = None, mode: str = "strict", *, dry_run: bool = False
    ) -> dict[str, Any]:
        book = continuity.books.book()
        scene = find_prose(continuity.books, book, scene_path)
        cards = find_cards(continuity.books, book, canon_paths or [])
        head: dict[str, Any] = {
            "scene_path": scene.path,
            "sha256": scene.source.sha256,
            "mode": mode,
            "dry_run": dry_run,
            "canon_paths": [card.path for card in cards],
            **complaints_json(complaints_of(book)),
        }
        if dry_run:
            counts: dict[str, Any] = {
                "canon_facts": 0,
                "looked_at": None,
                "not_checked": [],
                "findings_total": 0,
                "waived_total": 0,
            }
            return head | counts | {"findings": []}
        found = continuity.check_scene(book, scene, cards, hard_only=mode == "hard")
        record_shown_lines([scene.source, *(card.source for card in cards)], places_of(found.findings))
        return head | {
            "canon_facts": continuity.statements_of(card.path for card in cards),
            "looked_at": found.looked_at.shown(),
            "not_checked": list(found.not_checked),
            "findings_total": len(found.findings),
            "waived_total": len(found.findings) - len(found.open),
            "findings": [finding.shown() for finding in found.findings],
        }

    return Tool(card=_CARD, handler=handler)
