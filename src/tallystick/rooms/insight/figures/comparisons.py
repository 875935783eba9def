"""Comparison measures of two selections, with significance.

The sides are `a.` (before, or the one that is asked about) and `b.`; each names its dataset. A test of one value of a
field (`by=category&value=Refund`) is corrected for all values of that field; `m` says how many other comparisons a
test stands among.
"""

from collections.abc import Callable, Mapping

import numpy as np

from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.measures import Chosen, day_counts, hours_of
from tallystick.rooms.insight.figures.query import Query, is_meant
from tallystick.rooms.insight.figures.selection import UnknownError, select
from tallystick.rooms.insight.figures.significance import (
    Mix,
    Part,
    compare_lists,
    compare_mixes,
    compare_shares,
    effect_of,
    holm,
)

Sides = tuple[Chosen, Chosen]


def parts_of(sides: Sides) -> tuple[Part, Part]:
    """So many of so many on each side: of the value that is named, or of `part.`."""
    query = sides[0].query
    by, value = query.get("by"), query.get("value")
    if by is not None and value is not None:
        counts = tuple(_counts(side, by) for side in sides)
        hits = [sum(many for name, many in each.items() if is_meant(name, value)) for each in counts]
        return Part(hits=hits[0], of=sum(counts[0].values())), Part(hits=hits[1], of=sum(counts[1].values()))
    part = query.side("part.")
    if not part:
        raise UnknownError("part")
    one, other = (Part(hits=int((s.mask & select(s.facts, part)).sum()), of=s.many) for s in sides)
    return one, other


def _counts(side: Chosen, by: str) -> dict[str, int]:
    if by == "cluster":
        clusters = side.facts.clusters(_run_of(side.query))
        if clusters is None:
            raise UnknownError("run")
        names, many = np.unique(clusters[side.mask], return_counts=True)
        return {str(name): int(count) for name, count in zip(names, many, strict=True)}
    field = side.facts.field(by)
    return {} if field is None else field.counts(side.mask)


def _run_of(query: Query) -> int:
    run = query.get("run") or ""
    if not run.isdigit():
        raise UnknownError("run")
    return int(run)


def _difference(sides: Sides) -> float | None:
    one, other = parts_of(sides)
    return 100.0 * (other.share - one.share) if one.of and other.of else None


def _effect(sides: Sides) -> float | None:
    one, other = parts_of(sides)
    return effect_of(other, one) if one.of and other.of else None


def _p_share(sides: Sides) -> float | None:
    one, other = parts_of(sides)
    p = compare_shares(one, other)
    query = sides[0].query
    by, value = query.get("by"), query.get("value")
    if p is None or by is None or value is None:
        return p if p is None else min(1.0, p * int(query.get("m") or 1))
    return next((each for name, each in corrected(sides, by).items() if is_meant(name, value)), 1.0)


def corrected(sides: Sides, by: str) -> dict[str, float]:
    """The p of each value of a field, corrected for their number."""
    before, after = _counts(sides[0], by), _counts(sides[1], by)
    n, m = sum(before.values()), sum(after.values())
    found: dict[str, float] = {}
    for name in before.keys() | after.keys():
        p = compare_shares(Part(hits=before.get(name, 0), of=n), Part(hits=after.get(name, 0), of=m))
        if p is not None:
            found[name] = p
    return holm(found)


def _mix(sides: Sides) -> Mix | None:
    by = sides[0].query.get("by")
    if by is None:
        raise UnknownError("by")
    return compare_mixes(_counts(sides[0], by), _counts(sides[1], by))


def _p_mix(sides: Sides) -> float | None:
    found = _mix(sides)
    return None if found is None else found.p


def _v_mix(sides: Sides) -> float | None:
    found = _mix(sides)
    return None if found is None else found.v


def _p_hours(sides: Sides) -> float | None:
    return compare_lists(hours_of(sides[0]), hours_of(sides[1]))


def _p_per_day(sides: Sides) -> float | None:
    return compare_lists(day_counts(sides[0]), day_counts(sides[1]))


COMPARISONS: dict[str, Callable[[Sides], float | int | None]] = {
    "difference": _difference,
    "effect": _effect,
    "p_share": _p_share,
    "p_mix": _p_mix,
    "v_mix": _v_mix,
    "p_hours": _p_hours,
    "p_per_day": _p_per_day,
}
"""By the name in a query."""


def sides_of(query: Query, facts_of: Callable[[Mapping[str, str]], Facts]) -> Sides:
    """The two selections of a query.

    Args:
        query: With `a.` and `b.`.
        facts_of: Gives the dataset that parameters name.

    Raises:
        UnknownError: A side is missing or cannot be understood.
    """
    one, other = query.side("a."), query.side("b.")
    first, second = facts_of(one), facts_of(other)
    return (
        Chosen(facts=first, mask=select(first, one), query=query, params=one),
        Chosen(facts=second, mask=select(second, other), query=query, params=other),
    )
