"""Agents, endpoints, tiers, credits and tasks on disk: nothing half written, nothing lost, nothing silently begun anew."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tallystick.agents.credits import Merit, balances
from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tiers import Move, Result, TierPolicy
from tallystick.errors import ConfigError
from tallystick.storage import credits as credit_files
from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tallystick.storage.journal import disk
from tallystick.storage.tasks import TaskFiles
from tallystick.storage.tiers import Tiers
from tallystick.turns.agent import Agent, Endpoint
from tests.agents.tasks.samples import packet, receipt
from tests.sizes import size
from tests.storage.racing import in_processes
from tests.storage.staffing import credit, keep_packets, work_on_all

GUEST = Agent(agent_id="archivist", name="Archivist", role="archivist", purpose="Finds what was said before.")
MODEL = Endpoint(agent_id="writer", provider="lmstudio", model="qwen", base_url="http://127.0.0.1:1234")


def everything(workspace: Path) -> dict[str, bytes]:
    files = (path for path in workspace.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(workspace)): path.read_bytes() for path in files}


@pytest.mark.promise("agents.defaults")
def test_looking_writes_nothing(tmp_path: Path) -> None:
    assert Registry(tmp_path).load() == Roster()
    assert Registry(tmp_path).get("writer") is not None
    assert Registry(tmp_path).endpoint("writer").provider == "offline"
    assert Tiers(tmp_path).caps_for("writer", "m").tool_actions == 3
    assert Credits(tmp_path).balance("writer") == 0
    assert TaskFiles(tmp_path).packet("ISSUE-7", "pkt_1") is None
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.promise("agents.files")
def test_an_endpoint_that_was_written_under_a_former_name_is_read_and_written_under_the_present_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".control-room" / "agents" / "agent-endpoints.json"
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"version": 1, "endpoints": [{"agent_id": "writer", "provider": "ollama", "model": "m", "speech": "native"}]}'
    )
    assert Registry(tmp_path).endpoint("writer").protocol == "native"
    Registry(tmp_path).change(lambda roster: roster.set_endpoint(replace(MODEL, agent_id="critic")))
    assert b'"protocol": "native"' in file.read_bytes()
    assert b"speech" not in file.read_bytes()


@pytest.mark.promise("agents.files")
def test_a_change_is_there_for_whoever_looks_next_and_in_the_named_files(tmp_path: Path) -> None:
    assert isinstance(Registry(tmp_path).change(lambda roster: roster.add(GUEST)), Roster)
    assert isinstance(Registry(tmp_path).change(lambda roster: roster.set_endpoint(MODEL)), Roster)
    Tiers(tmp_path).record("writer", "qwen", Result.VERIFIED)
    Credits(tmp_path).record(credit("1"))
    assert Registry(tmp_path).get("archivist") == GUEST
    assert Registry(tmp_path).endpoint("writer") == MODEL
    assert everything(tmp_path).keys() == {
        ".control-room/agents/agents.json", ".control-room/agents/agent-endpoints.json",
        ".control-room/agents/tiers.json", ".control-room/credits/credits.json",
    }  # fmt: skip
    for data in everything(tmp_path).values():
        assert json.loads(data)["version"] == 1


@pytest.mark.promise("agents.files")
def test_what_is_refused_changes_nothing(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    problem = registry.change(lambda roster: roster.remove("assistant"))
    assert isinstance(problem, Problem)
    assert problem.code == "chief_mandatory"
    saved = registry.save(Roster(agents=()))
    assert isinstance(saved, Problem)
    assert registry.save(Roster()) == Roster()
    before = everything(tmp_path)
    assert isinstance(registry.change(lambda roster: roster.add(replace(GUEST, role="assistant"))), Problem)
    assert everything(tmp_path) == before


@pytest.mark.promise("agents.endpoint")
@pytest.mark.parametrize("place", ["relative.key", "{workspace}/k", "{workspace}/../{name}/k", "{link}/k"])
def test_a_key_file_inside_the_workspace_is_refused(tmp_path: Path, place: str) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (tmp_path / "link").symlink_to(workspace)
    file = place.format(workspace=workspace, name="work", link=tmp_path / "link")
    problem = Registry(workspace).change(lambda roster: roster.set_endpoint(replace(MODEL, api_key_file=file)))
    assert isinstance(problem, Problem)
    assert problem.code == "key_file_inside"
    outside = replace(MODEL, api_key_file=str(tmp_path / "k"))
    assert isinstance(Registry(workspace).change(lambda roster: roster.set_endpoint(outside)), Roster)


def spoil(workspace: Path, name: str, change: Callable[[dict[str, Any]], Any] | bytes) -> Path:
    path = workspace / ".control-room" / name
    if isinstance(change, bytes):
        path.write_bytes(change)
        return path
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.promise("agents.damage")
@pytest.mark.parametrize(
    ("name", "damage", "code"),
    [
        ("agents/agents.json", b"", "agents_damaged"),
        ("agents/agents.json", b'{"version":1,"agents":[', "agents_damaged"),
        ("agents/agents.json", b'{"version":1,"version":1,"agents":[]}', "agents_damaged"),
        ("agents/agents.json", b'{"version":2,"agents":[]}', "agents_damaged"),
        ("agents/agents.json", b'{"version":1,"agents":{}}', "agents_damaged"),
        ("agents/agents.json", lambda v: v["agents"].pop(0), "agents_damaged"),
        ("agents/agents.json", lambda v: v["agents"][1].update(extra=1), "agents_damaged"),
        ("agents/agents.json", lambda v: v["agents"].append(v["agents"][1]), "agents_damaged"),
        ("agents/agent-endpoints.json", b"\xff\xfe", "endpoints_damaged"),
        ("agents/agent-endpoints.json", lambda v: v["endpoints"][0].update(api_key="sk-1"), "endpoints_damaged"),
        ("agents/agent-endpoints.json", lambda v: v["endpoints"].append(v["endpoints"][0]), "endpoints_damaged"),
        ("agents/tiers.json", lambda v: v["policy"].update(promote_after=0), "tiers_damaged"),
        ("agents/tiers.json", lambda v: v["standings"][0].update(tier=0), "tiers_damaged"),
        ("agents/tiers.json", lambda v: v.update(more=1), "tiers_damaged"),
        ("credits/credits.json", lambda v: v["events"][0].update(points=100), "credits_damaged"),
        ("credits/credits.json", lambda v: v["events"][0].update(given_by="writer"), "credits_damaged"),
        ("credits/credits.json", lambda v: v.update(opening={"writer": 1.5}), "credits_damaged"),
        ("credits/credits.json", lambda v: v.pop("put_away"), "credits_damaged"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_and_never_written_over(tmp_path: Path, name: str, damage: Any, code: str) -> None:
    actions: list[Callable[[], Any]] = [
        lambda: Registry(tmp_path).change(lambda roster: roster.add(GUEST)),
        lambda: Registry(tmp_path).change(lambda roster: roster.set_endpoint(MODEL)),
        lambda: Tiers(tmp_path).record("writer", "m", Result.FAILED),
        lambda: Tiers(tmp_path).set_policy(TierPolicy()),
        lambda: Credits(tmp_path).record(credit("1")),
    ]
    for action in actions:
        action()
    spoiled = spoil(tmp_path, name, damage)
    before = spoiled.read_bytes()
    errors: list[ConfigError] = []
    for action in (*actions, Registry(tmp_path).load, Tiers(tmp_path).load, Credits(tmp_path).load):
        try:
            action()
        except ConfigError as error:
            errors.append(error)
    assert {error.code for error in errors} == {code}
    assert all(spoiled.name in str(error) for error in errors)
    assert spoiled.read_bytes() == before


@pytest.mark.promise("agents.damage")
def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    Registry(tmp_path).save(Roster())
    path = tmp_path / ".control-room" / "agents" / "agents.json"
    elsewhere = tmp_path / "elsewhere.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(ConfigError) as caught:
        Registry(tmp_path).load()
    assert caught.value.code == "agents_damaged"


@pytest.mark.promise("agents.files")
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Registry(tmp_path).save(Roster())
    Credits(tmp_path).record(credit("1"))
    TaskFiles(tmp_path).keep_packet(packet())
    before = everything(tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "fsync", full)
    for action in (
        lambda: Registry(tmp_path).change(lambda roster: roster.add(GUEST)),
        lambda: Credits(tmp_path).record(credit("2")),
        lambda: TaskFiles(tmp_path).keep_packet(packet(packet_id="pkt_2")),
    ):
        with pytest.raises(ConfigError) as caught:
            action()
        assert caught.value.code == "control_room_unwritable"
    monkeypatch.undo()
    assert everything(tmp_path) == before
    assert not list(tmp_path.rglob("*.part"))
    assert isinstance(Registry(tmp_path).change(lambda roster: roster.add(GUEST)), Roster)


def test_an_endpoint_whose_agent_is_gone_is_passed_over(tmp_path: Path) -> None:
    Registry(tmp_path).change(lambda roster: roster.set_endpoint(MODEL))
    spoil(
        tmp_path, "agents/agents.json", lambda v: v.update(agents=[a for a in v["agents"] if a["agent_id"] != "writer"])
    )
    assert Registry(tmp_path).load().endpoints == ()


@pytest.mark.promise("agents.tier-per-model")
def test_a_tier_belongs_to_an_agent_with_a_model(tmp_path: Path) -> None:
    tiers = Tiers(tmp_path)
    moves = [tiers.record("writer", "small", Result.AT_CAP)[1] for _ in range(5)]
    assert moves == [Move.COUNT] * 4 + [Move.UP]
    assert tiers.caps_for("writer", "small").tool_actions == 4
    assert tiers.caps_for("writer", "large").tool_actions == 3
    assert tiers.caps_for("critic", "small").tool_actions == 3
    tiers.set_policy(TierPolicy(top_tier=1))
    assert tiers.caps_for("writer", "small").tool_actions == 3
    assert tiers.load().standing("writer", "small").tier == 2


@pytest.mark.promise("agents.credit-once")
def test_what_a_receipt_shows_is_credited_once(tmp_path: Path) -> None:
    credits_ = Credits(tmp_path)
    first = credits_.record(credit("1"))
    assert credits_.record(replace(credit("1"), event_id="crd_other")) == first
    assert credits_.balance("writer") == 2
    assert credits_.record(replace(credit("1"), merit=Merit.PROPOSAL_ACCEPTED)) != first
    assert credits_.balance("writer") == 5


@pytest.mark.promise("agents.credit-self")
def test_an_event_by_the_agent_itself_is_not_written(tmp_path: Path) -> None:
    refused = Credits(tmp_path).record(replace(credit("1"), given_by="writer"))
    assert isinstance(refused, Problem)
    assert refused.code == "credit_to_oneself"
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.promise("agents.credit-balance")
def test_a_balance_in_the_file_is_not_believed(tmp_path: Path) -> None:
    Credits(tmp_path).record(credit("1"))
    spoil(tmp_path, "credits/credits.json", lambda v: v["balances"].update(writer=1_000_000))
    assert Credits(tmp_path).balance("writer") == 2


@pytest.mark.promise("agents.credit-balance")
def test_a_long_history_is_put_away_and_still_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credit_files, "MOST_EVENTS", 4)
    credits_ = Credits(tmp_path)
    for number in range(13):
        credits_.record(credit(str(number), "writer" if number % 2 else "critic"))
    assert credits_.load().balances() == {"critic": 14, "writer": 12}
    assert len(credits_.load().events) <= 4
    history = credits_.history()
    assert [event.receipt_id for event in history] == [f"rcpt_{number}" for number in range(13)]
    assert balances(history) == credits_.load().balances()


@pytest.mark.promise("agents.processes")
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    count, rounds = 3, size(8, 40)
    added = in_processes(work_on_all, count, tmp_path, rounds)
    assert sum(added) == min(count * rounds, 94)
    assert len(Registry(tmp_path).list()) == 6 + sum(added)
    assert Credits(tmp_path).load().balances() == {"writer": 2 * count * rounds, "critic": 2 * rounds}
    assert Tiers(tmp_path).load().standing("writer", "m").tasks == count * rounds


@pytest.mark.promise("tasks.kept")
def test_packets_and_receipts_lie_with_their_issue_and_come_back_as_they_were(tmp_path: Path) -> None:
    files = TaskFiles(tmp_path)
    assert files.keep_packet(packet()) is None
    assert files.keep_receipt(receipt(), packet(), reply="It works.\nEvidence: …") is None
    assert files.packet("ISSUE-7", "pkt_1") == packet()
    assert files.receipt("ISSUE-7", "trc_1") == receipt()
    assert files.receipt_ids("ISSUE-7") == ["trc_1"]
    assert everything(tmp_path).keys() == {
        f".control-room/audit/issues/ISSUE-7/{name}"
        for name in ("packets/pkt_1.json", "task-receipts/trc_1.json", "task-replies/trc_1.md")
    }


@pytest.mark.promise("tasks.kept")
def test_what_was_kept_does_not_change(tmp_path: Path) -> None:
    files = TaskFiles(tmp_path)
    files.keep_packet(packet())
    assert files.keep_packet(packet()) is None
    problem = files.keep_packet(packet(intent="edit_scene"))
    assert problem is not None
    assert problem.code == "task_exists"
    assert files.packet("ISSUE-7", "pkt_1") == packet()


@pytest.mark.promise("tasks.kept")
def test_of_processes_that_keep_different_packets_of_one_id_one_wins(tmp_path: Path) -> None:
    won = in_processes(keep_packets, 3, tmp_path, "mine")
    assert sum(won) == 1


@pytest.mark.promise("tasks.contract")
def test_a_receipt_that_does_not_answer_its_packet_is_not_kept(tmp_path: Path) -> None:
    files = TaskFiles(tmp_path)
    for wrong in ({"packet_id": "pkt_9"}, {"issue_id": "other"}, {"outputs_produced": ["critique", "a novel"]}):
        problem = files.keep_receipt(receipt(**wrong), packet())
        assert problem is not None
        assert problem.code == "task_receipt_invalid"
    assert list(tmp_path.rglob("*.json")) == []


def test_ids_that_are_no_names_lead_nowhere(tmp_path: Path) -> None:
    files = TaskFiles(tmp_path)
    assert files.packet("../..", "pkt_1") is None
    assert files.packet("ISSUE-7", "../pkt_1") is None
    assert files.receipt("a/b", "c") is None
    assert files.receipt_ids("..") == []


@pytest.mark.promise("tasks.kept")
@pytest.mark.parametrize("damage", [b"", b"{", b'{"packet_id":"pkt_1"}'])
def test_a_damaged_task_is_named_as_such(tmp_path: Path, damage: bytes) -> None:
    files = TaskFiles(tmp_path)
    files.keep_packet(packet())
    files.keep_receipt(receipt(), packet())
    issue = tmp_path / ".control-room" / "audit" / "issues" / "ISSUE-7"
    (issue / "packets" / "pkt_1.json").write_bytes(damage)
    (issue / "task-receipts" / "trc_1.json").write_bytes(damage)
    for read in (lambda: files.packet("ISSUE-7", "pkt_1"), lambda: files.receipt("ISSUE-7", "trc_1")):
        with pytest.raises(ConfigError) as caught:
            read()
        assert caught.value.code == "task_damaged"


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    Credits(tmp_path).record(credit("1"))
    path = tmp_path / ".control-room" / "credits" / "credits.json"
    assert path.stat().st_mode & 0o077 == 0
