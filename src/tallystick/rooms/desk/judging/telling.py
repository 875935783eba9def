"""What a snippet says, sentence by sentence, and how much of a question each sentence answers.

A sentence is read under its headings: in a document about the Gold Account, `Monthly fee: $5` is that account's. What a
question calls by a name must stand there as it is written, since of two things with similar names one is not the other;
and what is asked besides the name must be spoken of too.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tallystick.records import record
from tallystick.rooms.desk.judging.matching import numbers_in
from tallystick.rooms.desk.judging.saying import spoken
from tallystick.rooms.desk.kb.words import EMPTY, asked, names_in, relatives, stems

_MEASURES = re.compile(
    r"\b(?:when|how (?:long|much|many|often|soon|old|far|late|early)|what time|"
    r"(?:fee|fees|price|prices|cost|costs|limit|rate|amount|minimum|maximum|number|period|hours|days|weeks))\b",
    re.IGNORECASE,
)
_TIMES = re.compile(r"\b(?:when|how (?:long|soon|late|early)|what time)\b", re.IGNORECASE)
_OF_TIMES = frozenset(stems("times period hours long schedule duration deadline"))
_NO_ANSWER = re.compile(r"\?\W*$|(?<![\w.])I(?:['’](?:m|ve|d|ll))?(?![\w.])|\b(?:my|me|mine)\b|^My\b")  # noqa: RUF001
"""A question tells nothing, and what somebody says of himself (in a ticket, in a memory) answers nobody else."""


@record
class Telling:
    """One sentence, as far as it answers a question."""

    sentence: str
    under: str
    """What leads into it, in the snippet itself."""
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
    heading = about[-1].rpartition(" > ")[2] if about else ""
    for one in spoken(snippet):
        sentence = one.sentence
        if _NO_ANSWER.search(sentence) or not all(_named(name, (*about, one.under, sentence)) for name in want.names):
            continue
        # What stands below a question answers it, whatever its words: `Can I cancel a class?` - `Yes, until noon.`
        question_above = next((each for each in (one.under, heading) if each.endswith("?")), "")
        here = frozenset((*stems(sentence), *stems(question_above)))
        own, held = _held(want.words, here), _held(want.words, here.union(above, stems(one.under)))
        if held:
            share = len(held & want.rest) / len(want.rest) if want.rest else 1.0
            size = len(want.words)
            yield Telling(
                sentence=sentence, under=one.under, said=own, share=share, whole=len(held) / size, own=len(own) / size,
                fits=(want.measures and bool(numbers_in(sentence))) + (want.times and not above.isdisjoint(_OF_TIMES)),
            )  # fmt: skip


def focus(question: str, snippet: str, about: Sequence[str] = ()) -> float:
    """How much of a question the best sentence of a snippet answers, 0 to 1."""
    return round(max((each.share for each in tellings(question, snippet, about)), default=0.0), 4)


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
