"""What a snippet says, sentence by sentence, and how much of a question each sentence answers.

A sentence is read under its headings: in a document about the Gold Account, `Monthly fee: $5` is that account's. What a
question calls by a name must stand there as it is written, since of two things with similar names one is not the other;
and what is asked besides the name must be spoken of too.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tallystick.records import record
from tallystick.rooms.desk.judging.matching import numbers_in, sentences
from tallystick.rooms.desk.kb.words import EMPTY, asked, names_in, relatives, stems

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_])(\S(?:.*?\S)?)\1")
_ITEM = re.compile(r"^(?:(?:[-*•>]|#{1,6}|\d{1,3}[.)])\s+)+")
_MEASURES = re.compile(
    r"\b(?:when|how (?:long|much|many|often|soon|old|far|late|early)|what time|"
    r"(?:fee|fees|price|prices|cost|costs|limit|rate|amount|minimum|maximum|number|period|hours|days|weeks))\b",
    re.IGNORECASE,
)
_TIMES = re.compile(r"\b(?:when|how (?:long|soon|late|early)|what time)\b", re.IGNORECASE)
_OF_TIMES = frozenset(stems("times period hours long schedule duration deadline"))
_NO_ANSWER = re.compile(r"\?\W*$|(?<![\w.])I(?:['’](?:m|ve|d|ll))?(?![\w.])|\b(?:my|me|mine)\b|^My\b")  # noqa: RUF001
"""A question tells nothing, and what somebody says of himself (in a ticket, in a memory) answers nobody else."""
_RULER = re.compile(r"[-: ]*")


@record
class Telling:
    """One sentence, as far as it answers a question."""

    sentence: str
    said: frozenset[str]
    """Words of the question that stand in the sentence itself."""
    share: float
    """Of what is asked besides names, 0 to 1."""
    whole: float
    """Of all words that are asked."""
    own: float
    """Of all words, those that stand in the sentence itself."""
    fits: float
    """Whether it is of the kind that is asked for: a number for how much, under a heading of times for when."""


@record
class _Asked:
    words: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    rest: frozenset[str]
    measures: bool
    """Whether a number or a time is asked for."""
    times: bool
    """Whether a time is asked for."""


def tellings(question: str, snippet: str, about: Sequence[str] = ()) -> Iterator[Telling]:
    """The sentences of a snippet that speak of what a question names.

    Args:
        question: As it was asked.
        snippet: Verbatim.
        about: The headings it stands under: title, section.
    """
    want = _asked(question)
    above = frozenset(stem for heading in about for stem in stems(heading))
    for sentence in said_in(snippet):
        if _NO_ANSWER.search(sentence) or not all(_named(name, (*about, sentence)) for name in want.names):
            continue
        here = frozenset(stems(sentence))
        own, held = _held(want.words, here), _held(want.words, here | above)
        if held:
            share = len(held & want.rest) / len(want.rest) if want.rest else 1.0
            size = len(want.words)
            yield Telling(
                sentence=sentence, said=own, share=share, whole=len(held) / size, own=len(own) / size,
                fits=(want.measures and bool(numbers_in(sentence))) + (want.times and not above.isdisjoint(_OF_TIMES)),
            )  # fmt: skip


def focus(question: str, snippet: str, about: Sequence[str] = ()) -> float:
    """How much of a question the best sentence of a snippet answers, 0 to 1."""
    return round(max((each.share for each in tellings(question, snippet, about)), default=0.0), 4)


def said_in(snippet: str) -> list[str]:
    """Its sentences without what is only there for the eye: headings, marks, the lines of tables."""
    return [plain for line in _lines(snippet) for one in sentences(line) if (plain := _plain(one))]


def _plain(sentence: str) -> str:
    words = _MARKS.sub(r"\2", _LINK.sub(r"\1", sentence)).strip()
    return words if any(map(str.isalnum, words)) else ""


def _lines(snippet: str) -> list[str]:
    """Lines as they are meant: one that only goes on belongs to the one before; a row of a table is a line."""
    lines: list[str] = []
    head: list[str] = []
    goes_on = False
    for raw in snippet.splitlines():
        line = raw.strip()
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not head:
                head = cells
            elif not all(map(_RULER.fullmatch, cells)):
                lines.append(_row(head, cells))
            goes_on = False
            continue
        head = []
        if goes_on and line and not _ITEM.match(line):
            lines[-1] += f" {line}"
        elif line and not line.startswith("#"):
            lines.append(_ITEM.sub("", line))
        goes_on = bool(line) and not line.startswith("#")
    return lines


def _row(head: Sequence[str], cells: Sequence[str]) -> str:
    first, *others = cells
    if len(others) == 1:
        return f"{first}: {others[0]}"
    told = (f"{name} {cell}" for name, cell in zip(head[1:], others, strict=False) if cell)
    return f"{first}: {', '.join(told)}"


def _named(name: tuple[str, ...], texts: Sequence[str]) -> bool:
    """Whether a name stands in one of the texts as it is written, word after word."""
    return any(_run(name) in run for run in map(_run_of, texts))


@lru_cache(maxsize=4096)
def _run_of(text: str) -> str:
    return _run(tuple(word for word in stems(text) if word not in EMPTY))


def _run(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


@lru_cache(maxsize=1024)
def _asked(question: str) -> _Asked:
    words = tuple(asked(question))
    names = tuple(names_in(question))
    rest = frozenset(words) - {word for name in names for word in name}
    measures, times = _MEASURES.search(question) is not None, _TIMES.search(question) is not None
    return _Asked(words=words, names=names, rest=rest, measures=measures, times=times)


def _held(words: Sequence[str], here: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word in here or not here.isdisjoint(relatives(word)))
