"""Counts and times, and what Prometheus reads of them."""

import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tallystick.telemetry.exposition import prometheus_text
from tallystick.telemetry.metrics import BOUNDS_S, MAX_SERIES, DurationHistogram, Metrics
from tests.telemetry.processes import ENVIRONMENT


def families(metrics: Metrics) -> dict[str, dict[tuple[str, ...], float]]:
    """Sample name → label values, in the order of their names → value."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(prometheus_text(metrics).decode()):
        for sample in family.samples:
            labels = tuple(value for _, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


@pytest.mark.promise("telemetry.names")
def test_the_names_and_labels_are_those_of_the_dashboards() -> None:
    metrics = Metrics()
    metrics.request("/api/gate/call", "POST", 200, 0.002)
    metrics.tool_call("tool.search.nn", 0.2)
    metrics.rejection("quote_not_found")
    metrics.embeddings("local-model", 120.5)
    metrics.vector_search(0.01)
    metrics.analysis_tokens(700)
    metrics.required_call("heuristic")
    metrics.required_call("made up")
    found = families(metrics)
    assert found["required_call_count_total"] == {("flag",): 0, ("heuristic",): 1}
    assert found["request_count_total"] == {("/api/gate/call", "POST", "200"): 1}
    assert found["request_latency_seconds_count"] == {("/api/gate/call", "POST", "200"): 1}
    assert found["tool_call_count_total"] == {("tool.search.nn",): 1}
    assert found["tool_latency_seconds_sum"] == {("tool.search.nn",): 0.2}
    assert found["embeddings_throughput"] == {("local-model",): 120.5}
    assert found["vector_search_latency_seconds_count"] == {(): 1}
    assert found["analysis_token_usage_total"] == {(): 700}
    assert found["rejection_count_total"] == {
        ("evidence_invalid",): 0, ("quote_not_found",): 1, ("tool_syntax",): 0, ("cot_leak",): 0, ("format_error",): 0,
    }  # fmt: skip


@pytest.mark.promise("telemetry.names")
def test_an_unused_gate_still_names_everything_it_counts() -> None:
    text = prometheus_text(Metrics()).decode()
    for name in (
        "request_count", "request_latency_seconds", "tool_call_count", "tool_latency_seconds", "rejection_count",
        "embeddings_throughput", "vector_search_latency_seconds", "analysis_token_usage",
    ):  # fmt: skip
        assert f"# TYPE {name}" in text


@given(st.lists(st.floats(0, 100)))
def test_a_histogram_adds_up(times: list[float]) -> None:
    metrics = Metrics()
    for seconds in times:
        metrics.vector_search(seconds)
    found = families(metrics)
    buckets = {labels[0]: value for labels, value in found["vector_search_latency_seconds_bucket"].items()}
    assert found["vector_search_latency_seconds_count"][()] == len(times) == buckets["+Inf"]
    for bound in BOUNDS_S:
        assert buckets[str(bound)] == sum(seconds <= bound for seconds in times)


@pytest.mark.promise("telemetry.bounded")
def test_no_number_of_names_grows_the_memory_without_end() -> None:
    metrics = Metrics()
    for number in range(MAX_SERIES + 50):
        metrics.tool_call(f"tool-{number}", 0.1)
        metrics.request(f"/path/{number}", "GET", 200, 0.1)
        metrics.embeddings(f"model-{number}", 1.0)
    reading = metrics.snapshot()
    assert len(reading.tools) == len(reading.requests) == len(reading.embeddings) == MAX_SERIES + 1
    assert reading.tools["other"].count == 50
    assert reading.requests["other", "GET", 200].count == 50


def test_a_bucket_that_is_none_of_ours_counts_nowhere() -> None:
    metrics = Metrics()
    metrics.rejection("made up by someone")
    assert sum(metrics.snapshot().rejections.values()) == 0


def test_threads_lose_no_count() -> None:
    metrics = Metrics()

    def work() -> None:
        for _ in range(2000):
            metrics.tool_call("t", 0.001)
            metrics.rejection("cot_leak")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.snapshot().tools["t"].count == 8000
    assert metrics.snapshot().rejections["cot_leak"] == 8000


def test_a_reading_does_not_change_afterwards() -> None:
    metrics = Metrics()
    metrics.tool_call("t", 0.1)
    before = metrics.snapshot()
    metrics.tool_call("t", 0.1)
    assert before.tools["t"].count == 1
    assert DurationHistogram().count == 0


@pytest.mark.promise("telemetry.light")
def test_watching_loads_no_telemetry_library_until_one_is_asked_for() -> None:
    program = (
        "import sys, tallystick.telemetry.observer\n"
        "heavy = {'prometheus_client', 'opentelemetry', 'structlog'} & set(sys.modules)\n"
        "print(*sorted(heavy))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (ran.stdout, ran.stderr) == ("\n", "")
