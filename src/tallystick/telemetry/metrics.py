"""Counters and histograms, with the names that the product's dashboards use.

A call costs a lock and two additions; Prometheus is imported only when `/metrics` is requested.
"""

from collections.abc import Hashable, Mapping
from threading import Lock
from types import MappingProxyType
from typing import TypeVar

from tallystick.gate.codes import Bucket
from tallystick.telemetry.readings import Reading, Timing

Label = TypeVar("Label", bound=Hashable)

MAX_SERIES = 1000
"""Maximum number of series per metric; further ones count as `other`, so that no caller can exhaust memory."""
OTHER = "other"
UNKNOWN_TOOL = "unknown"
"""Label for all unregistered tools: a made-up name must not become a label."""


class Metrics:
    """Metrics of one process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: dict[tuple[str, str, int], Timing] = {}
        self._tools: dict[str, Timing] = {}
        self._rejections: dict[str, int] = dict.fromkeys((str(bucket) for bucket in Bucket), 0)
        self._embeddings: dict[str, float] = {}
        self._vector_search = Timing()
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

    def read(self) -> Reading:
        """Return a snapshot of all metrics."""
        with self._lock:
            return Reading(
                requests={key: timing.copy() for key, timing in self._requests.items()},
                tools={key: timing.copy() for key, timing in self._tools.items()},
                rejections=dict(self._rejections),
                embeddings=dict(self._embeddings),
                vector_search=self._vector_search.copy(),
                analysis_tokens=self._analysis_tokens,
                required=dict(self._required),
            )

    def exposition(self, gauges: Mapping[str, float] = MappingProxyType({})) -> bytes:
        """Return the Prometheus text of `/metrics`.

        Args:
            gauges: Values maintained elsewhere, by name.
        """
        # Importing the client takes longer than most commands.
        from tallystick.telemetry.exposition import prometheus_text  # noqa: PLC0415 - see above

        return prometheus_text(self, gauges)


def _new(series: dict[Label, Timing], key: Label, overflow: Label) -> Timing:
    return series.setdefault(key if len(series) < MAX_SERIES else overflow, Timing())
