"""`consistency_checker`: contradictions between files and earlier scenes, each finding with both lines.

Pipeline runs check the whole book with `check_whole`. The tool takes ten files a call, and contradictions may be
anywhere in a book. So the whole book is checked first, and the files of the findings are grouped for the tool: the
reporting agent then has the tool's receipts to cite, with a few calls instead of one for every pair of scenes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, get_args

from tallystick.errors import ToolError
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.lookup import find_cards, find_prose, names_all_cards
from tallystick.rooms.studio.book.model import COMPLAINTS_SCHEMA, Book, CanonCard, Scene, complaints_json
from tallystick.rooms.studio.continuity.findings import FINDING_SCHEMA, LOOKED_AT_SCHEMA, NOT_CHECKED_SCHEMA
from tallystick.rooms.studio.continuity.rules import Focus
from tallystick.rooms.studio.continuity.service import ContinuityService, complaints_of, places_of
from tallystick.rooms.studio.quotes import record_shown_lines

MAX_GROUP = 10
"""Files that `consistency_checker` takes at once."""


def check_whole(continuity: ContinuityService, args: Mapping[str, Any]) -> dict[str, Any]:
    """Check every scene against every other and against the cards.

    Args:
        continuity: The checks of the workspace.
        args: `focus`, as the tool takes it.

    Raises:
        ToolError: There is no such focus.
    """
    focus = next((known for known in get_args(Focus) if known == args.get("focus", "general")), None)
    if focus is None:
        raise ToolError("There is no such focus.", status=404, hint=f"One of {', '.join(get_args(Focus))}.")
    book = continuity.books.book()
    found = continuity.check_book(focus)
    shown = found.open
    first = [scene.path for scene in book.scenes[:MAX_GROUP]]
    return {
        "findings": [finding.shown() for finding in shown],
        "findings_total": len(shown),
        "waived": len(found.findings) - len(shown),
        "looked_at": asdict(found.looked_at),
        "not_checked": list(found.not_checked),
        **complaints_json(complaints_of(book)),
        # Nothing found: one call on the beginning, so that the report rests on something.
        "groups": grouped(({one.first.path, one.second.path} for one in shown), MAX_GROUP)
        or ([first] if first else []),
    }


def grouped(together: Iterable[set[str]], most: int) -> list[list[str]]:
    """Put sets of files into few groups of at most so many, each set whole in one of them."""
    groups: list[set[str]] = []
    for files in together:
        home = next((group for group in groups if len(group | files) <= most), None)
        if home is None:
            groups.append(set(files))
        else:
            home |= files
    return [sorted(group) for group in groups]


FOCUSES: tuple[Focus, ...] = ("characters", "terminology", "events", "general")
MAX_FILES = 10
TIMEOUT_S = 120.0
"""The first call on a long book reads all of it."""
_INPUT = {
    "type": "object",
    "properties": {
        "file_paths": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_FILES,
            "items": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "description": "Scenes and cards; Canon.md: all cards.",
        },
        "focus": {
            "type": "string",
            "enum": list(FOCUSES),
            "default": "general",
            "description": "characters: people and names. events: days and places. general: all.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be compared; compare nothing."},
    },
    "required": ["file_paths"],
    "additionalProperties": False,
    "examples": [
        {
            "file_paths": ["Story/Scenes/SCN-slug.md", "Compendium/Characters/CHAR-name.md"],
            "focus": "general",
            "dry_run": False,
        }
    ],
}
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
        "not_checked": NOT_CHECKED_SCHEMA,
        "findings_total": {"type": "integer"},
        "waived_total": {"type": "integer"},
        **COMPLAINTS_SCHEMA,
        "findings": {"type": "array", "items": FINDING_SCHEMA},
    },
    "required": [
        "focus",
        "dry_run",
        "files",
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


def consistency_checker(continuity: ContinuityService) -> Tool:
    """The tool over one workspace's book."""

    def handler(file_paths: list[str], focus: Focus = "general", *, dry_run: bool = False) -> dict[str, Any]:
        book = continuity.books.book()
        scenes, cards = _asked_files(continuity, book, file_paths)
        head: dict[str, Any] = {
            "focus": focus,
            "dry_run": dry_run,
            "files": _shown(book, scenes, cards),
            **complaints_json(complaints_of(book)),
        }
        if dry_run:
            return head | {"looked_at": None, "not_checked": [], "findings_total": 0, "waived_total": 0, "findings": []}
        found = continuity.check_files(book, scenes, cards, focus)
        read: list[Scene | CanonCard] = [*book.scenes, *scenes, *cards]
        record_shown_lines([file.source for file in read], places_of(found.findings))
        return head | {
            "looked_at": found.looked_at.shown(),
            "not_checked": list(found.not_checked),
            "findings_total": len(found.findings),
            "waived_total": len(found.findings) - len(found.open),
            "findings": [finding.shown() for finding in found.findings],
        }

    return Tool(card=_CARD, handler=handler)


def _asked_files(continuity: ContinuityService, book: Book, paths: list[str]) -> tuple[list[Scene], list[CanonCard]]:
    """The requested scenes and cards; other prose is treated as a scene after all others.

    Raises:
        ToolError: One of them is not there, or is neither.
    """
    scenes: dict[str, Scene] = {}
    cards: dict[str, CanonCard] = {}
    known_cards = {card.path for card in book.cards}
    known_scenes = {scene.path for scene in book.scenes}
    for path in paths:
        if path in known_cards or names_all_cards(path):
            cards |= {card.path: card for card in find_cards(continuity.books, book, [path])}
        else:
            scene = find_prose(continuity.books, book, path)
            other = scene.path not in known_scenes
            scenes[scene.path] = replace(scene, order=len(book.scenes) + len(scenes)) if other else scene
    return list(scenes.values()), list(cards.values())


def _shown(book: Book, scenes: list[Scene], cards: list[CanonCard]) -> list[dict[str, str]]:
    of_the_book = {scene.path for scene in book.scenes}
    kinds = [(scene, "scene" if scene.path in of_the_book else "text") for scene in scenes]
    files: list[tuple[Scene | CanonCard, str]] = [*kinds, *((card, "card") for card in cards)]
    return [{"path": file.path, "sha256": file.source.sha256, "kind": kind} for file, kind in files]
