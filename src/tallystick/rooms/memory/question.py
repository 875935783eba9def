"""What a query asks for: words that weigh, and whether it asks for a time or names one."""

import re
from collections.abc import Iterable, Mapping

from tallystick.records import record
from tallystick.rooms.memory.stems import stem, stems

MAX_QUERY = 2_000
"""Characters of a query that are read. What is longer is a document, and its beginning says what it is about."""
MAX_WORDS = 32
"""Distinct words that are looked up; each one costs."""

_STOP = """
a an the is are be am was were been being to of and in on at for with do does did done what when where who whom whose
how which that this these those it its her his hers their theirs she he they i you me my mine your yours we our ours us
him them himself herself themselves as by from or but not no if so than then there here have has had having would could
should will can may might must shall just about into out up down over any some such only own same too very s t don now
also both each few more most other another while during after before why because between through until against again
once ever still
"""
STOP = frozenset(map(stem, _STOP.split()))
"""Words that say nothing of what a text is about."""
_SPELLINGS = {stem(other): stem(one) for other, one in (("favorite", "favourite"), ("color", "colour"))}
"""Predicates have one spelling, so texts and questions are compared in that one too."""

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WHEN = re.compile(
    r"^\W*(?:when|how long|since when|until when)\b|\b(?:what|which) (?:year|month|day|date|time)\b", re.IGNORECASE
)
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_TIMES = """
yesterday today tonight tomorrow last next ago weekend week month year monday tuesday wednesday thursday friday saturday
sunday summer winter spring autumn fall recently since
"""
_TIMED = frozenset(map(stem, [*_TIMES.split(), *(month for month in _MONTHS if month != "may")]))


@record
class Question:
    """A query, read once."""

    text: str
    words: tuple[str, ...]
    """Stems in the order they were asked, each once."""
    asks_when: bool = False
    months: frozenset[int] = frozenset()
    """Months that are named; texts of then are meant, or texts that speak of then."""
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    """Days of the named month."""


def read_question(text: str) -> Question:
    """Read a query; any text is one."""
    text = text[:MAX_QUERY]
    words = tuple(dict.fromkeys(content_words(text)))[:MAX_WORDS]
    # «may» is a month only when it is written as one.
    months = [found.group(1) for found in _MONTH.finditer(text) if found.group(1) != "may"]
    years = frozenset(map(int, _YEAR.findall(text)))
    days = frozenset(day for day in map(int, _DAY.findall(text)) if day) if months else frozenset[int]()
    return Question(
        text=text,
        words=words,
        asks_when=_WHEN.search(text) is not None,
        months=frozenset(_MONTHS.index(month.lower()) + 1 for month in months),
        years=years,
        days=days,
    )


def content_words(text: str) -> list[str]:
    """The stems of a text that say what it is about, in order and with repeats."""
    return [_SPELLINGS.get(word, word) for word in stems(text) if word not in STOP]


def says_when(words: Iterable[str]) -> bool:
    """Whether the words of a text say when something happened."""
    return any(word in _TIMED or (word.isdigit() and _YEAR.fullmatch(word) is not None) for word in words)


def asks(text: str) -> bool:
    """Whether a text holds a question."""
    return "?" in text


def coverage(words: Mapping[str, object], worth: Mapping[str, float], wanted: tuple[str, ...]) -> float:
    """The share of a query's worth that a text's words meet, from 0 to 1."""
    total = sum(worth[word] for word in wanted)
    return sum(worth[word] for word in wanted if word in words) / total if total else 0.0
