"""`consistency_checker`: where files contradict each other, or the scenes before them; each finding with both lines."""

from dataclasses import replace
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.asked import asked_cards, asked_prose, names_all_cards
from tallystick.rooms.studio.book.complaints import COMPLAINTS_SCHEMA, told
from tallystick.rooms.studio.book.nouns import Book, CanonCard, Scene
from tallystick.rooms.studio.continuity.desk import ContinuityDesk, complaints_of, places_of
from tallystick.rooms.studio.continuity.findings import FINDING_SCHEMA, LOOKED_AT_SCHEMA
from tallystick.rooms.studio.continuity.rules import Focus
from tallystick.rooms.studio.quoting import note_shown

FOCUSES: tuple[Focus, ...] = ("characters", "terminology", "events", "general")
MAX_FILES = 10
MAX_FINDINGS = 200
TIMEOUT_S = 120.0
"""The first look at a long book reads all of it."""
_INPUT = {
    "type": "object",
    "properties": {
        "file_paths": {
            "type": "array", "minItems": 1, "maxItems": MAX_FILES,
            "items": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "description": "Scenes and cards; Canon.md: all cards. Scenes are also compared with the rest of the book.",
        },
        "focus": {
            "type": "string", "enum": list(FOCUSES), "default": "general",
            "description": "characters: people and names. events: days and places. terminology: terms. general: all.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be compared; compare nothing."},
    },
    "required": ["file_paths"],
    "additionalProperties": False,
    "examples": [
        {
            "file_paths": ["Story/Scenes/SCN-slug.md", "Compendium/Characters/CHAR-name.md"], "focus": "general",
            "dry_run": False,
        }
    ],
}  # fmt: skip
_FILE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "sha256": {"type": "string"},
        "kind": {"enum": ["scene", "card", "text"]},
    },
    "required": ["path", "sha256", "kind"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "focus": {"enum": list(FOCUSES)},
        "dry_run": {"type": "boolean"},
        "files": {"type": "array", "items": _FILE},
        "looked_at": {"anyOf": [LOOKED_AT_SCHEMA, {"type": "null"}]},
        "findings_total": {"type": "integer"},
        "waived_total": {"type": "integer"},
        **COMPLAINTS_SCHEMA,
        "findings": {"type": "array", "items": FINDING_SCHEMA},
    },
    "required": [
        "focus", "dry_run", "files", "looked_at", "findings_total", "waived_total", "complaints_total", "complaints",
        "findings",
    ],
    "additionalProperties": False,
}  # fmt: skip

_CARD = Card(
    name="consistency_checker",
    roles=EVERY_ROLE,
    description=(
        "Find contradictions between files: spelling of names, attributes, ages, the dead who act, dates and "
        "counted days, "
        f"places, terms. Up to {MAX_FILES} files; each finding has a rule and both lines."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
    timeout_s=TIMEOUT_S,
)


def consistency_checker(desk: ContinuityDesk) -> Tool:
    """The tool over one workspace's book."""

    def handler(file_paths: list[str], focus: Focus = "general", *, dry_run: bool = False) -> dict[str, Any]:
        book = desk.shelf.book()
        scenes, cards = _asked_files(desk, book, file_paths)
        head: dict[str, Any] = {
            "focus": focus, "dry_run": dry_run, "files": _shown(book, scenes, cards), **told(complaints_of(book)),
        }  # fmt: skip
        if dry_run:
            return head | {"looked_at": None, "findings_total": 0, "waived_total": 0, "findings": []}
        found = desk.check_files(book, scenes, cards, focus)
        findings = found.findings[:MAX_FINDINGS]
        read: list[Scene | CanonCard] = [*book.scenes, *scenes, *cards]
        note_shown([file.source for file in read], places_of(findings))
        return head | {
            "looked_at": found.looked_at.shown(),
            "findings_total": len(found.findings),
            "waived_total": len(found.findings) - len(found.open),
            "findings": [finding.shown() for finding in findings],
        }

    return Tool(card=_CARD, handler=handler)


def _asked_files(desk: ContinuityDesk, book: Book, paths: list[str]) -> tuple[list[Scene], list[CanonCard]]:
    """The scenes and cards that are meant; other prose is looked at as a scene behind all others.

    Raises:
        ToolError: One of them is not there, or is neither.
    """
    scenes: dict[str, Scene] = {}
    cards: dict[str, CanonCard] = {}
    known_cards = {card.path for card in book.cards}
    known_scenes = {scene.path for scene in book.scenes}
    for path in paths:
        if path in known_cards or names_all_cards(path):
            cards |= {card.path: card for card in asked_cards(desk.shelf, book, [path])}
        else:
            scene = asked_prose(desk.shelf, book, path)
            other = scene.path not in known_scenes
            scenes[scene.path] = replace(scene, order=len(book.scenes) + len(scenes)) if other else scene
    return list(scenes.values()), list(cards.values())


def _shown(book: Book, scenes: list[Scene], cards: list[CanonCard]) -> list[dict[str, str]]:
    of_the_book = {scene.path for scene in book.scenes}
    kinds = [(scene, "scene" if scene.path in of_the_book else "text") for scene in scenes]
    files: list[tuple[Scene | CanonCard, str]] = [*kinds, *((card, "card") for card in cards)]
    return [{"path": file.path, "sha256": file.source.sha256, "kind": kind} for file, kind in files]
