"""Personal data planted in every column of every format, followed to every place that anything of it could reach."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.settings import Settings
from tallystick.telemetry.logs import Masker, set_up_logs
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import call, finish, receipts_in
from tests.rooms.insight.ingest.files import FORMATS
from tests.rooms.insight.ingest.test_planted import COLUMNS, SECRETS, TRACES
from tests.scripted_server import Says, ScriptedServer

TALK = (
    "the app signs me out every few minutes", "my direct debit was taken twice", "the hub is offline and blinks red",
    "where is my refund", "the engineer did not turn up", "I want to cancel my contract",
)  # fmt: skip
ASKED = f"Why does {SECRETS['email']} on {SECRETS['phone']} with {SECRETS['iban']} write from {SECRETS['ip']} about refunds?"


def planted_rows(salt: str) -> list[dict[str, str]]:
    """Each secret in each column once, inside words and alone."""
    rows = []
    for place, column in enumerate(COLUMNS):
        for number, (kind, secret) in enumerate(SECRETS.items()):
            said = f"{TALK[(place + number) % len(TALK)]} {salt}"
            row = {other: f"{other} {place % 4}" for other in COLUMNS}
            row |= {"Number": f"N{place}{kind}{salt}", "Description": said, "Short description": said[:40]}
            # What a customer wrote stands around it where texts stand.
            rows.append(
                row | {column: secret if column not in {"Description", "Short description"} else f"{said} {secret}"}
            )
    return rows


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    # The client is the test's own, and says which addresses it asks for.
    client = logging.getLogger("httpx")
    client.setLevel(logging.WARNING)
    set_up_logs(Settings(), masker=Masker(names=frozenset()), form="json", stream=stream, level=logging.DEBUG)
    yield stream
    root.handlers, root.level = handlers, level
    client.setLevel(logging.NOTSET)


def answered() -> list[Says]:
    """A model that searches, reads the report, and repeats in its answer what it was shown."""
    return [
        call("tool.search.nn", {"dataset_id": 1, "query_text": "who was signed out", "k": 20}),
        call("tool.reports.get", {"dataset_id": 1}, first=False),
        finish(),
        Says(lambda seen: f"Customers are signed out [{'; '.join(f'receipt {one}' for one in receipts_in(seen))}]."),
    ]


@pytest.mark.promise("insight.nowhere")
def test_nothing_personal_is_anywhere(tmp_path: Path, logged: io.StringIO) -> None:
    with ScriptedServer(*answered()) as server:
        endpoint = {"provider": "lmstudio", "model": "scripted", "base_url": server.base_url, "retries": 0}
        door = Doorway(tmp_path / "work", rooms={"insight": {"analyst": endpoint}})
        told = _everything_said(door)
        prompts = json.dumps([seen.body for seen in server.requests])
        receipts = json.dumps([receipt.flat() for receipt in door.receipts()])
        door.close()
    assert server.requests, "the model was never asked"
    kept = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(name.endswith(".db") for name in kept)
    for trace in TRACES:
        assert trace not in told, trace
        assert trace not in prompts, trace
        assert trace not in receipts, trace
        assert trace not in logged.getvalue(), trace
        assert [name for name, data in kept.items() if trace.encode() in data] == [], trace
    # The same customer is still the same in all of them.
    assert "[email:" in prompts
    assert "[email:" in told


def _everything_said(door: Doorway) -> str:
    """All formats in, and every answer that the doors give about them."""
    said: list[str] = []

    def heard(answer: Any) -> Any:
        assert answer.status_code < 500, answer.text
        said.append(answer.text)
        said.append(str(answer.headers))
        return answer

    for number, (name, write) in enumerate(FORMATS.items(), 1):
        file = {"file": (f"{number} {SECRETS['email']} {name}", write(planted_rows(f"no {number}")))}
        taken = heard(door.request("POST", "/ingest/upload", files=file))
        assert taken.status_code == 200
        heard(door.get(f"/ingest/{taken.json()['dataset_id']}"))
    for dataset in (1, 2):
        assert heard(door.post("/embed/run", {"dataset_id": dataset})).status_code == 200
    grouped = heard(door.post("/cluster/run", {"dataset_id": 1, "algorithm": "ward", "params": {"n_clusters": 5}}))
    heard(door.get(f"/cluster/{grouped.json()['run_id']}"))
    heard(door.get("/search/nn", params={"dataset_id": 1, "q": ASKED, "k": 50, "rerank": "true", "department": ASKED}))
    heard(door.get("/search/nn", params={"dataset_id": 1, "q": ASKED, "k": 50}))
    heard(door.get("/search/nn/why", params={"dataset_id": 1, "q": ASKED, "ticket_id": 3}))
    heard(
        door.post(
            "/prompts", {"version": "p", "template": f"{ASKED} {{question}} {{tickets}}", "metadata": {"of": ASKED}}
        )
    )
    heard(door.get("/prompts/p"))
    for more in ({}, {"compare_dataset_id": 2}, {"analyzer_backend": "openai", "prompt_version": "p"}):
        run = heard(door.post("/analysis/run", {"dataset_id": 1, "question": ASKED, **more}))
        assert run.status_code == 200, run.text
        heard(door.get(f"/analysis/{run.json()['analysis_id']}"))
    for path in (
        "/reports/1", "/reports/1/html", "/reports/1/html?compare_dataset_id=2", "/analytics/metrics?dataset_id=1",
        "/history/analyses", "/ingest", "/metrics", "/api/audit/records", "/api/audit/sessions/http/receipts",
        "/cluster/1/assignments",
    ):  # fmt: skip
        heard(door.get(path))
    # Refused, malformed and misdirected, and still not kept.
    heard(door.post("/analysis/run", json.dumps({"dataset_id": 1, "question": ASKED})[:-1]))
    heard(door.post("/analysis/run", {"dataset_id": 1, "question": ASKED, "surprise": ASKED}))
    heard(door.post("/analysis/run", {"dataset_id": 77, "question": ASKED}))
    heard(door.get("/search/nn", params={"dataset_id": 77, "q": ASKED}))
    # By the gate's own route, as agents and other rooms call.
    for tool, args in (
        ("insight.search", {"query": ASKED}), ("insight.search", {"query": ASKED, "k": 0}),
        ("insight.search", {"query": ASKED, ASKED: {"deep": [ASKED]}}),
        ("tool.search.nn", {"dataset_id": 1, "query_text": ASKED, "filters": {"product": [ASKED]}}),
        ("tool.prompts.save", {"version": SECRETS["email"], "template": ASKED, "metadata": {ASKED: [{"by": ASKED}]}}),
    ):  # fmt: skip
        heard(door.call(tool, args))
    return "\n".join(said)
