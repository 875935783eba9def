import json
import random
from pathlib import Path

import pytest

from tallystick.gate.quotes import INDEXED_FROM, Folded, find_quote, fold_text
from tallystick.gate.reply.diagnosis import diagnose
from tests.gate.reply.small_workspace import VECTORS

PROSE: str = json.loads((VECTORS / "reply_quotes.json").read_text(encoding="utf-8"))["text"]
PAD = "Lorem ipsum dolor sit amet, consectetur adipiscing elit.\n"
SHORT = fold_text(PROSE)
LONG = fold_text(PAD * (INDEXED_FROM // len(PAD)) + PROSE + PAD * 100)
OFFSET = INDEXED_FROM // len(PAD)


@pytest.mark.promise("reply.near-miss")
@pytest.mark.parametrize(("text", "offset"), [(SHORT, 0), (LONG, OFFSET)], ids=["short", "long"])
@pytest.mark.parametrize(
    ("quote", "code", "line"),
    [
        ("The lamp had burned every night for twenty-one years", "quote_misquoted", 3),
        ("It was bound in sailcloth, the corners eaten by salt", "quote_misquoted", 11),
        ("the lamp had burned each night for thirty-one years", "quote_misquoted", 3),
        ("The lamp had bur\u200bned every night for thirty-one years", "quote_hidden_characters", 3),
        ("The lamp had burned every … for thirty-one years", "quote_ellipsis", 3),
        ("The lamp had burned every night for and folded the last sheet", "quote_joined", None),
        ("She laid the book the table. It was bound in sailcloth", "quote_joined", 11),
        ("A stranger had walked the whole length of the beach", "quote_not_found", None),
        ("x" * 5_000, "quote_not_found", None),
    ],
)
def test_a_refused_quote_is_explained(text: Folded, offset: int, quote: str, code: str, line: int | None) -> None:
    assert find_quote(quote, text) is None
    found = diagnose(quote, text)
    assert (found.code, found.line) == (code, None if line is None else line + offset)
    assert found.advice
    if line is not None:
        assert found.text is not None
        assert found.similarity is not None
        assert found.similarity > 80


@pytest.mark.promise("reply.near-miss")
def test_the_closest_line_of_a_novel_is_found_for_nearly_every_misquotation(data: Path) -> None:
    novels = sorted((data / "gutenberg-novels" / "dev").glob("*.txt"))
    raw = novels[0].read_bytes().decode("utf-8-sig") if novels else PROSE
    text = fold_text(raw)
    lines = raw.replace("\r\n", "\n").split("\n")
    dice = random.Random(3)
    hits = tried = 0
    while tried < 100:
        at = dice.randrange(len(lines) - 2)
        words = " ".join(lines[at : at + 2]).split()
        if len(words) >= 15 and lines[at].strip():
            tried += 1
            words[7] = "zebra"
            hits += diagnose(" ".join(words), text).line == at + 1
    assert hits >= 95
