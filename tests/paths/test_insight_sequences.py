"""Insight through its public doors: the seed's offline sequences and error paths, audit, metrics and spans."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tallystick.app.gate import Gate
from tallystick.gate.codes import FAULTS
from tallystick.rooms.insight.sample.tickets import sample
from tallystick.settings import load_settings, parse_settings
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Rejections
from tallystick.telemetry.tracing import Tracing
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.talking import call, finish, receipts_in
from tests.scripted_server import Says, ScriptedServer

ROWS = 260
QUESTION = "What changed between March and April?"
Open = Callable[..., Doorway]


def some_tickets(first: int = 0, many: int = ROWS) -> bytes:
    """Every third ticket of the sample, so that both months are in it."""
    head, *rows = sample().splitlines(keepends=True)
    return b"".join([head, *rows[first::3][:many]])


def upload(door: Doorway, data: bytes, name: str = "tickets.csv", **more: Any) -> int:
    answer = door.request("POST", "/ingest/upload", files={"file": (name, data)}, **more)
    assert answer.status_code == 200, answer.text
    dataset_id: int = answer.json()["dataset_id"]
    return dataset_id


def gathered(door: Doorway, data: bytes | None = None) -> int:
    """A dataset with vectors and groups."""
    dataset_id = upload(door, some_tickets() if data is None else data)
    assert door.post("/embed/run", {"dataset_id": dataset_id}).status_code == 200
    grouped = door.post("/cluster/run", {"dataset_id": dataset_id, "algorithm": "ward", "params": {"n_clusters": 8}})
    assert grouped.status_code == 200, grouped.text
    return dataset_id


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    """A workspace whose dataset 1 has vectors and groups."""
    door = Doorway(tmp_path_factory.mktemp("ready") / "work")
    assert gathered(door) == 1
    yield door
    door.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    doors: list[Doorway] = []

    def make(name: str = "work", **changes: Any) -> Doorway:
        doors.append(Doorway(tmp_path / name, **changes))
        return doors[-1]

    yield make
    for door in doors:
        door.close()


# -- the offline sequence ----------------------------------------------------------------------------------------------


def sequence(door: Doorway, dataset_id: int) -> tuple[Any, Any, Any]:
    """search.nn → analysis.run → reports.get; what they say, without ids and times."""
    found = door.get("/search/nn", params={"dataset_id": dataset_id, "q": "the app signs me out", "k": 5})
    assert found.status_code == 200, found.text
    run = door.post("/analysis/run", {"dataset_id": dataset_id, "question": QUESTION})
    assert run.status_code == 200, run.text
    answer = door.get(f"/analysis/{run.json()['analysis_id']}").json()["answer"]
    report = door.get(f"/reports/{dataset_id}")
    assert report.status_code == 200, report.text
    room: Any = door.gate.room("insight")
    return found.json(), answer, room.analyses.report(dataset_id, now=1_750_000_000).markdown()


@pytest.mark.promise("insight.offline", "insight.routes")
def test_search_analysis_report_offline_say_the_same_in_another_workspace(opened: Open, tmp_path: Path) -> None:
    first = opened("first")
    once = sequence(first, gathered(first))
    # The key decides what placeholders look like; everything else follows from the file.
    key = Path(".control-room", "insight", "placeholders.key")
    (tmp_path / "second" / key.parent).mkdir(parents=True, mode=0o700)
    shutil.copy2(tmp_path / "first" / key, tmp_path / "second" / key)
    second = opened("second")
    again = sequence(second, gathered(second))
    assert once[0] == again[0]
    assert once[1] == again[1]
    assert once[2] == again[2]


@pytest.mark.promise("insight.offline", "insight.routes")
def test_the_answers_have_exactly_the_seed_s_fields(ready: Doorway) -> None:
    found = ready.get(
        "/search/nn?dataset_id=1&q=charged+twice&k=3&department=Billing&department[]=Accounts&rerank=true"
    )
    body = found.json()
    assert body.keys() == {"dataset_id", "k", "backend", "model_name", "rerank", "rerank_backend", "results"}
    assert len(body["results"]) == 3
    assert {hit["department"] for hit in body["results"]} <= {"Billing", "Accounts"}
    assert all(hit.keys() == {"ticket_id", "score", "department", "product", "summary"} for hit in body["results"])
    run = ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION}).json()
    assert run.keys() == {"analysis_id", "dataset_id", "prompt_version", "ticket_count", "created_at"}
    report = ready.get("/reports/1").json()
    assert report.keys() == {"dataset_id", "report_markdown", "analysis_count"}
    assert report["analysis_count"] >= 1
    history = ready.get("/history/analyses?limit=1").json()
    assert history.keys() == {"limit", "offset", "total", "items"}
    assert history["items"][0].keys() == {
        "id",
        "dataset_id",
        "prompt_version",
        "question",
        "ticket_count",
        "created_at",
    }
    embedded = ready.post("/embed/run", {"dataset_id": 1}).json()
    assert embedded.keys() == {"dataset_id", "model_name", "backend", "vector_dim", "embedded_count", "indexed"}
    grouped = ready.post("/cluster/run", {"dataset_id": 1, "algorithm": "kmeans", "params": {"n_clusters": 4}}).json()
    assert grouped.keys() == {"dataset_id", "algorithm", "model_name", "run_id", "silhouette", "cluster_counts"}
    assert sum(grouped["cluster_counts"].values()) == ROWS


@pytest.mark.promise("insight.routes")
def test_what_the_closed_answers_cannot_hold_is_read_beside_them(ready: Doorway) -> None:
    run = ready.post("/cluster/run", {"dataset_id": 1, "algorithm": "ward", "params": {"n_clusters": 6}}).json()
    told = ready.get(f"/cluster/{run['run_id']}").json()
    assert {"labels", "medoids"} <= told.keys() or "clusters" in told
    assert {"stability", "silhouette"} <= told.keys()
    page = ready.get(f"/cluster/{run['run_id']}/assignments?limit=100&offset=200").json()
    assert (page["total"], len(page["items"])) == (ROWS, 60)
    assert all(pair.keys() == {"ticket_id", "cluster_id"} for pair in page["items"])
    why = ready.get("/search/nn/why", params={"dataset_id": 1, "q": "the hub is offline", "ticket_id": 1})
    assert why.status_code == 200, why.text
    charts = ready.get("/analytics/metrics?dataset_id=1").json()
    assert charts["tickets"] == ROWS
    shown = ready.get("/reports/1/html")
    assert shown.headers["content-type"].startswith("text/html")
    assert "script" not in shown.headers["content-security-policy"]
    assert "<svg" in shown.text
    assert "<script" not in shown.text


@pytest.mark.promise("insight.routes")
def test_prompts_are_listed_loaded_saved_and_used(ready: Doorway) -> None:
    saved = ready.post(
        "/prompts", {"version": "v7", "template": "Say it in one sentence. {question}", "metadata": {"by": "ada"}}
    )
    assert (saved.status_code, saved.json()) == (200, {"ok": True})
    assert "v7" in ready.get("/prompts").json()["versions"]
    assert ready.get("/prompts/v7").json() == {
        "version": "v7", "template": "Say it in one sentence. {question}", "metadata": {"by": "ada"},
    }  # fmt: skip
    run = ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION, "prompt_version": "v7"}).json()
    assert run["prompt_version"] == "v7"
    only = ready.get("/history/analyses?prompt_version=v7").json()
    assert [item["id"] for item in only["items"]] == [run["analysis_id"]]
    problem(ready.get("/prompts/none"), 404, "downstream_error")
    problem(
        ready.post("/analysis/run", {"dataset_id": 1, "question": "x", "prompt_version": "none"}),
        404,
        "downstream_error",
    )


# -- error paths -------------------------------------------------------------------------------------------------------

MISSING: list[tuple[str, str, Any]] = [
    ("POST", "/embed/run", {"dataset_id": 77}),
    ("GET", "/search/nn?dataset_id=77&q=x", None),
    ("POST", "/cluster/run", {"dataset_id": 77, "algorithm": "kmeans"}),
    ("POST", "/analysis/run", {"dataset_id": 77, "question": "why?"}),
    ("POST", "/analysis/run", {"dataset_id": 1, "question": "why?", "compare_dataset_id": 77}),
    ("GET", "/reports/77", None),
    ("GET", "/reports/77/html", None),
    ("GET", "/analytics/metrics?dataset_id=77", None),
    ("GET", "/ingest/77", None),
    ("GET", "/cluster/77", None),
    ("GET", "/cluster/77/assignments", None),
    ("GET", "/analysis/77", None),
]
BROKEN: list[tuple[str, str, Any]] = [
    ("POST", "/embed/run", {}),
    ("POST", "/embed/run", {"dataset_id": 1, "surprise": True}),
    ("POST", "/embed/run", {"dataset_id": 1, "backend": "sentence-transformers"}),
    ("POST", "/embed/run", {"dataset_id": 1, "backend": "magic"}),
    ("GET", "/search/nn?dataset_id=1", None),
    ("GET", "/search/nn?dataset_id=1&q=", None),
    ("GET", "/search/nn?dataset_id=1&q=x&k=0", None),
    ("GET", "/search/nn?dataset_id=one&q=x", None),
    ("GET", "/search/nn?dataset_id=1&q=x&rerank=maybe", None),
    ("GET", "/search/nn?dataset_id=1&q=x&rerank_backend=magic", None),
    ("GET", "/search/nn?dataset_id=1&q=x&surprise=1", None),
    ("POST", "/cluster/run", {"dataset_id": 1}),
    ("POST", "/cluster/run", {"dataset_id": 1, "algorithm": "magic"}),
    ("POST", "/cluster/run", {"dataset_id": 1, "algorithm": "kmeans", "params": {"n_clusters": 1}}),
    ("POST", "/cluster/run", {"dataset_id": 1, "algorithm": "kmeans", "params": {"surprise": 1}}),
    ("POST", "/analysis/run", {"dataset_id": 1}),
    ("POST", "/analysis/run", {"dataset_id": 1, "question": ""}),
    ("POST", "/analysis/run", {"dataset_id": 1, "question": "x", "max_tickets": 0}),
    ("POST", "/analysis/run", {"dataset_id": 1, "question": "x", "analyzer_backend": "magic"}),
    ("POST", "/analysis/run", b'{"dataset_id": 1, "dataset_id": 2, "question": "x"}'),
    ("POST", "/analysis/run", b"not json"),
    ("GET", "/reports/none", None),
    ("GET", "/history/analyses?limit=0", None),
    ("GET", "/history/analyses?limit=501", None),
    ("GET", "/history/analyses?offset=-1", None),
    ("GET", "/history/analyses?date_from=yesterday", None),
    ("POST", "/prompts", {"version": "", "template": "x"}),
    ("POST", "/prompts", {"version": "v1"}),
    ("GET", "/analytics/metrics", None),
]


def knock(door: Doorway, method: str, path: str, body: Any) -> Any:
    return door.post(path, body) if method == "POST" else door.request(method, path)


@pytest.mark.promise("insight.problems")
@pytest.mark.parametrize(("method", "path", "body"), MISSING, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_not_there_is_a_downstream_error(ready: Doorway, method: str, path: str, body: Any) -> None:
    details = problem(knock(ready, method, path, body), 404, "downstream_error")
    assert details["hint"]
    assert "77" not in details["endpoint"]


@pytest.mark.promise("insight.problems")
@pytest.mark.parametrize(("method", "path", "body"), BROKEN)
def test_what_does_not_fit_the_schema_is_a_validation_error(ready: Doorway, method: str, path: str, body: Any) -> None:
    problem(knock(ready, method, path, body), 400, "validation_error")


@pytest.mark.promise("insight.problems")
def test_an_unknown_tool_is_a_validation_error(ready: Doorway) -> None:
    answer = ready.call("tool.tickets.delete", {"dataset_id": 1})
    assert (answer.status_code, answer.json()["rejection"]["category"]) == (400, "validation_error")


@pytest.mark.promise("insight.problems")
def test_what_has_to_be_done_first_and_what_is_not_installed_say_so(ready: Doorway) -> None:
    bare = upload(ready, b"body\nnothing was embedded here\nnor here\n", "bare.csv")
    for answer in (
        ready.get(f"/search/nn?dataset_id={bare}&q=x"),
        ready.post("/cluster/run", {"dataset_id": bare, "algorithm": "kmeans"}),
    ):
        assert problem(answer, 409, "downstream_error")["hint"]
    for answer in (
        ready.post(
            "/embed/run", {"dataset_id": 1, "backend": "sentence-transformers", "model_name": "all-MiniLM-L6-v2"}
        ),
        ready.get("/search/nn?dataset_id=1&q=x&rerank=true&rerank_backend=cross-encoder"),
        ready.post("/analysis/run", {"dataset_id": 1, "question": "x", "analyzer_backend": "openai"}),
    ):
        assert problem(answer, 422, "tool_unavailable")["hint"]
    assert ready.get("/search/nn?dataset_id=1&q=x&k=100000").status_code == 200


@pytest.mark.promise("insight.problems")
def test_a_token_budget_that_holds_no_ticket_is_exceeded_and_a_small_one_truncates(ready: Doorway) -> None:
    problem(
        ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION, "token_budget": 1}), 429, "budget_exceeded"
    )
    little = ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION, "token_budget": 300}).json()
    much = ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION, "token_budget": 100_000}).json()
    assert 0 < little["ticket_count"] < much["ticket_count"] == 50
    # Without a model the answer is a query over every ticket, so a small budget leaves nothing out of it.
    assert ready.get(f"/analysis/{little['analysis_id']}").json()["answer"]["truncated"] is False
    assert ready.get(f"/analysis/{much['analysis_id']}").json()["answer"]["truncated"] is False


# -- with a model ------------------------------------------------------------------------------------------------------


def analyst(server: ScriptedServer, **more: Any) -> dict[str, Any]:
    endpoint = {"provider": "lmstudio", "model": "scripted", "base_url": server.base_url, "retries": 0}
    return {"rooms": {"insight": {"analyzer_backend": "openai", "analyst": endpoint}}, **more}


def cited(words: str) -> Says:
    """An answer whose one sentence cites every receipt of the turn."""
    return Says(lambda seen: f"{words} [{'; '.join(f'receipt {one}' for one in receipts_in(seen))}].")


SEARCHES = {"dataset_id": 1, "query_text": "the app signs me out", "k": 2}


@pytest.mark.promise("insight.problems")
def test_at_the_step_limit_the_analysis_is_finished_from_what_it_has_and_marked(opened: Open, tmp_path: Path) -> None:
    with ScriptedServer(
        call("tool.search.nn", SEARCHES),
        call("tool.search.nn", {**SEARCHES, "k": 3}, first=False),
        cited("Customers are signed out"),
    ) as server:
        steps = load_settings(tmp_path, {"TOOL_MAX_STEPS": "1"}).limits
        door = opened(**analyst(server, limits=steps.model_dump(exclude_unset=True)))
        gathered(door)
        done = door.post("/analysis/run", {"dataset_id": 1, "question": QUESTION})
        assert done.status_code == 200, done.text
        answer = door.get(f"/analysis/{done.json()['analysis_id']}").json()["answer"]
        assert answer["truncated"] is True
        refused = [r for r in door.outcomes() if r.header.get("tool_id") == "tool.search.nn" and r.header["outcome"]["status"] == "rejected"]  # fmt: skip
        assert [FAULTS[receipt.header["outcome"]["fault"]].category for receipt in refused] == ["budget_exceeded"]


@pytest.mark.promise("insight.problems")
def test_with_nothing_gathered_and_no_budget_left_it_fails_with_that_category(opened: Open) -> None:
    with ScriptedServer(call("tool.search.nn", SEARCHES), finish(), cited("x")) as server:
        door = opened(**analyst(server, limits={"steps": 0}))
        gathered(door)
        problem(door.post("/analysis/run", {"dataset_id": 1, "question": QUESTION}), 429, "budget_exceeded")
        assert door.get("/history/analyses").json()["total"] == 0


@pytest.mark.promise("insight.problems")
def test_a_model_in_the_closed_world_cannot_call_anything_else(opened: Open) -> None:
    with ScriptedServer(call("tool.prompts.save", {"version": "v1", "template": "x"}), finish(), cited("x")) as server:
        door = opened(**analyst(server))
        gathered(door)
        before = door.get("/prompts/v1").json()
        assert door.post("/analysis/run", {"dataset_id": 1, "question": QUESTION}).status_code != 200
        assert door.get("/prompts/v1").json() == before


# -- audit, metrics, spans ---------------------------------------------------------------------------------------------


@pytest.mark.promise("insight.audit")
def test_analyses_groupings_and_saved_prompts_leave_records_without_text(opened: Open) -> None:
    door = opened(auth=AUTH)
    me = bearer("admin", subject="grace")
    dataset_id = upload(door, some_tickets(), headers=me)
    assert door.post("/embed/run", {"dataset_id": dataset_id}, headers=me).status_code == 200
    grouping = {"dataset_id": dataset_id, "algorithm": "kmeans", "params": {"n_clusters": 3}}
    run = door.post("/cluster/run", grouping, headers=me).json()
    secret = "Who is maren.quill3@example.org, on +44 7700 900123?"
    asked = door.post("/analysis/run", {"dataset_id": dataset_id, "question": secret}, headers=me).json()
    prompt = {
        "version": "v3",
        "template": f"Think of {secret} {{question}}",
        "metadata": {"owner": "maren.quill3@example.org"},
    }
    assert door.post("/prompts", prompt, headers=me).status_code == 200
    found = door.get("/api/audit/records", headers=bearer("auditor"))
    records = {item["action"]: item for item in found.json()["items"]}
    assert {"analysis.run", "cluster.run", "prompts.save"} <= records.keys()
    assert {records[name]["subject"] for name in ("analysis.run", "cluster.run", "prompts.save")} == {"grace"}
    assert records["analysis.run"]["resource"] == f"dataset:{dataset_id}"
    assert records["analysis.run"]["metadata"]["analysis_id"] == asked["analysis_id"]
    assert records["cluster.run"]["metadata"]["run_id"] == run["run_id"]
    assert records["cluster.run"]["metadata"]["algorithm"] == "kmeans"
    assert records["prompts.save"]["resource"] in {"prompts:v3", "prompt:v3"}
    told = found.text + json.dumps([receipt.flat() for receipt in door.receipts()])
    for planted in ("maren.quill3", "900123"):
        assert planted not in told


@pytest.mark.promise("insight.metrics")
def test_the_seed_s_metrics_are_counted(ready: Doorway) -> None:
    ready.get("/search/nn?dataset_id=1&q=x")
    ready.post("/analysis/run", {"dataset_id": 1, "question": QUESTION})
    told = ready.get("/metrics").text
    values = {name: float(value) for name, _, value in (line.rpartition(" ") for line in told.splitlines()) if name and "#" not in name}  # fmt: skip
    assert values["vector_search_latency_seconds_count"] >= 1
    assert values["analysis_token_usage_total"] > 0
    assert [value > 0 for name, value in values.items() if name.startswith("embeddings_throughput{model=")] == [True]
    for tool in ("tool.ingest.upload", "tool.embed.run", "tool.search.nn", "tool.cluster.run", "tool.analysis.run"):
        assert values[f'tool_call_count_total{{tool_name="{tool}"}}'] >= 1
        assert values[f'tool_latency_seconds_count{{tool_name="{tool}"}}'] >= 1
    assert 'request_count_total{endpoint="/search/nn",method="GET",status="200"}' in values


@pytest.mark.promise("insight.tracing")
def test_a_span_tells_counts_and_ids_and_none_of_the_words(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider.get_tracer("test"), shutdown=provider.shutdown)
    telemetry = Telemetry(metrics=None, rejections=Rejections(tmp_path / "telemetry"), tracing=tracing)
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(tmp_path / "state")}})
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "t.csv").write_bytes(some_tickets(many=40))
    with Gate.open(tmp_path / "work", settings=settings, observer=telemetry, rooms=["insight"]) as gate:
        assert gate.call_sync("tool.ingest.upload", {"file_path": "t.csv"}).ok
        assert gate.call_sync("tool.embed.run", {"dataset_id": 1}).ok
        asked = {"dataset_id": 1, "query_text": "where is my refund", "k": 3, "filters": {"department": ["Billing"]}}
        assert gate.call_sync("tool.search.nn", asked).ok
        assert gate.call_sync("tool.analysis.run", {"dataset_id": 1, "question": "where is my refund"}).ok
    spans = {str(span.attributes["tool_name"]): span for span in exporter.get_finished_spans() if span.attributes}
    assert {span.name for span in spans.values()} == {"tool.call"}
    search = spans["tool.search.nn"].attributes
    assert search is not None
    assert json.loads(str(search["args_summary"])) == {
        "dataset_id": 1, "query_text": "text(18)", "k": 3, "filters": "object(1)",
    }  # fmt: skip
    assert json.loads(str(search["result_summary"]))["results"] == "list(3)"
    for span in spans.values():
        assert "refund" not in span.to_json()
        assert "Billing" not in span.to_json()
    telemetry.close()
