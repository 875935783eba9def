"""Embedding as long work, with a worker in this process."""

from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.app.flows import register_flows
from tallystick.errors import ToolError
from tallystick.rooms.insight.flows import embedding
from tests.durable.conftest import PATIENCE_S, InProcessWorker
from tests.rooms.insight.company import tickets
from tests.rooms.insight.vectors import filled


@pytest.mark.promise("insight.embed-durable")
def test_embedding_runs_on_the_durable_port_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tallystick.toml").write_text("ledger.durability = 'os'")
    monkeypatch.setattr(embedding, "AT_ONCE", 50)
    with Gate.open(tmp_path, rooms=["insight"]) as gate:
        register_flows(gate)
        room: Any = gate.room("insight")
        dataset_id = filled(room.store, tickets(many=120))
        with pytest.raises(ToolError):
            room.searches.start(gate.durable, 99)
        run_id = room.searches.start(gate.durable, dataset_id, batch_size=25)
        assert room.searches.start(gate.durable, dataset_id, batch_size=25) == run_id
        with InProcessWorker(gate.durable):
            ended = gate.durable.wait(run_id, timeout_s=PATIENCE_S)
        assert ended is not None
        assert ended.result == {"dataset_id": dataset_id, "embedded_count": 120, "indexed": True}
        events = [event.data for event in gate.durable.events(run_id)]
        assert [(one["done"], one["total"]) for one in events] == [(50, 120), (100, 120), (120, 120)]
        names = [step.name for step in gate.durable.steps(run_id)]
        assert [name for name in names if name.startswith("tickets")] == ["tickets-1", "tickets-2", "tickets-3"]
        assert room.store.count_without_vector(dataset_id, "wordllama-256") == 0
        assert list(room.searches.find(dataset_id)("refund", 1))
