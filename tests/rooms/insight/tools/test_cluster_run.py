"""`tool.cluster.run` through the gate."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Caller, Gate, Outcome
from tallystick.rooms.insight.room import Insight
from tests.gates import outcomes
from tests.rooms.insight.cluster.themes import stored, texts, vectors
from tests.rooms.insight.vectors import MODEL

ANALYST = Caller(subject="ann", roles=frozenset({"analyst"}))
VIEWER = Caller(subject="vic", roles=frozenset({"viewer"}))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    (tmp_path / "tallystick.toml").write_text("ledger.durability = 'os'")
    with Gate.open(tmp_path, rooms=["insight"]) as opened:
        yield opened


@pytest.fixture
def dataset_id(gate: Gate) -> int:
    room = insight(gate)
    said, about = texts(15)
    return stored(room.store, said, vectors(about))


def insight(gate: Gate) -> Insight:
    found = gate.room("insight")
    assert isinstance(found, Insight)
    return found


def call(gate: Gate, caller: Caller = ANALYST, **args: Any) -> Outcome:
    return asyncio.run(gate.call("tool.cluster.run", args, caller=caller))


@pytest.mark.promise("insight.cluster-tool")
@pytest.mark.parametrize("algorithm", ["ward", "kmeans", "hdbscan"])
def test_the_answer_has_the_registrys_form(gate: Gate, dataset_id: int, algorithm: str) -> None:
    made = call(gate, dataset_id=dataset_id, algorithm=algorithm).unwrap()
    assert made == {
        "dataset_id": dataset_id,
        "algorithm": algorithm,
        "model_name": MODEL,
        "run_id": 1,
        "silhouette": made["silhouette"],
        "cluster_counts": {"0": 15, "1": 15, "2": 15, "3": 15},
    }
    assert made["silhouette"] > 0.5


@pytest.mark.promise("insight.cluster-tool")
def test_roles_and_audit_are_those_of_the_registry(gate: Gate, dataset_id: int) -> None:
    refused = call(gate, VIEWER, dataset_id=dataset_id, algorithm="ward")
    assert refused.problem()["error"]["category"] == "rbac_denied"
    call(gate, dataset_id=dataset_id, algorithm="ward", params={"n_clusters": 4}).unwrap()
    audits = [found.header["audit"] for found in outcomes(gate) if found.header.get("audit")]
    assert [(one["subject"], one["action"], one["resource"]) for one in audits] == [
        ("ann", "cluster.run", f"dataset:{dataset_id}")
    ]
    assert audits[0]["metadata"] == {"run_id": 1, "algorithm": "ward", "model_name": MODEL, "dataset_id": dataset_id}


@pytest.mark.promise("insight.cluster-bad")
@pytest.mark.parametrize(
    ("args", "category"),
    [
        ({"algorithm": "magic"}, "validation_error"),
        ({"algorithm": "ward", "params": {"n_clusters": 1}}, "validation_error"),
        ({"algorithm": "ward", "params": {"colour": 3}}, "validation_error"),
        ({"algorithm": "kmeans", "params": {"n_clusters": 61}}, "validation_error"),
        ({"algorithm": "hdbscan", "params": {"min_cluster_size": 60}}, "validation_error"),
        ({"algorithm": "ward", "model_name": "no-such-model"}, "validation_error"),
        ({"algorithm": "ward", "dataset_id": 99}, "downstream_error"),
    ],
)
def test_bad_orders_have_their_category_and_leave_no_run(
    gate: Gate, dataset_id: int, args: dict[str, Any], category: str
) -> None:
    found = call(gate, **{"dataset_id": dataset_id, **args})
    assert found.problem()["error"]["category"] == category
    room = insight(gate)
    assert room.store.runs(dataset_id) == []
