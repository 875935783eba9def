"""The same tickets in two workspaces: their keys differ, and nothing that is counted does."""

from pathlib import Path

import orjson
import pytest

from tallystick.rooms.insight.pii import unkeyed
from tallystick.rooms.insight.sample.tickets import sample
from tests.gates import open_gate


def told(workspace: Path, tickets: bytes) -> tuple[set[str | None], str]:
    with open_gate(workspace) as gate:
        (workspace / "tickets.csv").write_bytes(tickets)
        gate.call_sync("tool.ingest.upload", {"file_path": "tickets.csv"}).unwrap()
        gate.call_sync("tool.embed.run", {"dataset_id": 1}).unwrap()
        gate.call_sync("tool.cluster.run", {"dataset_id": 1, "algorithm": "ward"}).unwrap()
        store = gate.room("insight").store  # type: ignore[union-attr]
        run = store.runs(1)[0]
        return {ticket.said.customer for ticket in store.tickets(1)}, unkeyed(orjson.dumps(run.figures).decode())


@pytest.mark.promise("insight.same-everywhere")
def test_the_same_tickets_fall_into_the_same_groups_in_every_workspace(tmp_path: Path) -> None:
    head, *rows = sample().splitlines(keepends=True)
    tickets = head + b"".join(rows[::4])
    here, there = told(tmp_path / "here", tickets), told(tmp_path / "there", tickets)
    assert here[0].isdisjoint(there[0]), "placeholders are keyed by the workspace"
    assert here[1] == there[1]


@pytest.mark.promise("insight.same-everywhere", "insight.pii")
def test_what_stands_for_personal_data_names_no_group(tmp_path: Path) -> None:
    head, *rows = sample().splitlines(keepends=True)
    signed = [row.replace(b"meter", b"meter anna@example.org") for row in rows[::4]]
    figures = orjson.loads(told(tmp_path / "here", head + b"".join(signed))[1])
    terms = {term for group in figures["clusters"] for term in group["terms"]}
    assert any("meter" in term for term in terms)
    assert not any("email" in term.split() for term in terms)
