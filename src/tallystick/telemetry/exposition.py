"""Formats metrics as Prometheus text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tallystick.telemetry.readings import BOUNDS_S, Reading, Timing

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REQUEST_LABELS = ("endpoint", "method", "status")


class _Source(Protocol):
    def read(self) -> Reading: ...


class _Readings(Collector):
    """Collector that reads all metrics at scrape time."""

    def __init__(self, source: _Source, gauges: Mapping[str, float]) -> None:
        self._source = source
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        reading = self._source.read()
        requests = [
            ((endpoint, method, str(status)), timing) for (endpoint, method, status), timing in reading.requests.items()
        ]
        tools = [((name,), timing) for name, timing in reading.tools.items()]
        yield _counter("request_count", "Requests answered.", _REQUEST_LABELS, _counted(requests))
        yield _histogram("request_latency_seconds", "Time to answer.", _REQUEST_LABELS, requests)
        yield _counter("tool_call_count", "Calls that came to an outcome.", ("tool_name",), _counted(tools))
        yield _histogram("tool_latency_seconds", "Time from proposal to outcome.", ("tool_name",), tools)
        rejections = [((bucket,), count) for bucket, count in reading.rejections.items()]
        yield _counter("rejection_count", "Refusals by telemetry bucket.", ("bucket",), rejections)
        gauge = GaugeMetricFamily("embeddings_throughput", "Texts embedded per second, latest.", labels=("model",))
        for model, rate in reading.embeddings.items():
            gauge.add_metric((model,), rate)
        yield gauge
        yield _histogram("vector_search_latency_seconds", "Time to search.", (), [((), reading.vector_search)])
        yield _counter("analysis_token_usage", "Tokens used by analyses.", (), [((), reading.analysis_tokens)])
        required = [((by,), count) for by, count in reading.required.items()]
        yield _counter("required_call_count", "Turns that had to begin with a call.", ("by",), required)
        for name, value in self._gauges.items():
            yield GaugeMetricFamily(name, name.replace("_", " "), value=value)


def prometheus_text(source: _Source, gauges: Mapping[str, float]) -> bytes:
    """Return the text from a private registry, so that metrics of other libraries are excluded."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Readings(source, gauges))
    return generate_latest(registry)


def _counted(series: Iterable[tuple[tuple[str, ...], Timing]]) -> list[tuple[tuple[str, ...], int]]:
    return [(labels, timing.count) for labels, timing in series]


def _counter(
    name: str, text: str, labels: tuple[str, ...], series: Iterable[tuple[tuple[str, ...], int]]
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=labels)
    for values, count in series:
        family.add_metric(values, count)
    return family


def _histogram(
    name: str, text: str, labels: tuple[str, ...], series: Iterable[tuple[tuple[str, ...], Timing]]
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, text, labels=labels)
    for values, timing in series:
        family.add_metric(values, _cumulative(timing), timing.total)
    return family


def _cumulative(timing: Timing) -> list[tuple[str, float]]:
    added = 0
    buckets: list[tuple[str, float]] = []
    for bound, count in zip((*map(str, BOUNDS_S), "+Inf"), timing.counts, strict=True):
        added += count
        buckets.append((bound, added))
    return buckets
