"""`outline_analyzer`: the parsed outline, compared with the scenes.

structure   acts and entries in order, with their lines; gaps, repeats, entries without words
coverage    which scene tells which entry; entries without scenes and scenes without entries
balance     how acts and points of view weigh in words
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.book.lookup import find_outline
from tallystick.rooms.studio.book.model import Beat, Book, Outline
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.outline.checks import (
    PROBLEM_SCHEMA,
    act_shares,
    balance_problems,
    coverage_problems,
    pov_shares,
    structure_problems,
    word_count,
)
from tallystick.rooms.studio.outline.contents import match_outline
from tallystick.rooms.studio.outline.matches import Match
from tallystick.rooms.studio.quotes import PLACE_SCHEMA, line_place, record_shown_lines

MODES = ("structure", "coverage", "balance")
MAX_BEATS = 200
MAX_PROBLEMS = 100

_INPUT = {
    "type": "object",
    "properties": {
        "outline_path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "Default: the project's outline.",
        },
        "mode": {
            "type": "string",
            "enum": list(MODES),
            "default": "structure",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Say which outline would be read; no more."},
    },
    "additionalProperties": False,
    "examples": [{"outline_path": "Story/SCN-outline.md", "mode": "structure", "dry_run": False}],
}
_BEAT = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "act": {"type": ["string", "null"]},
        "number": {"type": ["integer", "null"]},
        "pov": {"type": ["string", "null"]},
        "scene_path": {"type": ["string", "null"]},
        "matched_by": {"enum": ["title_slug", "pov_name", "scene_number", "content", None]},
        "place": {"anyOf": [PLACE_SCHEMA, {"type": "null"}]},
    },
    "required": ["title", "act", "number", "pov", "scene_path", "matched_by", "place"],
    "additionalProperties": False,
}
_WEIGHT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "beats": {"type": "integer"},
        "scenes": {"type": "integer"},
        "words": {"type": "integer"},
        "share": {"type": "number"},
    },
    "required": ["name", "beats", "scenes", "words", "share"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "outline_path": {"type": "string"},
        "sha256": {"type": "string"},
        "mode": {"enum": list(MODES)},
        "dry_run": {"type": "boolean"},
        "acts": {"type": "array", "items": {"type": "string"}},
        "beats_total": {"type": "integer"},
        "scenes_total": {"type": "integer"},
        "matched": {"type": "integer"},
        "problems_total": {"type": "integer"},
        "problems": {"type": "array", "items": PROBLEM_SCHEMA},
        "act_balance": {"type": "array", "items": _WEIGHT},
        "pov_balance": {"type": "array", "items": _WEIGHT},
        "beats": {"type": "array", "items": _BEAT},
    },
    "required": [
        "outline_path",
        "sha256",
        "mode",
        "dry_run",
        "acts",
        "beats_total",
        "scenes_total",
        "matched",
        "problems_total",
        "problems",
        "act_balance",
        "pov_balance",
        "beats",
    ],
    "additionalProperties": False,
}

_CARD = Card(
    name="outline_analyzer",
    roles=EVERY_ROLE,
    description=(
        "Analyze the outline of the book: its acts, scenes, beats, order and point of view (structure), beats without "
        "scenes and scenes without beats (coverage), how acts and points of view weigh (balance)."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def outline_analyzer(books: BookReader) -> Tool:
    """The tool over one workspace's book."""

    def handler(outline_path: str | None = None, mode: str = "structure", *, dry_run: bool = False) -> dict[str, Any]:
        book = books.book()
        outline = find_outline(books, book, outline_path)
        head = {"outline_path": outline.path, "sha256": outline.source.sha256, "mode": mode, "dry_run": dry_run}
        if dry_run:
            counts = {"beats_total": 0, "scenes_total": 0, "matched": 0, "problems_total": 0}
            lists: dict[str, Any] = {name: [] for name in ("acts", "problems", "act_balance", "pov_balance", "beats")}
            return head | counts | lists
        analysis = _analysis(outline, book, mode)
        # Only then is a scene's text looked at; its name alone is part of the tree.
        scenes = [] if mode == "structure" else [scene.source for scene in book.scenes]
        record_shown_lines([outline.source, *scenes], _shown(outline, analysis))
        return head | analysis

    return Tool(card=_CARD, handler=handler)


def _analysis(outline: Outline, book: Book, mode: str) -> dict[str, Any]:
    matches = match_outline(outline, book.scenes, book.cards)
    act_balance: list[Any] = []
    pov_balance: list[Any] = []
    if mode == "structure":
        problems = list(structure_problems(outline))
    elif mode == "coverage":
        problems = list(coverage_problems(outline, book.scenes, matches, book.cards))
    else:
        words = {scene.path: word_count(scene) for scene in book.scenes}
        acts = act_shares(outline, matches, words)
        problems = list(balance_problems(outline, acts, book.scenes, words))
        act_balance = [weight.shown() for weight in acts]
        pov_balance = [weight.shown() for weight in pov_shares(book.scenes, matches, words)]
    by_line = {match.beat.line: match for match in matches}
    beats = [] if mode == "balance" else outline.beats[:MAX_BEATS]
    return {
        "acts": list(outline.acts),
        "beats_total": len(outline.beats),
        "scenes_total": len(book.scenes),
        "matched": len(matches),
        "problems_total": len(problems),
        "problems": [problem.shown() for problem in problems[:MAX_PROBLEMS]],
        "act_balance": act_balance,
        "pov_balance": pov_balance,
        "beats": [_beat(beat, outline, by_line.get(beat.line)) for beat in beats],
    }


def _shown(outline: Outline, analysis: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    quoted = [(outline.path, beat["place"]) for beat in analysis["beats"]]
    quoted += [(problem["path"], problem["place"]) for problem in analysis["problems"]]
    return ((path, place["line"], place["end_line"]) for path, place in quoted if place is not None)


def _beat(beat: Beat, outline: Outline, match: Match | None) -> dict[str, Any]:
    found = line_place(outline.source, beat.line)
    return {
        "title": beat.title,
        "act": beat.act,
        "number": beat.number,
        "pov": beat.pov,
        "scene_path": match.scene.path if match else None,
        "matched_by": match.by if match else None,
        "place": None if found is None else found.shown(),
    }
