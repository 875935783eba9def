"""What the pipeline tells telemetry, and what must never get out of it. K10 of the abuse list."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import StatusCode, set_span_in_context

from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS, COT, FAULTS, FORMAT, TIMEOUT, UNKNOWN_TOOL
from tallystick.gate.execute.outcome import Failure, Outcome
from tallystick.gate.record.recorder import Observer
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.settings import Settings, TelemetrySettings
from tallystick.telemetry.exposition import prometheus_text
from tallystick.telemetry.metrics import Metrics
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Rejections
from tallystick.telemetry.tracing import Tracing, open_tracing, summary

SESSION = Session(session_id="s1", agent_id="critic", conference_id="c1")
NAMES = [
    "dataset_id",
    "question",
    "password",
    "PASSWORD",
    "api_key",
    "session_id",
    "pin",
    "text",
    "note_id",
    "ids",
    "n",
]
CARD = Card(
    name="file_reader",
    description="",
    input_schema={"type": "object", "properties": {name: {} for name in NAMES}},
    output_schema={"$ref": "#/$defs/found", "$defs": {"found": {"properties": {"items": {}, "total": {}}}}},
    secrets=("pin",),
)
NOW_NS = 1_750_000_000_000_000_000


class Watch:
    """Telemetry with everything on, and where it all goes."""

    def __init__(self, folder: Path) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        tracer = self.provider.get_tracer("test")
        self.folder = folder
        self.telemetry = Telemetry(
            metrics=Metrics(),
            rejections=Rejections(folder, interval_s=3600),
            tracing=Tracing(
                tracer, secret_names={"Password"}, clock_ns=lambda: NOW_NS, shutdown=self.provider.shutdown
            ),
        )

    def called(self, outcome: Outcome, card: Card | None = CARD, *, cot_leak: bool = False, us: int = 250) -> None:
        observer: Observer = self.telemetry
        observer.called(session=SESSION, outcome=outcome, card=card, cot_leak=cot_leak, duration_us=us)

    def rejections(self) -> dict[str, int]:
        assert self.telemetry.metrics is not None
        counted = self.telemetry.metrics.snapshot().rejections
        kept: dict[str, int] = self.telemetry.rejections.session("s1")["totals"]["rejections"]
        assert kept == counted
        return {bucket: number for bucket, number in counted.items() if number}

    def tools(self) -> dict[str, int]:
        assert self.telemetry.metrics is not None
        return {name: timing.count for name, timing in self.telemetry.metrics.snapshot().tools.items()}

    def span(self) -> ReadableSpan:
        (span,) = self.exporter.get_finished_spans()
        return span

    def everything(self) -> str:
        """All that telemetry keeps or shows."""
        self.telemetry.rejections.flush()
        assert self.telemetry.metrics is not None
        spans = [span.to_json() for span in self.exporter.get_finished_spans()]
        files = [path.read_text() for path in self.folder.rglob("*.json")]
        return "\n".join([prometheus_text(self.telemetry.metrics).decode(), *spans, *files])


@pytest.fixture
def watch(tmp_path: Path) -> Any:
    watching = Watch(tmp_path / "telemetry")
    yield watching
    watching.telemetry.close()


def accepted(args: dict[str, Any] | None = None, result: Any = None) -> Outcome:
    return Outcome(status="accepted", receipt_id="rcpt_1", tool="file_reader", args=args or {}, result=result)


def rejected(fault: Any, tool: str | None = "file_reader", args: Any = None) -> Outcome:
    rejection = Rejection(fault=fault, reason="fixed")
    return Outcome(status="rejected", receipt_id="rcpt_1", tool=tool, args=args, rejection=rejection)


@pytest.mark.promise("telemetry.calls")
def test_every_call_counts_under_its_tool_and_a_made_up_name_under_none(watch: Watch) -> None:
    watch.called(accepted())
    watch.called(rejected(BAD_ARGS))
    watch.called(rejected(UNKNOWN_TOOL, tool="ignore previous instructions"), card=None)
    watch.called(rejected(FORMAT, tool=None), card=None)
    watch.called(Outcome(status="accepted", receipt_id="rcpt_2", final=True), card=None)
    assert watch.tools() == {"file_reader": 2, "unknown": 2}
    assert "ignore previous" not in watch.everything()


@pytest.mark.promise("telemetry.buckets")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_fault_counts_in_the_bucket_of_its_row(watch: Watch, fault: Any) -> None:
    if fault.ran:
        watch.called(Outcome(status="accepted", receipt_id="r", failure=Failure(fault=fault, message="clean")))
    else:
        watch.called(rejected(fault))
    assert watch.rejections() == ({} if fault.bucket is None else {str(fault.bucket): 1})


@pytest.mark.promise("telemetry.buckets")
def test_a_stripped_thinking_block_counts_once_whatever_came_of_the_call(watch: Watch) -> None:
    watch.called(accepted(), cot_leak=True)
    watch.called(rejected(COT), cot_leak=True)
    watch.called(rejected(BAD_ARGS), cot_leak=True)
    watch.called(Outcome(status="accepted", receipt_id="r", final=True), card=None, cot_leak=True)
    assert watch.rejections() == {"cot_leak": 4, "format_error": 1}


@pytest.mark.promise("telemetry.buckets")
def test_a_checked_reply_counts_in_its_bucket_and_a_good_one_nowhere(watch: Watch) -> None:
    watch.telemetry.replied(session=SESSION, bucket="evidence_invalid")
    watch.telemetry.replied(session=SESSION, bucket=None)
    assert watch.rejections() == {"evidence_invalid": 1}


@pytest.mark.promise("telemetry.never-steers")
def test_what_fails_in_telemetry_does_not_reach_the_call(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Metrics):
        def tool_call(self, tool_name: str, seconds: float) -> None:
            raise ZeroDivisionError

        def rejection(self, bucket: str) -> None:
            raise ZeroDivisionError

    watch.telemetry.metrics = Broken()
    watch.called(accepted())
    watch.called(rejected(BAD_ARGS))
    watch.telemetry.replied(session=SESSION, bucket="cot_leak")
    assert len(caplog.records) == 3


@pytest.mark.promise("telemetry.spans")
def test_a_call_leaves_one_span_with_the_seed_s_names_and_the_conventions_beside_them(watch: Watch) -> None:
    watch.called(accepted({"dataset_id": 7, "question": "what is wrong?"}, {"items": [1, 2], "total": 2}))
    span = watch.span()
    assert span.name == "tool.call"
    assert span.end_time == NOW_NS
    assert span.start_time == NOW_NS - 250_000
    assert dict(span.attributes or {}) == {
        "tool_name": "file_reader",
        "args_summary": '{"dataset_id":7,"question":"text(14)"}',
        "result_summary": '{"items":"list(2)","total":2}',
        "tally.status": "accepted",
        gen_ai_attributes.GEN_AI_OPERATION_NAME: gen_ai_attributes.GenAiOperationNameValues.EXECUTE_TOOL.value,
        gen_ai_attributes.GEN_AI_TOOL_NAME: "file_reader",
        gen_ai_attributes.GEN_AI_TOOL_TYPE: "function",
        gen_ai_attributes.GEN_AI_TOOL_CALL_ID: "rcpt_1",
        gen_ai_attributes.GEN_AI_CONVERSATION_ID: "s1",
        gen_ai_attributes.GEN_AI_AGENT_ID: "critic",
    }
    assert span.status.status_code is StatusCode.UNSET


@pytest.mark.promise("telemetry.spans")
def test_a_failed_or_refused_call_is_an_error_by_its_fault_s_name(watch: Watch) -> None:
    failure = Failure(fault=TIMEOUT, message="secret detail that a tool wrote")
    watch.called(Outcome(status="accepted", receipt_id="r", tool="file_reader", args={"a": 1}, failure=failure))
    span = watch.span()
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes is not None
    assert span.attributes["error.type"] == "timeout"
    assert span.attributes["result_summary"] == ""
    assert "secret detail" not in watch.everything()


@pytest.mark.promise("telemetry.spans")
def test_a_span_stands_under_the_caller_s_own(watch: Watch) -> None:
    parent = watch.provider.get_tracer("host").start_span("request")
    token = context.attach(set_span_in_context(parent))
    try:
        watch.called(accepted())
    finally:
        context.detach(token)
    span = watch.span()
    assert span.parent is not None
    assert span.parent.span_id == parent.get_span_context().span_id


SECRETS = {
    "password": "correct-horse-battery",
    "api_key": "sk-proj-abcdefghijklmnopqrstuvwxyz123456",
    "session_id": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLXBhcnQ",
    "pin": "4711-0815-secret",
    "text": "My password is correct-horse-battery, tell nobody",
    "note_id": "a sentence that someone wrote into an id",
}


@pytest.mark.promise("telemetry.no-secrets")
@pytest.mark.parametrize("name", SECRETS)
def test_k10_a_secret_in_arguments_result_or_reason_reaches_neither_metrics_nor_traces_nor_files(
    watch: Watch, name: str
) -> None:
    secret = SECRETS[name]
    watch.called(accepted({name: secret, secret: 1, "list": [secret]}, {name: secret, secret: secret}))
    watch.called(rejected(BAD_ARGS, args={name: secret}))
    watch.called(rejected(UNKNOWN_TOOL, tool=secret, args={name: secret}), card=None)
    watch.called(accepted({"question": [secret]}, secret))
    assert secret not in watch.everything()


@pytest.mark.promise("telemetry.no-secrets")
def test_k10_of_a_secret_name_not_even_the_length_is_told(watch: Watch) -> None:
    watch.called(accepted({"PASSWORD": "12345678", "pin": "1234", "n": 3}))
    assert (watch.span().attributes or {})["args_summary"] == '{"PASSWORD":"redacted","pin":"redacted","n":3}'


@pytest.mark.promise("telemetry.no-secrets")
@pytest.mark.parametrize("value", [SECRETS["api_key"], SECRETS["session_id"], SECRETS["note_id"], SECRETS["password"]])
def test_k10_a_token_or_a_sentence_in_place_of_an_identifier_is_not_told(watch: Watch, value: str) -> None:
    watch.called(accepted({"session_id": value, "ids": [value, 7]}))
    told = json.loads(str((watch.span().attributes or {})["args_summary"]))
    assert told == {"session_id": f"text({len(value)})", "ids": [f"text({len(value)})", 7]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.promise("telemetry.no-secrets")
@given(JSON, st.text(min_size=1))
def test_a_summary_is_short_json_and_never_holds_text(value: Any, text: str) -> None:
    names = frozenset({"question", "more_ids"})
    told = json.loads(summary({"question": text + " " + text, "more_ids": value, text + " ?": 1}, names=names))
    assert set(told) == {"question", "more_ids", "…"}
    assert told["question"] == f"text({2 * len(text) + 1})"
    assert len(json.dumps(told)) < 4000
    json.loads(summary(value, names=names))


def test_a_summary_of_many_names_counts_the_rest() -> None:
    value = {f"name_{number}": number for number in range(100)}
    told = json.loads(summary(value, names=frozenset(value)))
    assert len(told) == 17
    assert told["…"] == 84


def test_identifiers_and_counts_are_told_as_they_are() -> None:
    value = {"run_id": "run:7", "ids": [1, "t-2", "two words"], "datasetId": 9, "limit": 20, "share": 0.5, "ok": True}
    assert json.loads(summary(value, names=frozenset(value))) == {
        "run_id": "run:7", "ids": [1, "t-2", "text(9)"], "datasetId": 9, "limit": 20, "share": "number", "ok": True,
    }  # fmt: skip


@pytest.mark.promise("telemetry.light")
def test_tracing_is_off_unless_asked_for(tmp_path: Path) -> None:
    assert open_tracing(Settings()) is None
    telemetry = Telemetry.open(Settings(), control_room=tmp_path)
    telemetry.called(session=SESSION, outcome=accepted(), card=CARD, cot_leak=False, duration_us=1)
    telemetry.close()
    assert list(tmp_path.iterdir()) == []


def test_without_an_endpoint_spans_go_to_the_surrounding_program() -> None:
    tracing = open_tracing(Settings(telemetry=TelemetrySettings(tracing=True)))
    assert tracing is not None
    tracing.called(session=SESSION, outcome=accepted(), card=CARD, duration_us=1)
    tracing.close()


@pytest.mark.promise("telemetry.spans", "telemetry.no-secrets")
@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_with_an_endpoint_spans_are_sent_there(path: str) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="left out: the tracing part is not installed")
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_port}{path}"
        tracing = open_tracing(Settings(telemetry=TelemetrySettings(tracing=True, otlp_endpoint=endpoint)))
        assert tracing is not None
        tracing.called(session=SESSION, outcome=accepted({"question": "whose secret?"}), card=CARD, duration_us=1)
        tracing.close()
        server.shutdown()
        thread.join()
    ((where, body),) = received
    assert where == "/v1/traces"
    assert b"tool.call" in body
    assert b"whose secret" not in body


def test_an_endpoint_without_the_part_that_sends_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError) as error:
        open_tracing(Settings(telemetry=TelemetrySettings(tracing=True, otlp_endpoint="http://127.0.0.1:4318")))
    assert error.value.code == "tracing_not_installed"


def test_metrics_can_be_switched_off_and_refusals_still_count(tmp_path: Path) -> None:
    telemetry = Telemetry.open(Settings(telemetry=TelemetrySettings(metrics=False)), control_room=tmp_path)
    assert telemetry.metrics is None
    telemetry.called(session=SESSION, outcome=rejected(BAD_ARGS), card=CARD, cot_leak=False, duration_us=1)
    assert telemetry.rejections.totals()["totals"]["rejections"]["format_error"] == 1
    telemetry.close()


@pytest.mark.promise("insight.metrics")
def test_what_rooms_measure_is_exposed_under_its_own_name(tmp_path: Path) -> None:
    metrics = Metrics()
    telemetry = Telemetry(metrics=metrics, rejections=Rejections(tmp_path))
    observer: Observer = telemetry
    observer.measured(what="embeddings_throughput", value=12_000.5, of="wordllama")
    observer.measured(what="vector_search_latency_seconds", value=0.004)
    observer.measured(what="analysis_token_usage", value=1200)
    observer.measured(what="analysis_token_usage", value=34)
    observer.measured(what="somebody's own text", value=1, of="hunter2")
    told = prometheus_text(metrics).decode()
    assert 'embeddings_throughput{model="wordllama"} 12000.5' in told
    assert "vector_search_latency_seconds_count 1.0" in told
    assert "analysis_token_usage_total 1234.0" in told
    assert "hunter2" not in told
    Telemetry(metrics=None, rejections=Rejections(tmp_path)).measured(what="analysis_token_usage", value=1)
