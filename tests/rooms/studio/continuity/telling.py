"""Books made of texts, and what is found in them."""

import json
from functools import cache
from pathlib import Path

import pytest

from tallystick.gate.reply.sources import Source, sha256_text
from tallystick.reading.parser import Parser, ParserMissingError, open_parser
from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.model import Book, CanonCard
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.continuity.findings import Finding
from tallystick.settings import Settings

CLEAN = Path(__file__).parents[3] / "vectors" / "continuity_clean.json"
BEFORE = """Helen Marlowe walked down to the harbour with Tobias. Mr. Marsh followed them, and Doctor Penrose came last.

"It will rain," said Helen.

"It always does," Tobias replied, and he laughed. Helen smiled at him.

The road from Larkhill was wet. Tobias carried the basket. Helen carried the lamp for Tobias and for Marsh."""
BETWEEN = """The boats came in slowly. A man was mending nets on the quay, and two girls sold fish from a barrow.

There was smoke over the roofs. Doctor Penrose counted the change."""
AFTER = "The wind went round to the west. Lights were lit in the windows one after another."


@cache
def grammar() -> Parser:
    """The parser; tests that need it are left out where it is not installed."""
    try:
        return open_parser(Settings().models_dir())
    except ParserMissingError as missing:
        pytest.skip(f"left out: {missing}")


def source(path: str, text: str) -> Source:
    return Source(path=path, text=text, sha256=sha256_text(text))


def book_of(*scenes: str, cards: dict[str, str] | None = None) -> Book:
    """A book of scenes, in order, and of cards by path."""
    told = [parse_scene(source(f"Story/Scenes/SCN-{at:02}.md", text), order=at) for at, text in enumerate(scenes, 1)]
    parsed = [parse_card(source(path, text)) for path, text in (cards or {}).items()]
    return Book(
        scenes=tuple(told),
        cards=tuple(card for card in parsed if isinstance(card, CanonCard)),
        outline=None,
        complaints=(),
    )


def reading_of(*scenes: str, cards: dict[str, str] | None = None) -> BookReading:
    return BookReading(book_of(*scenes, cards=cards), grammar())


def story(first: str, second: str) -> str:
    return f"{BEFORE}\n\n{first}\n\n{BETWEEN}\n\n{second}\n\n{AFTER}"


def found(*scenes: str, cards: dict[str, str] | None = None) -> tuple[Finding, ...]:
    return reading_of(*scenes, cards=cards).findings().findings


def rules(*scenes: str, cards: dict[str, str] | None = None) -> list[str]:
    return [finding.rule for finding in found(*scenes, cards=cards)]


def clean_twins() -> list[list[str]]:
    """Pairs of sentences that do not contradict each other."""
    twins: list[list[str]] = json.loads(CLEAN.read_text(encoding="utf-8"))
    return twins
