"""Significance tests. Each returns None where it does not apply.

two shares       z test of two proportions; Fisher's exact test where fewer than five are expected in a cell
a whole mix      chi-squared; values with fewer than five expected are counted together
two lists        Mann-Whitney, with ties: times to resolve, tickets a day
many at once     Holm's correction
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.records import record

EXPECTED = 5
"""With fewer expected in a cell, the normal distribution is no good guide."""
FEWEST = 8
"""Values on each side that Mann-Whitney's approximation needs."""
LEVEL = 0.05
"""Below it a difference counts as more than chance."""


@record
class Part:
    """A count and its total."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """From 0 to 1; 0 of none."""
        return self.hits / self.of if self.of else 0.0


def compare_shares(one: Part, other: Part) -> float | None:
    """The two-sided p of two shares being the same; None: nothing to compare."""
    if not one.of or not other.of:
        return None
    hits, total = one.hits + other.hits, one.of + other.of
    if hits in {0, total}:
        return 1.0
    table = [[one.hits, one.of - one.hits], [other.hits, other.of - other.hits]]
    if is_exact(one, other):
        return float(_stats().fisher_exact(table).pvalue)
    # Without a correction, chi-squared on four cells is the z test of two proportions.
    return float(_stats().chi2_contingency(table, correction=False).pvalue)


def is_exact(one: Part, other: Part) -> bool:
    """Whether two shares are compared by Fisher's test."""
    hits, total = one.hits + other.hits, one.of + other.of
    return min(hits, total - hits) * min(one.of, other.of) < EXPECTED * total


def effect_of(one: Part, other: Part) -> float:
    """Cohen's h: 0.2 is small, 0.5 medium, 0.8 large."""
    return 2 * math.asin(math.sqrt(one.share)) - 2 * math.asin(math.sqrt(other.share))


def holm(given: Mapping[str, float]) -> dict[str, float]:
    """P-values with Holm's correction for multiple tests."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(given.items(), key=lambda item: (item[1], item[0]))):
        highest = max(highest, min(1.0, p * (len(given) - place)))
        adjusted[name] = highest
    return adjusted


@record
class Mix:
    """The comparison of two distributions."""

    p: float
    v: float
    """Cramér's V: 0 the same, 1 entirely different."""


def compare_mixes(one: Mapping[str, int], other: Mapping[str, int]) -> Mix | None:
    """Whether the same values are as frequent on both sides; None: too little to say."""
    table = _table(one, other)
    if table.shape[1] < 2:  # noqa: PLR2004 - one value has no mix
        return None
    found = _stats().chi2_contingency(table, correction=False)
    return Mix(p=float(found.pvalue), v=math.sqrt(float(found.statistic) / float(table.sum())))


def compare_lists(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float | None:
    """The two-sided p of Mann and Whitney; None: too few values."""
    if min(len(one), len(other)) < FEWEST:
        return None
    if len(np.unique(np.concatenate([one, other]))) == 1:
        return 1.0
    return float(_stats().mannwhitneyu(one, other, method="asymptotic").pvalue)


def _stats() -> Any:
    # It takes a second to load, and most questions compare nothing.
    from scipy import stats  # type: ignore[import-untyped] # noqa: PLC0415

    return stats


def _table(one: Mapping[str, int], other: Mapping[str, int]) -> npt.NDArray[np.float64]:
    """Two rows; rare values are one column together."""
    names = sorted(one.keys() | other.keys())
    n, m = sum(one.values()), sum(other.values())
    if not n or not m:
        return np.zeros((2, 0))
    needed = EXPECTED * (n + m) / min(n, m)
    columns: list[Sequence[int]] = []
    rare: tuple[int, int] = (0, 0)
    for name in names:
        pair = (one.get(name, 0), other.get(name, 0))
        if sum(pair) >= needed:
            columns.append(pair)
        else:
            rare = (rare[0] + pair[0], rare[1] + pair[1])
    if sum(rare) >= needed or (sum(rare) > 0 and len(columns) == 1):
        columns.append(rare)
    return np.array(columns, dtype=np.float64).T if columns else np.zeros((2, 0))
