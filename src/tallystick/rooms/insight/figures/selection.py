"""The selection of a query. An unknown parameter makes the query unknown, never a wider selection."""

from calendar import timegm
from collections.abc import Callable, Mapping
from datetime import date

import numpy as np

from tallystick.rooms.insight.figures.facts import EXTRA, FIELDS, NONE, TIMES, Coded, Facts, Mask
from tallystick.rooms.insight.figures.query import is_meant, values_in

LONG_WORDS = 120
"""From here on a ticket counts as long: half a page."""


class UnknownError(Exception):
    """The query cannot be understood."""


def select(facts: Facts, params: Mapping[str, str]) -> Mask:
    """The tickets that satisfy all parameters.

    Raises:
        UnknownError: A parameter, field, grouping or date that is not known.
    """
    mask = facts.all
    for key, value in params.items():
        if key in _IGNORED:
            continue
        mask = mask & _one(facts, key, value, params)
    return mask


_IGNORED = frozenset({"dataset", "run", "by", "value", "of", "m"})
"""These say what is computed, not of which tickets."""


def day_of(text: str) -> int:
    """The first second of a day, epoch."""
    try:
        return timegm(date.fromisoformat(text).timetuple())
    except ValueError:
        raise UnknownError(text) from None


def _one(facts: Facts, key: str, value: str, params: Mapping[str, str]) -> Mask:
    if key in _SPECIAL:
        return _SPECIAL[key](facts, value)
    if key == "cluster":
        return _cluster(facts, value, params.get("run", ""))
    if key in FIELDS or key in TIMES or key.startswith(EXTRA):
        return _in_field(facts, key, value)
    raise UnknownError(key)


def _in_field(facts: Facts, key: str, value: str) -> Mask:
    field = facts.field(key)
    if field is None:
        # A column that this file has not: none of its tickets is meant.
        return ~facts.all
    wanted = values_in(value)
    return field.has(*(name for name in field.names if any(is_meant(name, one) for one in wanted)))


def _cluster(facts: Facts, value: str, run: str) -> Mask:
    clusters = facts.clusters(_number(run))
    if clusters is None:
        raise UnknownError(run)
    if value == "none":
        noise: Mask = clusters == NONE
        return noise
    return np.isin(clusters, [_number(one) for one in values_in(value)])


def _says(facts: Facts, value: str) -> Mask:
    terms = tuple(values_in(value))
    facts.look_for(terms)
    mask = ~facts.all
    for term in terms:
        mask = mask | facts.says(term)
    return mask


def _says_all(facts: Facts, value: str) -> Mask:
    terms = tuple(values_in(value))
    facts.look_for(terms)
    mask = facts.all
    for term in terms:
        mask = mask & facts.says(term)
    return mask


def _none(facts: Facts, value: str) -> Mask:
    if value in _UNSAID:
        return _UNSAID[value](facts)
    field: Coded | None = facts.field(value)
    if field is None:
        raise UnknownError(value)
    unsaid: Mask = field.codes == NONE
    return unsaid


def _yes(value: str) -> bool:
    if value not in {"yes", "no"}:
        raise UnknownError(value)
    return value == "yes"


def _number(value: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 18:  # noqa: PLR2004 - fits in 64 bits
        raise UnknownError(value)
    return int(value)


_UNSAID: dict[str, Callable[[Facts], Mask]] = {
    "created": lambda facts: ~facts.dated,
    "resolved": lambda facts: facts.resolved == NONE,
    "reassigned": lambda facts: facts.reassigned == NONE,
}
_SPECIAL: dict[str, Callable[[Facts, str], Mask]] = {
    "since": lambda facts, value: facts.dated & (facts.created >= day_of(value)),
    "until": lambda facts, value: facts.dated & (facts.created < day_of(value)),
    "says": _says,
    "says_all": _says_all,
    "none": _none,
    "has": lambda facts, value: ~_none(facts, value) if facts.field(value) is not None else ~facts.all,
    "timed": lambda facts, value: ~np.isnan(facts.hours) if _yes(value) else np.isnan(facts.hours),
    "reassigned": lambda facts, value: facts.reassigned >= _number(value),
    "repeated": lambda facts, value: facts.repeated if _yes(value) else ~facts.repeated,
    "long": lambda facts, value: (facts.words >= LONG_WORDS) == _yes(value),
    "complex": lambda facts, value: _complex(facts) == _yes(value),
}


def _complex(facts: Facts) -> Mask:
    """Long, or handed on more than once."""
    return (facts.words >= LONG_WORDS) | (facts.reassigned > 1)
