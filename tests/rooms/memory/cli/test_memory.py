"""`tally memory status`, `log` and `rebuild`."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally


def propose(tally: Tally, tool: str, **args: object) -> dict[str, str]:
    told = tally("call", tool, json.dumps(args), "--json")
    assert told.code == 0, told.err
    result: dict[str, str] = told.json["result"]
    return result


@pytest.mark.promise("memory.cli")
def test_status_log_and_rebuild(tally: Tally, workspace: Path) -> None:
    seen = [
        propose(
            tally, "record_observation", text=f"Ada lives in Lisbon, {who}.", observed_at="2024-01-01",
            source={"id": who, "class": "human"},
        )["observation_id"]
        for who in ("ben", "cleo")
    ]  # fmt: skip
    given = {"subject": "Ada", "predicate": "is_from", "object": "Lisbon", "volatility": "static"}
    name = propose(tally, "propose_proposition", **given, observation_ids=seen)["proposition_id"]
    status = tally("memory", "status", "--digest", "--json").json
    assert (status["counts"]["propositions"], status["states"]["accepted"]) == (1, 1)
    assert "accepted" in tally("memory", "status").out
    (change,) = tally("memory", "log", name, "--json").json["items"]
    assert (change["rule"], change["after"]) == ("S5-accepted", "accepted")
    assert change["at"] == status["time"]
    assert "2 independent sources" in tally("memory", "log").out
    rebuilt = tally("memory", "rebuild", "--json").json
    assert rebuilt == {"before": status["digest"], "after": status["digest"], "same": True}
    assert status["digest"] in tally("memory", "rebuild").out


@pytest.mark.promise("memory.cli")
def test_an_empty_memory_says_so(tally: Tally, workspace: Path) -> None:
    assert tally("memory", "log").err.strip().endswith("Nothing has changed here.")
    assert tally("memory", "status", "--json").json["counts"]["observations"] == 0
