"""Measures of one selection of tickets; None where nothing can be computed."""

from collections.abc import Callable, Mapping

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.figures.facts import EXTRA, NONE, Facts, Mask
from tallystick.rooms.insight.figures.query import Query
from tallystick.rooms.insight.figures.selection import LONG_WORDS, UnknownError, day_of, select

_DAY_S = 86_400
_PERCENT = 100.0


@record
class Chosen:
    """The tickets that a measure is computed of."""

    facts: Facts
    mask: Mask
    query: Query
    params: Mapping[str, str]
    """Of the query, those that chose the tickets."""

    @property
    def many(self) -> int:
        """How many tickets."""
        return int(self.mask.sum())


Measure = Callable[[Chosen], float | int | None]


def _share(chosen: Chosen) -> float | None:
    part = chosen.query.side("part.")
    if not part:
        raise UnknownError("part")
    return _PERCENT * int((chosen.mask & select(chosen.facts, part)).sum()) / chosen.many if chosen.many else None


def _median_hours(chosen: Chosen) -> float | None:
    hours = hours_of(chosen)
    return float(np.median(hours)) if len(hours) else None


def _slow_hours(chosen: Chosen) -> float | None:
    hours = hours_of(chosen)
    return float(np.quantile(hours, 0.9, method="inverted_cdf")) if len(hours) else None


def hours_of(chosen: Chosen) -> "np.typing.NDArray[np.float64]":
    """The times to resolve that are known."""
    hours = chosen.facts.hours[chosen.mask]
    return hours[~np.isnan(hours)]


def _mean_reassignments(chosen: Chosen) -> float | None:
    known = chosen.facts.reassigned[chosen.mask]
    known = known[known != NONE]
    return float(known.mean()) if len(known) else None


def _median_words(chosen: Chosen) -> float | None:
    return float(np.median(chosen.facts.words[chosen.mask])) if chosen.many else None


def _day(chosen: Chosen, *, last: bool) -> int | None:
    days = chosen.facts.created[chosen.mask & chosen.facts.dated]
    if not len(days):
        return None
    day = np.datetime64(int(days.max() if last else days.min()) // _DAY_S, "D")
    return int(str(day).replace("-", ""))


def day_counts(chosen: Chosen) -> "np.typing.NDArray[np.float64]":
    """Tickets on each day: of the days that the query names, else from the dataset's first day to its last."""
    facts, params = chosen.facts, chosen.params
    written = facts.created[facts.dated] // _DAY_S
    if not len(written):
        return np.zeros(0)
    first, last = int(written.min()), int(written.max())
    if "since" in params:
        first = max(first, day_of(params["since"]) // _DAY_S)
    if "until" in params:
        last = min(last, day_of(params["until"]) // _DAY_S - 1)
    if last < first:
        return np.zeros(0)
    days = facts.created[chosen.mask & facts.dated] // _DAY_S
    return np.bincount(days - first, minlength=last - first + 1).astype(np.float64)


def _per_day(chosen: Chosen) -> float | None:
    counts = day_counts(chosen)
    return float(counts.mean()) if len(counts) else None


def _values(chosen: Chosen) -> int:
    field = chosen.facts.field(chosen.query.get("by") or "")
    if field is None:
        raise UnknownError("by")
    return len(field.counts(chosen.mask))


def _mean(chosen: Chosen) -> float | None:
    """Of a column of the file that holds numbers."""
    field = chosen.facts.field(f"{EXTRA}{chosen.query.get('of') or ''}")
    if field is None:
        raise UnknownError("of")
    numbers = numbers_of(field.names)
    if numbers is None:
        raise UnknownError("of")
    codes = field.codes[chosen.mask]
    codes = codes[codes != NONE]
    return float(np.array(numbers)[codes].mean()) if len(codes) else None


def numbers_of(names: tuple[str, ...]) -> list[float] | None:
    """The names as numbers; None: not all of them are."""
    try:
        numbers = [float(name.replace(",", ".")) for name in names]
    except ValueError:
        return None
    return numbers if numbers and all(map(np.isfinite, numbers)) else None


def _repeat_customers(chosen: Chosen) -> int | None:
    field = chosen.facts.field("customer")
    return None if field is None else sum(count > 1 for count in field.counts(chosen.mask).values())


MEASURES: dict[str, Measure] = {
    "tickets": lambda chosen: chosen.many,
    "share": _share,
    "per_day": _per_day,
    "first_day": lambda chosen: _day(chosen, last=False),
    "last_day": lambda chosen: _day(chosen, last=True),
    "median_hours": _median_hours,
    "slow_hours": _slow_hours,
    "mean_reassignments": _mean_reassignments,
    "median_words": _median_words,
    "long_words": lambda _: LONG_WORDS,
    "values": _values,
    "mean": _mean,
    "repeat_customers": _repeat_customers,
    "checksum": lambda chosen: chosen.facts.checksum,
}
"""By the name in a query."""


def measure(facts: Facts, query: Query) -> float | int | None:
    """Compute one.

    Raises:
        UnknownError: There is no such measure, or it is asked wrongly.
    """
    if query.measure not in MEASURES:
        raise UnknownError(query.measure)
    params = query.plain()
    return MEASURES[query.measure](Chosen(facts=facts, mask=select(facts, params), query=query, params=params))
