"""Counters and histograms, with the names that the product's dashboards use.

A call costs a lock and two additions; `exposition.py` formats a snapshot as Prometheus text.
"""

from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from tallystick.gate.codes import Bucket

Label = TypeVar("Label", bound=Hashable)

BOUNDS_S = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
"""Upper bounds of the histogram buckets: from a gated call without work to the longest timeout."""
MAX_SERIES = 1000
"""Maximum number of series per metric; further ones count as `other`, so that no caller can exhaust memory."""
OTHER = "other"
UNKNOWN_TOOL = "unknown"
"""Label for all unregistered tools: a made-up name must not become a label."""


@dataclass(slots=True)
class DurationHistogram:
    """A histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    """One non-cumulative count per bound, and one for longer durations."""
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one duration."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total += seconds

    def copy(self) -> "DurationHistogram":
        """Return a copy."""
        return DurationHistogram(counts=list(self.counts), total=self.total)

    @property
    def count(self) -> int:
        """Total number of durations."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsSnapshot:
    """Snapshot of all metrics."""

    requests: dict[tuple[str, str, int], DurationHistogram]
    """By endpoint (route template), method and status."""
    tools: dict[str, DurationHistogram]
    rejections: dict[str, int]
    embeddings: dict[str, float]
    """Latest rate by model, in texts per second."""
    vector_search: DurationHistogram
    analysis_tokens: int
    required: dict[str, int]
    """Turns required to begin with a tool call, by what required it."""


class Metrics:
    """Metrics of one process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: dict[tuple[str, str, int], DurationHistogram] = {}
        self._tools: dict[str, DurationHistogram] = {}
        self._rejections: dict[str, int] = dict.fromkeys((str(bucket) for bucket in Bucket), 0)
        self._embeddings: dict[str, float] = {}
        self._vector_search = DurationHistogram()
        self._analysis_tokens = 0
        self._required: dict[str, int] = {"flag": 0, "heuristic": 0}

    def tool_call(self, tool_name: str, seconds: float) -> None:
        """Update `tool_call_count` and `tool_latency_seconds`."""
        with self._lock:
            timing = self._tools.get(tool_name)
            if timing is None:
                timing = _new(self._tools, tool_name, OTHER)
            timing.add(seconds)

    def request(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Update `request_count` and `request_latency_seconds`."""
        key = (endpoint, method, status)
        with self._lock:
            timing = self._requests.get(key)
            if timing is None:
                timing = _new(self._requests, key, (OTHER, method, status))
            timing.add(seconds)

    def rejection(self, bucket: str) -> None:
        """Update `rejection_count`; unknown buckets are ignored."""
        with self._lock:
            if bucket in self._rejections:
                self._rejections[bucket] += 1

    def embeddings(self, model: str, per_second: float) -> None:
        """Update `embeddings_throughput`."""
        with self._lock:
            known = model in self._embeddings or len(self._embeddings) < MAX_SERIES
            self._embeddings[model if known else OTHER] = per_second

    def vector_search(self, seconds: float) -> None:
        """Update `vector_search_latency_seconds`."""
        with self._lock:
            self._vector_search.add(seconds)

    def analysis_tokens(self, count: int) -> None:
        """Update `analysis_token_usage`."""
        with self._lock:
            self._analysis_tokens += count

    def required_call(self, by: str) -> None:
        """Update `required_call_count`; `by` is `flag` or `heuristic`, other values are ignored."""
        with self._lock:
            if by in self._required:
                self._required[by] += 1

    def snapshot(self) -> MetricsSnapshot:
        """Return a snapshot of all metrics."""
        with self._lock:
            return MetricsSnapshot(
                requests={key: timing.copy() for key, timing in self._requests.items()},
                tools={key: timing.copy() for key, timing in self._tools.items()},
                rejections=dict(self._rejections),
                embeddings=dict(self._embeddings),
                vector_search=self._vector_search.copy(),
                analysis_tokens=self._analysis_tokens,
                required=dict(self._required),
            )


def _new(series: dict[Label, DurationHistogram], key: Label, overflow: Label) -> DurationHistogram:
    return series.setdefault(key if len(series) < MAX_SERIES else overflow, DurationHistogram())
