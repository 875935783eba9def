"""What two snippets contradict each other in: a number or a date of one matter, or yes against no."""

import re
from collections.abc import Sequence

from tallystick.rooms.desk.judging.matching import SPELLED, UNIT_STEMS, denies, measures_in, numbers_in, stems_of
from tallystick.rooms.desk.judging.saying import said_in
from tallystick.rooms.desk.judging.telling import Telling

ALIKE = 0.6
"""From this share of common words on, two sentences speak of the same thing."""
ENOUGH = 2
"""Words that two sentences must share to be about one thing."""
_YES_NO = re.compile(r"^\W*(?:can|could|may|is|are|do|does|did|will|would|am|has|have|should)\b", re.IGNORECASE)


def contradict(first: Sequence[Telling], second: Sequence[Telling], *, yes_or_no: bool) -> str | None:
    """What the sentences of two snippets say differently about the same; None: nothing that can be seen.

    Args:
        first: Of one snippet, as far as they answer the question.
        second: Of the other.
        yes_or_no: Whether the question is one.
    """
    for one in first:
        for other in second:
            if not _same_matter(one, other):
                continue
            told = _measures_differ(one.sentence, other.sentence)
            if told is not None:
                return told
            if yes_or_no and denies(one.sentence) != denies(other.sentence):
                return "one says yes, the other no"
    return None


def contradicted(said: Sequence[str], about: Sequence[str], other: str, above: Sequence[str]) -> str | None:
    """What another passage says differently about just what sentences say; None: nothing that can be seen.

    Args:
        said: Sentences that are to be sent.
        about: The headings they stand under.
        other: A passage of another document.
        above: Its headings.
    """
    mine, theirs = _title_of(about), _title_of(above)
    for one in said:
        for another in said_in(other):
            told = _measures_differ(one, another)
            if told is not None and _is_same(one, mine - theirs, another, theirs - mine):
                return told
    return None


def asks_yes_or_no(question: str) -> bool:
    """Whether a question is answered by yes or no."""
    return _YES_NO.match(question) is not None


def _same_matter(one: Telling, other: Telling) -> bool:
    """Both say the same words of the question, and much else alike."""
    if not one.said or one.said != other.said:
        return False
    first, second = stems_of(one.sentence) - UNIT_STEMS, stems_of(other.sentence) - UNIT_STEMS
    common = first & second
    return len(common) > 1 and len(common) / (min(len(first), len(second)) or 1) >= ALIKE


def _is_same(one: str, mine: frozenset[str], other: str, theirs: frozenset[str]) -> bool:
    """Whether two sentences are about one thing: one says nothing that the other does not, but for numbers.

    Where their titles differ (`Gold Account`, `Silver Account`), both must name what one of the documents is about.
    """
    first, second = (stems_of(each) - UNIT_STEMS - numbers_in(each) - SPELLED for each in (one, other))
    both = first & second
    if len(both) < ENOUGH or both not in (first, second):
        return False
    return not (mine or theirs) or not both.isdisjoint(mine | theirs)


def _title_of(headings: Sequence[str]) -> frozenset[str]:
    return stems_of(headings[0]) if headings else frozenset()


def _measures_differ(one: str, other: str) -> str | None:
    first, second = measures_in(one), measures_in(other)
    for unit, value in first.items():
        if unit in second and second[unit] != value:
            return f"{' or '.join(sorted(value))} against {' or '.join(sorted(second[unit]))} ({unit})"
    return None
