"""`tool.embed.run`, `tool.search.nn` and `insight.search` through the gate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.execute.progress import LISTENER, Progress
from tallystick.rooms.insight.sample.tickets import sample
from tallystick.settings import Settings
from tallystick.telemetry.exposition import prometheus_text
from tallystick.telemetry.observer import Telemetry


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with opened_in(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """With one dataset that has no vectors, for calls that change nothing."""
    with opened_in(tmp_path_factory.mktemp("untouched")) as opened:
        assert dataset(opened, "few.csv") == 1
        yield opened


def opened_in(folder: Path) -> Gate:
    (folder / "tallystick.toml").write_text("ledger.durability = 'os'")
    (folder / "tickets.csv").write_bytes(sample())
    (folder / "few.csv").write_text("Description,Department,Product\nmy card is late,Cards,App\nthe app is slow,IT,\n")
    telemetry = Telemetry.open(Settings(), control_room=folder / ".control-room")
    return Gate.open(folder, observer=telemetry, rooms=["insight"])


def called(gate: Gate, tool: str, **args: Any) -> Any:
    return gate.call_sync(tool, args)


def dataset(gate: Gate, file: str) -> int:
    taken: int = called(gate, "tool.ingest.upload", file_path=file).unwrap()["dataset_id"]
    return taken


def embedded(gate: Gate, file: str) -> int:
    dataset_id = dataset(gate, file)
    called(gate, "tool.embed.run", dataset_id=dataset_id).unwrap()
    return dataset_id


@pytest.mark.promise("insight.embed-new")
def test_embedding_says_what_it_did_and_how_far_it_is(gate: Gate) -> None:
    dataset_id = dataset(gate, "tickets.csv")
    heard: list[Progress] = []
    token = LISTENER.set(heard.append)
    first = called(gate, "tool.embed.run", dataset_id=dataset_id, batch_size=200).unwrap()
    LISTENER.reset(token)
    room: Any = gate.room("insight")
    rows = room.store.dataset(dataset_id).row_count
    assert first == {
        "dataset_id": dataset_id,
        "model_name": "wordllama-256",
        "backend": "builtin",
        "vector_dim": 256,
        "embedded_count": rows,
        "indexed": True,
    }
    assert [one.done for one in heard][:3] == [0, 200, 400]
    assert (heard[-1].done, heard[-1].total) == (rows, rows)
    assert called(gate, "tool.embed.run", dataset_id=dataset_id).unwrap() == {**first, "embedded_count": 0}


@pytest.mark.promise("insight.search-nearest", "insight.search-filters")
def test_a_search_answers_in_the_closed_form(gate: Gate) -> None:
    dataset_id = embedded(gate, "few.csv")
    found = called(gate, "tool.search.nn", dataset_id=dataset_id, query_text="card", k=1).unwrap()
    (hit,) = found.pop("results")
    assert found == {
        "dataset_id": dataset_id,
        "k": 1,
        "backend": "builtin",
        "model_name": "wordllama-256",
        "rerank": False,
        "rerank_backend": None,
    }
    assert (hit["department"], hit["product"]) == ("Cards", "App")
    assert "card" in hit["summary"], "without a summary of its own, how it begins"
    filtered = called(
        gate, "tool.search.nn", dataset_id=dataset_id, query_text="card", filters={"department": ["IT"]}, rerank=True
    ).unwrap()
    assert ([hit["department"] for hit in filtered["results"]], filtered["k"]) == (["IT"], 10)
    assert filtered["rerank_backend"] == "builtin"


@pytest.mark.promise("insight.search-before", "insight.embed-unknown", "insight.embed-optional")
@pytest.mark.parametrize(
    ("tool", "args", "category"),
    [
        ("tool.search.nn", {"dataset_id": 1, "query_text": "x"}, "downstream_error"),
        ("tool.search.nn", {"dataset_id": 9, "query_text": "x"}, "downstream_error"),
        ("tool.search.nn", {"dataset_id": 2**40, "query_text": "x"}, "downstream_error"),
        ("tool.search.nn", {"dataset_id": 1, "query_text": ""}, "validation_error"),
        ("tool.search.nn", {"dataset_id": 1, "query_text": "x", "k": 0}, "validation_error"),
        ("tool.search.nn", {"dataset_id": 1, "query_text": "x", "filters": {"team": ["a"]}}, "validation_error"),
        ("tool.search.nn", {"dataset_id": 1, "query_text": "x", "rerank_backend": "gpt"}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 9}, "downstream_error"),
        ("tool.embed.run", {"dataset_id": 1, "model_name": "../up"}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 1, "backend": "builtin", "model_name": "bert"}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 1, "backend": "sentence-transformers"}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 1, "backend": "gpt"}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 1, "batch_size": 0}, "validation_error"),
        ("tool.embed.run", {"dataset_id": 1, "model_name": "no-such-owner/no-such-model"}, "tool_unavailable"),
        ("insight.search", {"query": "x", "dataset_id": 1}, "downstream_error"),
        ("insight.search", {"query": "x", "k": 51}, "validation_error"),
    ],
)
def test_what_cannot_be_done_has_its_category_and_leaves_nothing(
    untouched: Gate, tool: str, args: Any, category: str
) -> None:
    outcome = called(untouched, tool, **args)
    assert outcome.problem()["error"]["category"] == category
    room: Any = untouched.room("insight")
    assert room.store.vector_stamps(1) == {}


@pytest.mark.promise("insight.search-rooms")
def test_other_rooms_get_words_that_can_be_cited(gate: Gate) -> None:
    assert called(gate, "insight.search", query="card").unwrap() == {"results": []}
    dataset_id = embedded(gate, "few.csv")
    (hit, _) = called(gate, "insight.search", query="late card").unwrap()["results"]
    assert (hit["text"], hit["dataset_id"], hit["complete"]) == ("my card is late", dataset_id, True)
    room: Any = gate.room("insight")
    prefix, _, number = hit["cite"].partition(":")
    assert hit["text"] in room.records()[prefix](number)
    only = called(gate, "insight.search", query="late card", dataset_id=dataset_id, k=1).unwrap()["results"]
    assert [one["ticket_id"] for one in only] == [hit["ticket_id"]]


@pytest.mark.promise("insight.search-measured")
def test_embedding_and_searching_are_measured(gate: Gate) -> None:
    dataset_id = embedded(gate, "few.csv")
    called(gate, "tool.search.nn", dataset_id=dataset_id, query_text="card").unwrap()
    room: Any = gate.room("insight")
    shown = prometheus_text(room._context.observer.metrics).decode()
    assert 'embeddings_throughput{model="wordllama-256"}' in shown
    assert "vector_search_latency_seconds_count 1.0" in shown
