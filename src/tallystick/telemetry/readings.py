"""What has been counted, as values."""

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS_S = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
"""Upper bounds of the histograms: from a governed call without work to the longest timeout."""


@dataclass(slots=True)
class Timing:
    """A histogram: how many took how long."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    """One per bound, not yet added up, and one for what took longer."""
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total += seconds

    def copy(self) -> "Timing":
        """As it stands now."""
        return Timing(counts=list(self.counts), total=self.total)

    @property
    def count(self) -> int:
        """How many in all."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Everything counted so far, at one moment."""

    requests: dict[tuple[str, str, int], Timing]
    """By endpoint (template), method, status."""
    tools: dict[str, Timing]
    rejections: dict[str, int]
    embeddings: dict[str, float]
    """By model: the latest rate, texts per second."""
    vector_search: Timing
    analysis_tokens: int
    required: dict[str, int]
    """Turns that had to begin with a call, by what required it."""
