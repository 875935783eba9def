"""What several nodes of one workspace share besides the journal: nonces, rates, budgets, held calls, keys."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tallystick import Gate, tool
from tallystick.errors import ConfigError, LedgerUnwritable
from tallystick.gate.session import Caller, Session
from tallystick.settings import Settings, parse_settings
from tests.faults.nodes import first_node, further_node
from tests.ledgers import AUDITOR, fill
from tests.postgres import new_postgres
from tests.sizes import size

RAN: list[str] = []
OWNER = Caller(subject="local", roles=frozenset({"owner", "admin"}), channel="python")


@tool(effect="read")
def look(text: str) -> str:
    """Look something up."""
    return text


@tool(effect="external")
def send(text: str) -> str:
    """Send a text."""
    RAN.append(text)
    return "sent"


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[list[Gate]]:
    """Two gates with folders of their own, and a database in common."""
    database = new_postgres()
    gates: list[Gate] = []
    for number in range(2):
        folder = tmp_path / f"n{number}" / "work"
        folder.mkdir(parents=True)
        if gates:
            copy_keys(gates[0].workspace, folder)
        gate = Gate.open(folder, settings=settings_for(database, tmp_path / f"n{number}"), plugins=False)
        gate.register(look, send)
        gates.append(gate)
    RAN.clear()
    yield gates
    for gate in gates:
        gate.close()


def settings_for(database: str, folder: Path) -> Settings:
    return parse_settings(
        {
            "storage": {"journal": "postgres", "database_url": database, "state_dir": str(folder / "state")},
            "tools": {"look": {"rate": 5}},
            "limits": {"steps": 4},
        }
    )


def copy_keys(first: Path, other: Path) -> None:
    to = other / ".control-room" / "audit"
    to.mkdir(parents=True, mode=0o700)
    for name in ("secret.key", "log.key"):
        shutil.copy2(first / ".control-room" / "audit" / name, to / name)


@pytest.mark.promise("nodes.shared-state")
def test_a_rate_counts_the_calls_of_every_node(nodes: list[Gate]) -> None:
    outcomes = [nodes[number % 2].call_sync("look", {"text": "x"}, session="s") for number in range(8)]
    assert [outcome.ok for outcome in outcomes] == [True] * 5 + [False] * 3
    assert outcomes[-1].rejection is not None
    assert outcomes[-1].rejection.fault.name == "rate"


@pytest.mark.promise("nodes.shared-state")
def test_a_task_spends_one_budget_on_every_node(nodes: list[Gate]) -> None:
    session = Session(session_id="s", caller=OWNER, run_id="run_1")
    said = []
    for number in range(6):
        turn = nodes[number % 2].turn(session=session)
        text = json.dumps({"tool": "look", "args": {"text": "x"}, "nonce": turn.nonce})
        outcome = turn.submit_sync(text)
        said.append("run" if outcome.ok else f"{outcome.rejection} {outcome.failure}")
    assert said[:4] == ["run"] * 4, said
    assert "run" not in said[4:]


@pytest.mark.promise("nodes.shared-state")
def test_a_nonce_is_good_once_and_on_no_other_node(nodes: list[Gate]) -> None:
    turn, other = nodes[0].turn(session="s"), nodes[1].turn(session="s")
    text = json.dumps({"tool": "look", "args": {"text": "x"}, "nonce": turn.nonce})
    assert nodes[1].find_turn(turn.turn_id) is None
    refused = other.submit_sync(text)
    assert refused.rejection is not None
    assert refused.rejection.fault.name == "nonce"
    assert turn.submit_sync(text).ok
    again = turn.submit_sync(text)
    assert again.rejection is not None
    assert again.rejection.fault.name == "nonce"


@pytest.mark.promise("nodes.shared-state")
def test_a_held_call_runs_once_whichever_nodes_are_asked_at_once(nodes: list[Gate]) -> None:
    for number in range(size(5, 100)):
        held = nodes[0].call_sync("send", {"text": f"t{number}"}, session="s")
        assert held.held is not None
        nodes[1].approvals.approve(held.held.approval_id, person="ada", channel="terminal")
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(nodes[at % 2].resume_sync, held.held.approval_id) for at in range(4)]
            ran = [one.result() for one in asked if one.exception() is None]
        assert sum(outcome.ok for outcome in ran) == 1
    assert len(RAN) == len(set(RAN)) == size(5, 100)
    assert verify(nodes[0])


def verify(gate: Gate) -> bool:
    from tallystick.storage.ledger import verify_workspace  # noqa: PLC0415

    return verify_workspace(gate.workspace, gate.settings).ok


@pytest.mark.promise("nodes.keys")
def test_a_node_without_the_keys_appends_nothing(tmp_path: Path) -> None:
    first = first_node(tmp_path / "n0", new_postgres())
    with first.opened() as ledger:
        fill(ledger, 2)
    other = first.__class__(tmp_path / "n1", database=first.database)
    with pytest.raises(ConfigError) as error:
        other.open()
    assert error.value.code == "key_missing"
    assert first.verify().size == 2


@pytest.mark.promise("nodes.keys")
def test_a_node_with_the_keys_before_a_rotation_is_refused_until_it_has_the_new_ones(tmp_path: Path) -> None:
    first = first_node(tmp_path / "n0", new_postgres())
    second = further_node(first, tmp_path / "n1")
    with first.opened() as here, second.opened() as there:
        fill(there, 1)
        here.rotate(session=AUDITOR)
        with pytest.raises(LedgerUnwritable) as error:
            fill(there, 1)
        assert error.value.code == "key_missing"
        fill(here, 1)
        shutil.copytree(first.audit / "keys", second.audit / "keys", dirs_exist_ok=True)
        for name in ("secret.key", "log.key"):
            shutil.copy2(first.audit / name, second.audit / name)
        fill(there, 1)
    report = first.verify()
    assert report.ok, report.problems
    assert second.verify().ok
