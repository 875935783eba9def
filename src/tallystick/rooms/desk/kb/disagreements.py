"""Disagreements between passages: two documents say the same of one thing, but for a figure.

Two sentences are about the same thing when, with their figures taken out, they are near to each other by the embedding
model, or by their words where there is none. They disagree when they give different values in the same unit: of money,
time, dates, shares or sizes. What is not asked for may differ: the nearer two sentences are to the question, the less
like each other they must be. Documents about two of a kind (`manual-x1`, `manual-x2`) say different things by nature.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from tallystick.reading.embedder import Embedder
from tallystick.records import record
from tallystick.rooms.desk.kb.confidence import ScoredPassage
from tallystick.rooms.desk.kb.model import Disagreement
from tallystick.rooms.desk.kb.passages import cells_of
from tallystick.rooms.desk.kb.readable_text import plain
from tallystick.rooms.desk.language.overlap import measures_in, stems_of
from tallystick.text.calendar_names import MONTHS
from tallystick.text.sentences import sentences

FAR = 0.6
"""Passages farther from the question than this share of the nearest are not compared."""
SAME = {"minilm-int8": 0.55, "wordllama-256": 0.7}
"""Likeness from which on two sentences without their figures are about the same thing, by model."""
ASKED = {"minilm-int8": 1.28, "wordllama-256": 1.2}
"""Likeness and nearness to the question together, from which on both say what is asked."""
SAME_WORDS = 0.6
"""The share of common words that stands in for it, of the shorter sentence."""
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\.? (?:{_MONTH})\w*(?: \d{{4}})?|(?:{_MONTH})\w* \d{{1,2}}(?:, \d{{4}})?)\b", re.IGNORECASE
)
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")
_AGE = re.compile(r"\b(?:aged?|age of) (\d{1,3})\b|\b(\d{1,3}) years? (?:old|of age)\b", re.IGNORECASE)
_FREE = re.compile(r"\bfree(?: of charge)?\b|\b(?:without|at no) (?:cost|charge)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"; |: |, (?=and |but )")
_FIGURE = re.compile(r"\d[\d.,:]*")


@record
class _Statement:
    doc: str
    row: str
    """The first cell of a table's row; empty for sentences."""
    masked: str
    """With its figures taken out, below its headings."""
    values: Mapping[str, frozenset[str]]
    """Unit → values."""


Compare = Callable[[_Statement, _Statement], bool]
"""Whether two statements are about the same thing, which was asked for."""


def find_disagreements(
    question: str, passages: Sequence[ScoredPassage], embedder: Embedder | None
) -> Iterator[Disagreement]:
    """Yield the pairs of statements that answer the question and disagree, the nearest first."""
    statements = [one for each in passages if each.score >= FAR for one in _statements(each)]
    pairs = [
        (one, other)
        for one, other in combinations(statements, 2)
        if _comparable(one, other) and _differing(one, other) is not None
    ]
    if not pairs:
        return
    about_same = _by_words(question) if embedder is None else _by_meaning(question, pairs, embedder)
    for one, other in pairs:
        if about_same(one, other) and (values := _differing(one, other)) is not None:
            yield Disagreement(docs=(one.doc, other.doc), values=values)


def _by_words(question: str) -> Compare:
    asked = stems_of(question)

    def about_same(one: _Statement, other: _Statement) -> bool:
        near = bool(asked & stems_of(one.masked) & stems_of(other.masked))
        return near and _share(one.masked, other.masked) >= SAME_WORDS

    return about_same


def _by_meaning(question: str, pairs: Sequence[tuple[_Statement, _Statement]], embedder: Embedder) -> Compare:
    texts = list(dict.fromkeys(each.masked for pair in pairs for each in pair))
    # A story says little of what is asked; its questions do.
    parts = [one for one in sentences(question, wrapped=False) if one.rstrip().endswith("?")]
    asked = embedder.embed([question, *parts])
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    same, together = SAME.get(embedder.name, 1.0), ASKED.get(embedder.name, 2.0)

    def about_same(one: _Statement, other: _Statement) -> bool:
        first, second = vectors[one.masked], vectors[other.masked]
        likeness = float(first @ second)
        return likeness >= same and likeness + float((asked @ ((first + second) / 2)).max()) >= together

    return about_same


def _statements(passage: ScoredPassage) -> Iterator[_Statement]:
    snippet = passage.found.text
    row = cells_of(snippet)[0].casefold() if " | " in snippet else ""
    for clause in _CLAUSE.split(" ".join(plain(snippet).split()).replace(". ", ".; ")):
        values = _values(clause)
        if values:
            masked = " ".join(_FIGURE.sub("", _TIME.sub("", _DATE.sub("", clause))).split())
            yield _Statement(doc=passage.found.name, row=row, masked=masked, values=values)


def _comparable(one: _Statement, other: _Statement) -> bool:
    """Whether two statements are of two documents that are not about two of a kind; rows of tables by their name."""
    return one.doc != other.doc and one.row == other.row and not _are_parallel(one.doc, other.doc)


def _are_parallel(one: str, other: str) -> bool:
    """Whether the names of two documents share a word, and each has one of its own."""
    mine, theirs = (
        frozenset(re.split(r"[\W_]+", name.casefold().rpartition(".")[0].rpartition("/")[2])) for name in (one, other)
    )
    return bool(mine & theirs) and bool(mine - theirs) and bool(theirs - mine)


def _values(sentence: str) -> dict[str, frozenset[str]]:
    dates = frozenset(" ".join(found.group().lower().split()) for found in _DATE.finditer(sentence))
    times = frozenset(found.group() for found in _TIME.finditer(sentence))
    ages = frozenset(found[1] or found[2] for found in _AGE.finditer(sentence))
    rest = measures_in(_AGE.sub("", _TIME.sub("", _DATE.sub("", sentence))))
    if "€" not in rest and _FREE.search(sentence):
        rest["€"] = frozenset({"0"})
    more = {"date": dates, "clock": times, "age": ages}
    return {**rest, **{unit: values for unit, values in more.items() if values}}


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
