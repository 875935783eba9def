"""Formats metrics as Prometheus text.

A module of its own, because importing the Prometheus client takes longer than most commands: import it only to format.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tallystick.telemetry.metrics import BOUNDS_S, DurationHistogram, Metrics

_REQUEST_LABELS = ("endpoint", "method", "status")


class _MetricsCollector(Collector):
    """Collector that reads all metrics at scrape time."""

    def __init__(self, metrics: Metrics, gauges: Mapping[str, float]) -> None:
        self._metrics = metrics
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        snapshot = self._metrics.snapshot()
        requests = [
            ((endpoint, method, str(status)), timing)
            for (endpoint, method, status), timing in snapshot.requests.items()
        ]
        tools = [((name,), timing) for name, timing in snapshot.tools.items()]
        yield _counter("request_count", "Requests answered.", _REQUEST_LABELS, _counted(requests))
        yield _histogram("request_latency_seconds", "Time to answer.", _REQUEST_LABELS, requests)
        yield _counter("tool_call_count", "Calls that came to an outcome.", ("tool_name",), _counted(tools))
        yield _histogram("tool_latency_seconds", "Time from proposal to outcome.", ("tool_name",), tools)
        rejections = [((bucket,), count) for bucket, count in snapshot.rejections.items()]
        yield _counter("rejection_count", "Refusals by telemetry bucket.", ("bucket",), rejections)
        gauge = GaugeMetricFamily("embeddings_throughput", "Texts embedded per second, latest.", labels=("model",))
        for model, rate in snapshot.embeddings.items():
            gauge.add_metric((model,), rate)
        yield gauge
        yield _histogram("vector_search_latency_seconds", "Time to search.", (), [((), snapshot.vector_search)])
        yield _counter("analysis_token_usage", "Tokens used by analyses.", (), [((), snapshot.analysis_tokens)])
        required = [((by,), count) for by, count in snapshot.required.items()]
        yield _counter("required_call_count", "Turns that had to begin with a call.", ("by",), required)
        for name, value in self._gauges.items():
            yield GaugeMetricFamily(name, name.replace("_", " "), value=value)


def prometheus_text(metrics: Metrics, gauges: Mapping[str, float] = MappingProxyType({})) -> bytes:
    """Return the text of `/metrics`, from a private registry, so that metrics of other libraries are excluded.

    Args:
        metrics: The counters and histograms.
        gauges: Values maintained elsewhere, by name.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_MetricsCollector(metrics, gauges))
    return generate_latest(registry)


def _counted(series: Iterable[tuple[tuple[str, ...], DurationHistogram]]) -> list[tuple[tuple[str, ...], int]]:
    return [(labels, timing.count) for labels, timing in series]


def _counter(
    name: str, text: str, labels: tuple[str, ...], series: Iterable[tuple[tuple[str, ...], int]]
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for values, count in series:
        family.add_metric(values, count)
    return family


def _histogram(
    name: str, text: str, labels: tuple[str, ...], series: Iterable[tuple[tuple[str, ...], DurationHistogram]]
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, text, labels=labels)
    for values, timing in series:
        family.add_metric(values, _cumulative(timing), timing.total)
    return family


def _cumulative(timing: DurationHistogram) -> list[tuple[str, float]]:
    added = 0
    buckets: list[tuple[str, float]] = []
    for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), timing.counts, strict=True):
        added += count
        buckets.append((bound, added))
    return buckets
