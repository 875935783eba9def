"""`consistency_checker`: where files contradict each other, or the scenes before them; each finding with both lines."""

from typing import Any

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.execute.call import note_file
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.nouns import Book, CanonCard, Scene
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.continuity.desk import ContinuityDesk
from tallystick.rooms.studio.continuity.findings import FINDING_SCHEMA, LOOKED_AT_SCHEMA
from tallystick.rooms.studio.continuity.rules import Focus

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
            "description": "Scenes and cards. Scenes are also compared with the rest of the book.",
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
    "properties": {"path": {"type": "string"}, "sha256": {"type": "string"}, "kind": {"enum": ["scene", "card"]}},
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
        "findings": {"type": "array", "items": FINDING_SCHEMA},
    },
    "required": ["focus", "dry_run", "files", "looked_at", "findings_total", "waived_total", "findings"],
    "additionalProperties": False,
}

_CARD = Card(
    name="consistency_checker",
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
        files = [{"path": scene.path, "sha256": scene.source.sha256, "kind": "scene"} for scene in scenes]
        files += [{"path": card.path, "sha256": card.source.sha256, "kind": "card"} for card in cards]
        head: dict[str, Any] = {"focus": focus, "dry_run": dry_run, "files": files}
        if dry_run:
            return head | {"looked_at": None, "findings_total": 0, "waived_total": 0, "findings": []}
        read: list[Scene | CanonCard] = [*book.scenes, *scenes, *cards]
        for path, sha256 in {file.path: file.source.sha256 for file in read}.items():
            note_file(path, sha256)
        found = desk.check_files(book, scenes, cards, focus)
        return head | {
            "looked_at": found.looked_at.shown(),
            "findings_total": len(found.findings),
            "waived_total": len(found.findings) - len(found.open),
            "findings": [finding.shown() for finding in found.findings[:MAX_FINDINGS]],
        }

    return Tool(card=_CARD, handler=handler)


def _asked_files(desk: ContinuityDesk, book: Book, paths: list[str]) -> tuple[list[Scene], list[CanonCard]]:
    """The scenes and cards that are meant; any other text is looked at as a scene.

    Raises:
        ToolError: One of them is not there.
    """
    scenes: dict[str, Scene] = {}
    cards: dict[str, CanonCard] = {}
    known_scenes = {scene.path: scene for scene in book.scenes}
    known_cards = {card.path: card for card in book.cards}
    for path in paths:
        try:
            source = desk.shelf.sources.read(path)
        except PathRefused as refused:
            raise ToolError(str(refused), status=404, hint="Name text files inside the workspace.") from None
        if source is None:
            raise ToolError(
                f"There is no file {path:.200}.", status=404, hint="file_locator finds the files there are."
            )
        if source.path in known_cards:
            cards[source.path] = known_cards[source.path]
        else:
            order = len(book.scenes) + len(scenes)
            scenes[source.path] = known_scenes.get(source.path) or parse_scene(source, order=order)
    return list(scenes.values()), list(cards.values())
