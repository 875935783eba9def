"""`scene_draft_validator`: a draft against its outline entry and the card of its point of view.

The entry is found by title, then by point of view, then by number; which of them it was is told. What the entry says
is looked for statement by statement, and each one comes with the line of the outline and the line of the scene.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.lookup import find_outline, find_scene
from tallystick.rooms.studio.book.model import Beat, Book, CanonCard, Outline, Scene
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.outline.checks import PROBLEM_SCHEMA, OutlineProblem, match_problems
from tallystick.rooms.studio.outline.contents import match_outline
from tallystick.rooms.studio.outline.coverage import StatementCoverage, check_coverage
from tallystick.rooms.studio.outline.matches import Match, candidates, card_of, names_of, same_person
from tallystick.rooms.studio.prose.paragraphs import read_prose
from tallystick.rooms.studio.quotes import PLACE_SCHEMA, line_place, record_shown_lines

MAX_CANDIDATES = 5
CARD_LINES = 12
"""Lines of the card that are shown: its facts stand at the top."""

_INPUT = {
    "type": "object",
    "properties": {
        "scene_path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "The draft's path.",
        },
        "outline_path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "Default: the project's outline.",
        },
        "include_canon": {
            "type": "boolean",
            "default": True,
            "description": "Give the card of the point of view, line by line.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say what would be compared; compare nothing."},
    },
    "required": ["scene_path"],
    "additionalProperties": False,
    "examples": [{"scene_path": "Story/Scenes/SCN-slug.md", "include_canon": True, "dry_run": False}],
}
_MAYBE_PLACE = {"anyOf": [PLACE_SCHEMA, {"type": "null"}]}
_MATCH = {
    "type": "object",
    "properties": {
        "matched_by": {"enum": ["title_slug", "pov_name", "scene_number", "content"]},
        "title": {"type": "string"},
        "act": {"type": ["string", "null"]},
        "number": {"type": ["integer", "null"]},
        "pov": {"type": ["string", "null"]},
        "place": _MAYBE_PLACE,
    },
    "required": ["matched_by", "title", "act", "number", "pov", "place"],
    "additionalProperties": False,
}
_STATEMENT = {
    "type": "object",
    "properties": {
        "status": {"enum": ["covered", "partly", "not_found"]},
        "score": {"type": "number"},
        "outline": _MAYBE_PLACE,
        "scene": _MAYBE_PLACE,
        "missed": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["status", "score", "outline", "scene", "missed"],
    "additionalProperties": False,
}
_POV_CARD = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "name": {"type": "string"},
        "aliases": {"type": "array", "items": {"type": "string"}},
        "lines": {"type": "array", "items": PLACE_SCHEMA},
    },
    "required": ["path", "name", "aliases", "lines"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "scene_path": {"type": "string"},
        "sha256": {"type": "string"},
        "outline_path": {"type": "string"},
        "dry_run": {"type": "boolean"},
        "match": {"anyOf": [_MATCH, {"type": "null"}]},
        "coverage": {"type": ["number", "null"]},
        "problems": {"type": "array", "items": PROBLEM_SCHEMA},
        "candidates": {"type": "array", "items": {"type": "string"}},
        "pov": {"type": ["string", "null"]},
        "pov_card": {"anyOf": [_POV_CARD, {"type": "null"}]},
        "statements": {"type": "array", "items": _STATEMENT},
    },
    "required": [
        "scene_path",
        "sha256",
        "outline_path",
        "dry_run",
        "match",
        "coverage",
        "problems",
        "candidates",
        "pov",
        "pov_card",
        "statements",
    ],
    "additionalProperties": False,
}

_CARD = Card(
    name="scene_draft_validator",
    roles=EVERY_ROLE,
    description=(
        "Validate a scene draft against the outline: finds its beat, shows which of the beat's statements the scene "
        "covers, with quotes from both, and loads the canon card of the point of view."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def scene_draft_validator(books: BookReader) -> Tool:
    """The tool over one workspace's book."""

    def handler(
        scene_path: str, outline_path: str | None = None, *, include_canon: bool = True, dry_run: bool = False
    ) -> dict[str, Any]:
        book = books.book()
        scene = find_scene(books, book, scene_path)
        outline = find_outline(books, book, outline_path)
        head = {
            "scene_path": scene.path,
            "sha256": scene.source.sha256,
            "outline_path": outline.path,
            "dry_run": dry_run,
        }
        if dry_run:
            nothing: dict[str, Any] = {"match": None, "coverage": None, "pov": None, "pov_card": None}
            return head | nothing | {"problems": [], "candidates": [], "statements": []}
        return head | _validated(scene, outline, book, include_canon=include_canon)

    return Tool(card=_CARD, handler=handler)


def _validated(scene: Scene, outline: Outline, book: Book, *, include_canon: bool) -> dict[str, Any]:
    same = same_person(names_of(book.cards))
    scenes = book.scenes if any(one.path == scene.path for one in book.scenes) else (*book.scenes, scene)
    match = next((one for one in match_outline(outline, scenes, book.cards) if one.scene.path == scene.path), None)
    near = [] if match else candidates(outline.beats, scene, same)
    pov = scene.pov or (match.beat.pov if match else None)
    card = card_of(book.cards, pov) if pov else None
    prose = read_prose(scene.source, scene.body_line)
    covered = check_coverage(match.beat, outline.source, prose, book.cards) if match else []
    problems = list(_problems(scene, outline, match, pov, card))
    if match:
        problems += match_problems(outline, match, book.cards, same)
    found = {
        "match": _match(match, outline) if match else None,
        "coverage": round(sum(one.score for one in covered) / len(covered), 3) if covered else None,
        "problems": [problem.shown() for problem in problems],
        "candidates": [beat.title for beat in near[:MAX_CANDIDATES]],
        "pov": pov,
        "pov_card": _pov_card(card) if card and include_canon else None,
        "statements": [_statement(one) for one in covered],
    }
    read = [scene.source, outline.source, *([card.source] if card else [])]
    record_shown_lines(read, _shown(scene, outline, found))
    return found


def _shown(scene: Scene, outline: Outline, found: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    quoted = [(problem["path"], problem["place"]) for problem in found["problems"]]
    quoted += [(outline.path, found["match"]["place"])] if found["match"] else []
    quoted += [(outline.path, one["outline"]) for one in found["statements"]]
    quoted += [(scene.path, one["scene"]) for one in found["statements"]]
    card = found["pov_card"]
    quoted += [(card["path"], line) for line in card["lines"]] if card else []
    return ((path, place["line"], place["end_line"]) for path, place in quoted if place is not None)


def _problems(
    scene: Scene, outline: Outline, match: Match | None, pov: str | None, card: CanonCard | None
) -> Iterator[OutlineProblem]:
    first = line_place(scene.source, scene.body_line)
    if match is None:
        message = "No entry of the outline is this scene's, by title, point of view or number."
        yield OutlineProblem(code="beat_not_found", message=message, path=scene.path, place=first)
    elif None not in (match.beat.number, scene.number) and match.beat.number != scene.number:
        message = f"The scene has the number {scene.number}, its entry {match.beat.number}."
        yield _at(outline, match.beat, "number_differs", message)
    if pov is None:
        message = "Neither the scene nor its entry says whose point of view it is."
        yield OutlineProblem(code="pov_missing", message=message, path=scene.path, place=first)
    elif card is None:
        message = f"There is no card for {pov}. Write one under Compendium/Characters."
        yield OutlineProblem(code="pov_card_missing", message=message, path=scene.path, place=first)


def _at(outline: Outline, beat: Beat, code: str, message: str) -> OutlineProblem:
    return OutlineProblem(code=code, message=message, path=outline.path, place=line_place(outline.source, beat.line))


def _match(match: Match, outline: Outline) -> dict[str, Any]:
    found = line_place(outline.source, match.beat.line)
    return {
        "matched_by": match.by,
        "title": match.beat.title,
        "act": match.beat.act,
        "number": match.beat.number,
        "pov": match.beat.pov,
        "place": None if found is None else found.shown(),
    }


def _statement(one: StatementCoverage) -> dict[str, Any]:
    return {
        "status": one.status,
        "score": one.score,
        "outline": None if one.place is None else one.place.shown(),
        "scene": None if one.evidence is None else one.evidence.shown(),
        "missed": list(one.missed),
    }


def _pov_card(card: CanonCard) -> dict[str, Any]:
    lines: Sequence[int] = range(1, len(card.source.lines) + 1)
    shown = [found for found in (line_place(card.source, line) for line in lines) if found is not None]
    return {
        "path": card.path,
        "name": card.name,
        "aliases": list(card.aliases),
        "lines": [place.shown() for place in shown[:CARD_LINES]],
    }
