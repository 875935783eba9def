"""Which sentences of the evidence answer a need: the one that answers most, and those beside it that do nearly as much.

Only such as speak of what the question turns on; where none do, it says what is missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tallystick.records import record
from tallystick.rooms.desk.judging.asking import Spoken, is_beside, unanswered
from tallystick.rooms.desk.judging.case import Shown
from tallystick.rooms.desk.judging.matching import numbers_in
from tallystick.rooms.desk.judging.telling import Telling, tellings

MOST = 4
"""Sentences for one need: an answer, not the document."""
LONGEST = 400
NEAR = 0.75
"""What a further sentence must be worth, in the best one."""
OWN, FOUND, FIRST, FITS = 0.5, 0.5, 0.5, 0.25
"""What counts beside the words that are spoken of: that the sentence itself speaks of them, that the search thinks much
of its passage, how far up it was found, and that it is of the kind that is asked for. Measured, see benchmarks/desk."""


AHEAD = 0.15
"""By how much an answer must be better than another document's that says something else, the place in which the search
found them counted in. Less is a guess."""


@record
class Choice:
    """The answer to one need."""

    sentences: tuple[tuple[str, str], ...]
    """Each with the id of its evidence; none: nothing answers."""
    lacks: str | None = None
    """What the best that was found does not speak of."""
    rivals: tuple[str, str] | None = None
    """Two documents that answer about as well, with different words."""


@record
class _Candidate:
    piece: Shown
    place: int
    told: Telling
    worth: float


def choose(question: str, pieces: Iterable[Shown], threshold: float) -> Choice:
    """The sentences that answer a question.

    Args:
        question: One need.
        pieces: Evidence for it that holds.
        threshold: How much of the question a sentence must speak of.
    """
    return _choose(question, tuple(pieces), threshold)


@lru_cache(maxsize=256)
def _choose(question: str, pieces: tuple[Shown, ...], threshold: float) -> Choice:
    # Several rules and the draft ask for the same choice, one after the other.
    found = [one for piece in pieces for one in _candidates(question, piece) if one.told.share >= threshold]
    lacks: str | None = None
    for best in sorted(found, key=lambda one: -one.worth):
        chosen = _beside(best, found)
        missing = _missing(question, chosen)
        if missing is None:
            said = _spoken(chosen)
            chosen = [one for one in chosen if not is_beside(question, one.told.sentence, said)]
            rival = next((one for one in found if _is_rival(question, one, best, chosen)), None)
            if rival is not None:
                return Choice(sentences=(), rivals=(best.piece.source, rival.piece.source))
            return Choice(sentences=tuple((one.told.sentence, one.piece.evidence_id) for one in chosen))
        lacks = lacks or missing
    return Choice(sentences=(), lacks=lacks)


def _missing(question: str, chosen: Sequence[_Candidate]) -> str | None:
    return unanswered(question, _spoken(chosen))


def _is_rival(question: str, one: _Candidate, best: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    """Whether a sentence of another document would do about as well, and does not give the same numbers."""
    if one.piece.source == best.piece.source or one.worth <= best.worth - AHEAD:
        return False
    given, others = numbers_in(" ".join(each.told.sentence for each in chosen)), numbers_in(one.told.sentence)
    return not (others and others <= given) and _missing(question, [one]) is None


def _spoken(chosen: Sequence[_Candidate]) -> Spoken:
    return Spoken.of([one.piece.about for one in chosen], [(one.told.sentence, one.told.under) for one in chosen])


def _beside(best: _Candidate, found: Sequence[_Candidate]) -> list[_Candidate]:
    """A sentence, and those of its passage that are worth nearly as much, in their order."""
    beside = [one for one in found if one.piece is best.piece and NEAR * best.worth <= one.worth <= best.worth]
    if best.told.own:
        # What only stands under the right heading may say anything.
        beside = [one for one in beside if one.told.own]
    most = sorted(beside, key=lambda one: (one is not best, -one.worth, one.place))[:MOST]
    return sorted(most, key=lambda one: one.place)


def _candidates(question: str, piece: Shown) -> Iterator[_Candidate]:
    for place, told in enumerate(tellings(question, piece.snippet, piece.about)):
        if len(told.sentence) <= LONGEST:
            worth = told.whole + OWN * told.own + FOUND * piece.found + FIRST / (1 + piece.rank)
            worth += FITS * told.fits
            yield _Candidate(piece=piece, place=place, told=told, worth=worth)
