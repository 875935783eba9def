"""Snapshot types of the metrics."""

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS_S = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
"""Upper bounds of the histogram buckets: from a gated call without work to the longest timeout."""


@dataclass(slots=True)
class Timing:
    """A histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    """One non-cumulative count per bound, and one for longer durations."""
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one duration."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total += seconds

    def copy(self) -> "Timing":
        """Return a copy."""
        return Timing(counts=list(self.counts), total=self.total)

    @property
    def count(self) -> int:
        """Total number of durations."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Snapshot of all metrics."""

    requests: dict[tuple[str, str, int], Timing]
    """By endpoint (route template), method and status."""
    tools: dict[str, Timing]
    rejections: dict[str, int]
    embeddings: dict[str, float]
    """Latest rate by model, in texts per second."""
    vector_search: Timing
    analysis_tokens: int
    required: dict[str, int]
    """Turns required to begin with a tool call, by what required it."""
