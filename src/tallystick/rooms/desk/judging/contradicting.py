"""What two snippets contradict each other in: a number or a date of one matter, or yes against no."""

import re
from collections.abc import Sequence

from tallystick.rooms.desk.judging.matching import UNIT_STEMS, denies, measures_in, stems_of
from tallystick.rooms.desk.judging.telling import Telling

ALIKE = 0.6
"""From this share of common words on, two sentences speak of the same thing."""
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


def _measures_differ(one: str, other: str) -> str | None:
    first, second = measures_in(one), measures_in(other)
    for unit, value in first.items():
        if unit in second and second[unit] != value:
            return f"{' or '.join(sorted(value))} against {' or '.join(sorted(second[unit]))} ({unit})"
    return None
