"""`canon_checker`: what a scene says against the author's cards, each finding with both lines.

Facts come from the cards' fields, tables, constraints and sentences, and from the scene's narration. What is said,
dreamt, remembered, denied or asked in the scene is no fact. Findings never block the author.
"""

from typing import Any

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.execute.call import note_file
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.asked import asked_scene
from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.nouns import Book, CanonCard, Complaint, Scene
from tallystick.rooms.studio.continuity.desk import ContinuityDesk
from tallystick.rooms.studio.continuity.findings import FINDING_SCHEMA, LOOKED_AT_SCHEMA

MODES = ("strict", "hard")
MAX_FINDINGS = 100
MAX_CARDS = 500
TIMEOUT_S = 120.0
"""The first look at a long book reads all of it."""
_ALL_CARDS = frozenset({"canon.md", "story/compendium/canon.md", "compendium/canon.md"})
_INPUT = {
    "type": "object",
    "properties": {
        "scene_path": {
            "type": "string", "minLength": 1, "maxLength": 1_000, "description": "The scene's path in the workspace.",
        },
        "canon_paths": {
            "type": "array", "maxItems": MAX_CARDS, "items": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "description": "Cards to compare with. Canon.md, or none: all cards.",
        },
        "mode": {
            "type": "string", "enum": list(MODES), "default": "strict",
            "description": "strict: hard and soft facts. hard: only what must not change.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be compared; compare nothing."},
    },
    "required": ["scene_path"],
    "additionalProperties": False,
    "examples": [
        {
            "scene_path": "Story/Scenes/scene.md", "canon_paths": ["Story/Compendium/Canon.md"], "mode": "strict",
            "dry_run": False,
        }
    ],
}  # fmt: skip
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
        "findings_total": {"type": "integer"},
        "waived_total": {"type": "integer"},
        "findings": {"type": "array", "items": FINDING_SCHEMA},
    },
    "required": [
        "scene_path", "sha256", "mode", "dry_run", "canon_paths", "canon_facts", "looked_at", "findings_total",
        "waived_total", "findings",
    ],
    "additionalProperties": False,
}  # fmt: skip

_CARD = Card(
    name="canon_checker",
    description=(
        "Compare a scene with the canon cards: eye and hair colour, ages, dates, places, who is dead, spelling of "
        "names. "
        "Each finding has a rule, the card's line and the scene's line. Refuses to run without canon files."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
    timeout_s=TIMEOUT_S,
)


def canon_checker(desk: ContinuityDesk) -> Tool:
    """The tool over one workspace's book."""

    def handler(
        scene_path: str, canon_paths: list[str] | None = None, mode: str = "strict", *, dry_run: bool = False
    ) -> dict[str, Any]:
        book = desk.shelf.book()
        scene = asked_scene(desk.shelf, book, scene_path)
        cards = _asked_cards(desk, book, canon_paths or [])
        head: dict[str, Any] = {
            "scene_path": scene.path, "sha256": scene.source.sha256, "mode": mode, "dry_run": dry_run,
            "canon_paths": [card.path for card in cards],
        }  # fmt: skip
        if dry_run:
            counts = {"canon_facts": 0, "looked_at": None, "findings_total": 0, "waived_total": 0}
            return head | counts | {"findings": []}
        read: list[Scene | CanonCard] = [scene, *cards]
        for file in read:
            note_file(file.path, file.source.sha256)
        found = desk.check_scene(book, scene, cards, hard_only=mode == "hard")
        return head | {
            "canon_facts": desk.facts_of(card.path for card in cards),
            "looked_at": found.looked_at.shown(),
            "findings_total": len(found.findings),
            "waived_total": len(found.findings) - len(found.open),
            "findings": [finding.shown() for finding in found.findings[:MAX_FINDINGS]],
        }

    return Tool(card=_CARD, handler=handler)


def _asked_cards(desk: ContinuityDesk, book: Book, paths: list[str]) -> list[CanonCard]:
    """The cards that are meant.

    Raises:
        ToolError: There are none, or one of them is not there.
    """
    cards = {card.path: card for card in book.cards}
    asked: dict[str, CanonCard] = {}
    for path in paths:
        if path.strip("/").casefold() in _ALL_CARDS:
            asked |= cards
        else:
            card = cards.get(path) or _read_card(desk, path)
            asked[card.path] = card
    found = list(asked.values()) if paths else list(cards.values())
    if not found:
        hint = "Write cards under Compendium/, or let `tally studio cards --write` propose them from the text."
        raise ToolError("There are no canon files to compare with.", status=409, hint=hint)
    return found


def _read_card(desk: ContinuityDesk, path: str) -> CanonCard:
    try:
        source = desk.shelf.sources.read(path)
    except PathRefused as refused:
        raise ToolError(str(refused), status=404, hint="Name a card inside the workspace.") from None
    if source is None:
        raise ToolError(f"There is no card {path:.200}.", status=404, hint="file_locator finds the cards there are.")
    card = parse_card(source)
    if isinstance(card, Complaint):
        raise ToolError(card.message, status=404, hint=f"See {card.path}, line {card.line}.")
    return card
