"""`prose_analyzer`: a scene's prose in figures and places, beside the author's own other scenes.

    pacing   paragraphs, dialogue, stretches without it
    rhythm   sentence lengths, openings, even runs
    voice    readability, adverbs, point of view, repeated words and phrases, usage

Nothing here is an error. A figure says how this scene differs from the others; a place says where to look.
"""

from collections.abc import Iterator
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.lookup import find_scene
from tallystick.rooms.studio.book.model import Book, Scene
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.prose.figures import Baseline, Measures, compared
from tallystick.rooms.studio.prose.findings import Finding
from tallystick.rooms.studio.prose.lint import lint_findings
from tallystick.rooms.studio.prose.paragraphs import Prose, named_words, read_prose
from tallystick.rooms.studio.prose.repetition import repetition_findings
from tallystick.rooms.studio.prose.rhythm import pacing_findings, rhythm_findings
from tallystick.rooms.studio.prose.voice import narrator_of, voice_findings
from tallystick.rooms.studio.quotes import PLACE_SCHEMA, record_shown_lines

FOCUSES = ("pacing", "voice", "rhythm", "all")
TIMEOUT_S = 120.0
"""The first look at a long book measures its other scenes too."""

_INPUT = {
    "type": "object",
    "properties": {
        "scene_path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "The scene's path.",
        },
        "focus": {
            "type": "string",
            "enum": list(FOCUSES),
            "default": "all",
            "description": "voice includes repetition and usage.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be measured; measure nothing."},
    },
    "required": ["scene_path"],
    "additionalProperties": False,
    "examples": [{"scene_path": "Story/Scenes/SCN-scene-slug.md", "focus": "all", "dry_run": False}],
}
_MEASURE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "focus": {"enum": ["pacing", "voice", "rhythm"]},
        "value": {"type": "number"},
        "usual": {"type": ["number", "null"]},
        "verdict": {"enum": ["usual", "higher", "lower", "no_baseline"]},
    },
    "required": ["name", "focus", "value", "usual", "verdict"],
    "additionalProperties": False,
}
_FINDING = {
    "type": "object",
    "properties": {
        "kind": {"type": "string"},
        "focus": {"enum": ["pacing", "voice", "rhythm"]},
        "message": {"type": "string"},
        "count": {"type": "integer"},
        "places": {"type": "array", "items": PLACE_SCHEMA},
    },
    "required": ["kind", "focus", "message", "count", "places"],
    "additionalProperties": False,
}
_POV = {
    "type": "object",
    "properties": {
        "person": {"enum": ["first", "second", "third", "unclear"]},
        "declared": {"type": ["string", "null"]},
        "named": {"type": "integer"},
    },
    "required": ["person", "declared", "named"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "scene_path": {"type": "string"},
        "sha256": {"type": "string"},
        "focus": {"enum": list(FOCUSES)},
        "dry_run": {"type": "boolean"},
        "truncated": {"type": "boolean"},
        "baseline_scenes": {"type": "integer"},
        "baseline_words": {"type": "integer"},
        "pov": {"anyOf": [_POV, {"type": "null"}]},
        "measures": {"type": "array", "items": _MEASURE},
        "findings": {"type": "array", "items": _FINDING},
    },
    "required": [
        "scene_path",
        "sha256",
        "focus",
        "dry_run",
        "truncated",
        "baseline_scenes",
        "baseline_words",
        "pov",
        "measures",
        "findings",
    ],
    "additionalProperties": False,
}

_CARD = Card(
    name="prose_analyzer",
    roles=EVERY_ROLE,
    description=(
        "Measure the prose of a scene: pacing, rhythm, voice, dialogue, repeated words and phrases, adverbs, point of "
        "view, readability, clichés. Compares with the author's other scenes; gives lines and quotes."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
    timeout_s=TIMEOUT_S,
)


def prose_analyzer(books: BookReader) -> Tool:
    """The tool over one workspace's book."""
    measures = Measures()

    def handler(scene_path: str, focus: str = "all", *, dry_run: bool = False) -> dict[str, Any]:
        book = books.book()
        scene = find_scene(books, book, scene_path)
        head = {"scene_path": scene.path, "sha256": scene.source.sha256, "focus": focus, "dry_run": dry_run}
        if dry_run:
            nothing = {"truncated": False, "baseline_scenes": 0, "baseline_words": 0, "pov": None}
            return head | nothing | {"measures": [], "findings": []}
        prose = read_prose(scene.source, scene.body_line)
        baseline = measures.baseline(scene, book.scenes)
        every = _findings(prose, scene, book, baseline)
        found = [one for one in every if focus in {"all", one.focus} and one.places]
        record_shown_lines([scene.source], [(scene.path, at.line, at.end_line) for one in found for at in one.places])
        return head | {
            "truncated": prose.truncated,
            "baseline_scenes": len(baseline.figures),
            "baseline_words": baseline.words,
            "pov": _pov(prose, scene),
            "measures": [one.shown() for one in compared(prose, baseline) if focus in {"all", one.focus}],
            "findings": [one.shown() for one in found],
        }

    return Tool(card=_CARD, handler=handler)


def _findings(prose: Prose, scene: Scene, book: Book, baseline: Baseline) -> Iterator[Finding]:
    people = [card for card in book.cards if card.kind == "character"]
    names = [name for card in book.cards for name in (card.name, *card.aliases)]
    own = (scene.pov or "").casefold().split()
    others = {
        card.name.split()[0]
        for card in people
        if not set(own) & set(" ".join((card.name, *card.aliases)).casefold().split())
    }
    yield from pacing_findings(prose)
    yield from rhythm_findings(prose)
    yield from voice_findings(prose, scene.pov, sorted(others))
    yield from repetition_findings(prose, named_words(names), baseline.vocabulary)
    yield from lint_findings(prose)


def _pov(prose: Prose, scene: Scene) -> dict[str, Any]:
    told = narrator_of(prose, scene.pov)
    return {"person": told.person, "declared": told.declared, "named": told.named}
