"""Whether a difference is more than chance. Pure arithmetic; each test says when it does not apply.

two shares       z test of two proportions; Fisher's exact test where fewer than five are expected in a cell
a whole mix      chi-squared; values with fewer than five expected are counted together
two lists        Mann-Whitney, with ties: times to resolve, tickets a day
many at once     Holm's correction
"""

import math
from collections.abc import Mapping, Sequence

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
    """So many of so many."""

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
    if is_exact(one, other):
        return _fisher(one, other)
    pooled = hits / total
    error = math.sqrt(pooled * (1 - pooled) * (1 / one.of + 1 / other.of))
    return math.erfc(abs(one.share - other.share) / error / math.sqrt(2))


def is_exact(one: Part, other: Part) -> bool:
    """Whether two shares are compared by Fisher's test."""
    hits, total = one.hits + other.hits, one.of + other.of
    return min(hits, total - hits) * min(one.of, other.of) < EXPECTED * total


def effect_of(one: Part, other: Part) -> float:
    """Cohen's h: 0.2 is small, 0.5 medium, 0.8 large."""
    return 2 * math.asin(math.sqrt(one.share)) - 2 * math.asin(math.sqrt(other.share))


def holm(given: Mapping[str, float]) -> dict[str, float]:
    """P-values as they are when so many are looked at together."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(given.items(), key=lambda item: (item[1], item[0]))):
        highest = max(highest, min(1.0, p * (len(given) - place)))
        adjusted[name] = highest
    return adjusted


@record
class Mix:
    """How two mixes compare."""

    p: float
    v: float
    """Cramér's V: 0 the same, 1 entirely different."""


def compare_mixes(one: Mapping[str, int], other: Mapping[str, int]) -> Mix | None:
    """Whether the same values are as frequent on both sides; None: too little to say."""
    # The chi-squared function of scipy's smallest part; its statistics take a second to load.
    from scipy.special import chdtrc  # type: ignore[import-untyped] # noqa: PLC0415

    table = _table(one, other)
    if table.shape[1] < 2:  # noqa: PLR2004 - one value has no mix
        return None
    total = table.sum()
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    statistic = float(((table - expected) ** 2 / expected).sum())
    return Mix(p=float(chdtrc(table.shape[1] - 1, statistic)), v=math.sqrt(statistic / float(total)))


def compare_lists(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float | None:
    """The two-sided p of Mann and Whitney; None: too few values."""
    if min(len(one), len(other)) < FEWEST:
        return None
    both = np.concatenate([one, other])
    values, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return 1.0
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    n, m = float(len(one)), float(len(other))
    u = float(ranks[: len(one)].sum()) - n * (n + 1) / 2
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    spread = math.sqrt(n * m / 12 * ((n + m + 1) - ties / ((n + m) * (n + m - 1))))
    return min(1.0, math.erfc(max(0.0, abs(u - n * m / 2) - 0.5) / spread / math.sqrt(2)))


def _fisher(one: Part, other: Part) -> float:
    """All tables with the same sums that are no likelier than this one."""
    hits, total = one.hits + other.hits, one.of + other.of
    lowest, highest = max(0, hits - other.of), min(hits, one.of)
    logs = [_log_choose(one.of, x) + _log_choose(other.of, hits - x) for x in range(lowest, highest + 1)]
    whole, mine = _log_choose(total, hits), logs[one.hits - lowest]
    # Equal tables must not differ by the last bit of a logarithm.
    return min(1.0, math.fsum(math.exp(each - whole) for each in logs if each <= mine + 1e-7))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


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
