"""The answer from numbers alone: the same question on the same tickets always gets the same words."""

from collections.abc import Callable

from tallystick.records import record
from tallystick.rooms.insight.analysis.about import Find, about, not_mentioned
from tallystick.rooms.insight.analysis.comparison import BY, compare, sides_of
from tallystick.rooms.insight.analysis.condition import complexity, customers, quality
from tallystick.rooms.insight.analysis.desk import Desk
from tallystick.rooms.insight.analysis.durations import reassignments, time_to_resolve
from tallystick.rooms.insight.analysis.sentence import Sentence
from tallystick.rooms.insight.analysis.trend import trend
from tallystick.rooms.insight.analysis.volume import cannot, how_many, missing_field, ranking
from tallystick.rooms.insight.figures.facts import EXTRA, TIMES


@record
class Answer:
    """What can be said."""

    sentences: tuple[Sentence, ...]
    answered: bool
    """False: the data do not say it."""


def answer(desk: Desk, *, other: tuple[int, str] | None = None, find: Find | None = None) -> Answer:
    """Answer a question.

    Args:
        desk: The question and the numbers.
        other: Another dataset to compare with: its id and name.
        find: Finds tickets by meaning, where they are embedded.
    """
    refused = _refused(desk)
    if refused:
        return Answer(sentences=tuple(refused), answered=False)
    said = _compared(desk, other) or _numbers(desk) or _words(desk, find)
    if not said:
        said = [*not_mentioned(desk), *overview(desk)]
    answered = not any("cannot be answered" in sentence.text for sentence in said)
    return Answer(sentences=tuple(dict.fromkeys(said)), answered=answered and bool(said))


def overview(desk: Desk) -> list[Sentence]:
    """How many, from when to when, about what."""
    by = "theme" if desk.themes is not None else None
    return [*how_many(desk), *(ranking(desk, by) if by else [])]


def _refused(desk: Desk) -> list[Sentence]:
    """What no ticket can say."""
    asked, total = desk.asked, desk.count(desk.whole)
    if total is None:
        return []
    if not total.value:
        return [cannot(total, "tickets of this dataset say nothing")]
    if "forecast" in asked.wants:
        return [cannot(total, "tickets say what was, and nothing of what will be")]
    if asked.elsewhere is not None:
        return [cannot(total, f"tickets have no field that says {asked.elsewhere}")]
    return []


def _compared(desk: Desk, other: tuple[int, str] | None) -> list[Sentence]:
    several = len(desk.asked.periods) > 1 or any(
        len(values) > 1 for field, values in desk.asked.values if field != "weekday"
    )
    moving = desk.asked.want("trend") and desk.asked.by in {*BY, "theme"} and not desk.asked.topics + desk.asked.values
    if other is None and not several and not desk.asked.want("compare") and not moving:
        return []
    if other is None and not several and desk.asked.want("time", "reassign"):
        return []
    sides = sides_of(desk, other)
    if sides is None:
        undated = desk.count(desk.whole, {"none": "created"})
        return [] if undated is None else [cannot(undated, "undated tickets leave nothing to compare with")]
    by = desk.asked.by
    first = ranking(desk, by) if by is not None and desk.asked.want("top") and not several else []
    return [*first, *compare(desk, *sides)]


def _numbers(desk: Desk) -> list[Sentence]:
    if desk.nothing_heard and not desk.asked.pointed.isdisjoint(desk.asked.topics):
        return about(desk, None)
    for want, tell in _TELLS:
        if want in desk.asked.wants:
            return [*not_mentioned(desk), *tell(desk)]
    by = desk.asked.by
    if by is not None and desk.asked.want("top", "count", "share"):
        filled = desk.themes is not None if by == "theme" else desk.facts.filled(by)
        if not filled and not (by == "theme" and desk.asked.topics):
            return missing_field(desk, by)
        if filled and not (by == "theme" and desk.asked.topics and not desk.asked.want("top")):
            return [*not_mentioned(desk), *ranking(desk, by)]
    return []


def _words(desk: Desk, find: Find | None) -> list[Sentence]:
    asked = desk.asked
    if asked.topics:
        if asked.want("why") or not asked.want("count", "share"):
            return about(desk, find)
        return [*not_mentioned(desk), *([] if desk.nothing_heard else how_many(desk))]
    if asked.want("count", "share") or desk.base != desk.whole:
        return how_many(desk) + (_by_time(desk) if asked.by in TIMES else [])
    if asked.by is not None and (desk.facts.filled(asked.by) or asked.by.startswith(EXTRA)):
        return ranking(desk, asked.by)
    return []


def _by_time(desk: Desk) -> list[Sentence]:
    return ranking(desk, desk.asked.by or "")


_TELLS: tuple[tuple[str, Callable[[Desk], list[Sentence]]], ...] = (
    ("time", time_to_resolve),
    ("reassign", reassignments),
    ("quality", quality),
    ("complexity", complexity),
    ("customers", customers),
    ("trend", trend),
)
"""Tried in this order."""
