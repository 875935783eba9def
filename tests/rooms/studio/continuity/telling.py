"""Small stories around two sentences, and books made of texts."""

import json
from pathlib import Path
from typing import Any

from tallystick.gate.reply.sources import Source, sha256_text
from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.nouns import Book, CanonCard
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.continuity.checking import Reading, check_book
from tallystick.rooms.studio.continuity.findings import Finding

VECTORS = Path(__file__).parents[3] / "vectors" / "continuity"
BEFORE = """Helen Marlowe walked down to the harbour with Tobias. Mr. Marsh followed them, and Doctor Penrose came last.

"It will rain," said Helen.

"It always does," Tobias replied, and he laughed. Helen smiled at him.

The road from Larkhill was wet. Tobias carried the basket. Helen carried the lamp for Tobias and for Marsh."""
BETWEEN = """The boats came in slowly. A man was mending nets on the quay, and two girls sold fish from a barrow.

There was smoke over the roofs. Doctor Penrose counted the change."""
AFTER = "The wind went round to the west. Lights were lit in the windows one after another."


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


def story(first: str, second: str) -> str:
    return f"{BEFORE}\n\n{first}\n\n{BETWEEN}\n\n{second}\n\n{AFTER}"


def named_story(name: str, other: str) -> str:
    """A story that names somebody many times, and once otherwise."""
    return "\n\n".join(
        [
            f"{name} walked down to the quay with the lamp.",
            f"It was late, and {name} was tired.",
            f'"It will rain," said {name}.',
            f"The others waited for {name} at the mill.",
            f"Then {name} laughed, and the dog barked at {name}.",
            f"Nobody answered. The old dog followed {name} home.",
            f"At supper {other} said nothing more.",
            f"In the morning {name} went away.",
        ]
    )


def found(*scenes: str, cards: dict[str, str] | None = None) -> tuple[Finding, ...]:
    return check_book(book_of(*scenes, cards=cards)).findings


def rules(*scenes: str, cards: dict[str, str] | None = None) -> list[str]:
    return [finding.rule for finding in found(*scenes, cards=cards)]


def against(scene: str, cards: dict[str, str], *, hard_only: bool = False) -> list[str]:
    """The rules that a single scene breaks against its cards."""
    book = book_of(scene, cards=cards)
    reading = Reading(book)
    checked = reading.against(book.scenes[0].path, list(cards), hard_only=hard_only)
    return [finding.rule for finding in checked.findings]


def vectors(kind: str) -> list[tuple[str, list[str], str, str]]:
    """(file, rules, first, second) of all cases of a kind: `contradictions` or `clean`."""
    cases = []
    for path in sorted(VECTORS.glob("*.json")):
        read: dict[str, Any] = json.loads(path.read_text())
        cases += [(path.stem, read["rules"], first, second) for first, second in read[kind]]
    return cases
