"""Disagreements between passages: two documents say the same of one thing, but for a figure.

Two sentences are about the same thing when, with their figures taken out, they are near to each other by the embedding
model, or by their words where there is none. They disagree when they give different values in the same unit: of money,
time, dates, shares or sizes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.rooms.desk.kb.confidence import ScoredPassage
from tallystick.rooms.desk.kb.model import Disagreement
from tallystick.rooms.desk.kb.passages import cells_of
from tallystick.rooms.desk.kb.readable_text import plain
from tallystick.rooms.desk.language.overlap import measures_in, stems_of
from tallystick.text.calendar_names import MONTHS

NEAR = 0.85
"""Passages this near to the question, in the nearest one, are compared with all others that were found."""
FAR = 0.6
"""Passages farther from the question are not compared."""
ALIKE = 0.9
"""Likeness from which on sentences of documents whose names share a word (`manual-x1`, `manual-x2`) are taken for the
same text about different things, which may differ."""
SAME = {"minilm-int8": 0.58, "wordllama-256": 0.7}
"""Likeness from which on two sentences without their figures are about the same thing, by model."""
SAME_WORDS = 0.6
"""The share of common words that stands in for it, of the shorter sentence."""
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\.? (?:{_MONTH})\w*(?: \d{{4}})?|(?:{_MONTH})\w* \d{{1,2}}(?:, \d{{4}})?)\b", re.IGNORECASE
)
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")
_CLAUSE = re.compile(r"; |: |, (?=and |but )")
_FIGURE = re.compile(r"\d[\d.,:]*")


@record
class _Statement:
    doc: str
    near: bool
    row: str
    """The first cell of a table's row; empty for sentences."""
    masked: str
    """With its figures taken out, below its headings."""
    values: Mapping[str, frozenset[str]]
    """Unit → values."""


def find_disagreements(passages: Sequence[ScoredPassage], embedder: Embedder | None) -> Iterator[Disagreement]:
    """Yield the pairs of statements near the question that disagree, the nearest first."""
    statements = [one for each in passages if each.score >= FAR for one in _statements(each)]
    pairs = [
        (one, other)
        for one, other in combinations(statements, 2)
        if (one.near or other.near) and _comparable(one, other) and _differing(one, other) is not None
    ]
    if not pairs:
        return
    texts = list(dict.fromkeys(each.masked for pair in pairs for each in pair))
    vectors = None if embedder is None else dict(zip(texts, embedder.embed(texts), strict=True))
    for one, other in pairs:
        if vectors is None or embedder is None:
            likeness, least = _share(one.masked, other.masked), SAME_WORDS
        else:
            likeness, least = float(vectors[one.masked] @ vectors[other.masked]), SAME.get(embedder.name, 1.0)
        same = least <= likeness and not (likeness >= ALIKE and _are_parallel(one.doc, other.doc))
        if same and (values := _differing(one, other)) is not None:
            yield Disagreement(docs=(one.doc, other.doc), values=values)


def _statements(passage: ScoredPassage) -> Iterator[_Statement]:
    near = passage.score >= NEAR
    snippet = passage.found.text
    row = cells_of(snippet)[0].casefold() if " | " in snippet else ""
    for clause in _CLAUSE.split(" ".join(plain(snippet).split()).replace(". ", ".; ")):
        values = _values(clause)
        if values:
            masked = " ".join(_FIGURE.sub("", _TIME.sub("", _DATE.sub("", clause))).split())
            yield _Statement(doc=passage.found.name, near=near, row=row, masked=masked, values=values)


def _comparable(one: _Statement, other: _Statement) -> bool:
    """Whether two statements are of two documents; rows of tables are compared when they are about one thing."""
    return one.doc != other.doc and one.row == other.row


def _are_parallel(one: str, other: str) -> bool:
    names = (stems_of(re.sub(r"[\W_]+", " ", name.rpartition(".")[0].rpartition("/")[2])) for name in (one, other))
    return bool(frozenset.intersection(*names))


def _values(sentence: str) -> dict[str, frozenset[str]]:
    dates = frozenset(" ".join(found.group().lower().split()) for found in _DATE.finditer(sentence))
    times = frozenset(found.group() for found in _TIME.finditer(sentence))
    rest = measures_in(_TIME.sub("", _DATE.sub("", sentence)))
    return {**rest, **({"date": dates} if dates else {}), **({"clock": times} if times else {})}


def _differing(one: _Statement, other: _Statement) -> tuple[str, str] | None:
    """Return the values of a unit that both give, where neither gives what the other does."""
    for unit in one.values.keys() & other.values.keys():
        mine, theirs = one.values[unit], other.values[unit]
        if mine.isdisjoint(theirs):
            return f"{', '.join(sorted(mine))} ({unit})", f"{', '.join(sorted(theirs))} ({unit})"
    return None


def _share(one: str, other: str) -> float:
    first, second = stems_of(one), stems_of(other)
    return len(first & second) / (min(len(first), len(second)) or 1)
