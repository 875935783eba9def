"""A grant runs exactly the call that was approved, in its session and for its agent, whatever the database says."""

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Outcome, Tool, tool
from tallystick.gate.decide.approvals import Hold, Unmoved
from tallystick.gate.decide.bindings import live_digest
from tallystick.gate.session import LOCAL_OWNER, Session
from tallystick.storage.approvals import REQUESTS
from tallystick.storage.ledger import verify_workspace
from tests.gates import open_gate, outcomes, quick_settings

YES = {"person": "eva", "channel": "terminal"}
ARGS = {"to": "bob", "text": "hello"}
HERE = Session(session_id="s1", caller=LOCAL_OWNER, agent_id="chief")


def the_tools(runs: list[str]) -> list[Tool]:
    @tool(effect="external")
    async def send(to: str, text: str = "", *, dry_run: bool = False) -> str:
        runs.append(f"{'dry ' if dry_run else ''}{to} {text}".strip())
        return "sent"

    @tool(effect="external")
    async def wipe(to: str, text: str = "") -> str:
        runs.append(f"wiped {to} {text}")
        return "wiped"

    return [send, wipe]


@pytest.fixture
def runs() -> list[str]:
    return []


@pytest.fixture
def gate(tmp_path: Path, runs: list[str]) -> Iterator[Gate]:
    with open_gate(tmp_path, *the_tools(runs)) as opened:
        yield opened


def call(gate: Gate, session: Session = HERE, **args: Any) -> Outcome:
    return asyncio.run(gate.call("send", {**ARGS, **args}, session=session))


def resume(gate: Gate, approval_id: str) -> Outcome:
    return asyncio.run(gate.resume(approval_id))


def held(outcome: Outcome) -> str:
    assert outcome.held is not None, outcome
    return outcome.held.approval_id


def granted(gate: Gate) -> str:
    approval_id = held(call(gate))
    assert isinstance(gate.approvals.approve(approval_id, **YES), Hold)
    return approval_id


def reason(outcome: Outcome) -> str:
    assert outcome.rejection is not None, outcome
    return outcome.rejection.reason


def change(workspace: Path, **columns: Any) -> None:
    with sqlite3.connect(workspace / ".control-room" / "tallystick.db") as database:
        names = ", ".join(f"{name} = ?" for name in columns)
        database.execute(f"UPDATE tally_approvals SET {names}", tuple(columns.values()))
    database.close()


def row(workspace: Path) -> dict[str, Any]:
    with sqlite3.connect(workspace / ".control-room" / "tallystick.db") as database:
        database.row_factory = sqlite3.Row
        found = dict(database.execute("SELECT * FROM tally_approvals").fetchone())
    database.close()
    return found


def vars_of(gate: Gate, approval_id: str) -> dict[str, Any]:
    hold = gate.approvals.get(approval_id)
    assert hold is not None
    return {field.name: getattr(hold, field.name) for field in fields(hold)}


def problems(gate: Gate) -> set[str]:
    return {problem.code for problem in verify_workspace(gate.workspace, gate.settings).problems}


def other_session(before: bytes, old: bytes, new: bytes) -> bytes:
    assert old in before
    return before.replace(old, new)


CHANGES: dict[str, Any] = {
    "live_digest": "0" * 64,
    "digest": "0" * 64,
    "tool": "wipe",
    "tool_version": "0" * 64,
    "args": b'{"text":"hello","to":"mallory"}',
    "shown": b'{"to":"alice","text":"hello"}',
    "dry_run": True,
    "policy_digest": "0" * 64,
    "reason": "argument_provenance",
    "pointer": "/to",
    "created": 1,
    "expires": 99_999_999_999_999,
    "person": "mallory",
    "channel": "token",
    "answered": 1,
    "note": "fine by me",
    "edited": True,
}
"""Another value for each column of a granted row that would still be read."""


@pytest.mark.promise("decide.approval-recorded")
def test_every_column_of_a_request_is_changed_here() -> None:
    assert {column.name for column in REQUESTS.columns} == CHANGES.keys() | {"approval_id", "state", "session"}


@pytest.mark.promise("decide.approval-recorded")
@pytest.mark.parametrize("column", CHANGES)
def test_a_row_changed_after_the_yes_runs_nothing_and_shows(gate: Gate, runs: list[str], column: str) -> None:
    approval_id = granted(gate)
    assert problems(gate) == set()
    change(gate.workspace, **{column: CHANGES[column]})
    assert problems(gate) == {"approval_differs"}
    outcome = resume(gate, approval_id)
    assert (reason(outcome), outcome.http) == ("approval_mismatch", 400)
    # The call made again finds no usable grant either: refused, or a request of its own.
    assert call(gate).status == "rejected"
    assert runs == []
    last = next(one for one in outcomes(gate) if one.receipt_id == outcome.receipt_id)
    assert last.header["outcome"]["reason"] == "approval_mismatch"
    report = verify_workspace(gate.workspace, gate.settings)
    assert "approval_mismatch" in {note.code for note in report.notes}
    assert not report.ok


@pytest.mark.promise("decide.approval-recorded")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"s1"', b'"s2"'),
        (b'"chief"', b'"other"'),
        (b'"local"', b'"mallory"'),
        (b'"owner"', b'"clerk"'),
        (b'"turn_id":null', b'"turn_id":"turn_1"'),
        (b"{", b"["),
    ],
)
def test_a_request_moved_to_another_session_agent_or_caller_runs_nothing(
    gate: Gate, runs: list[str], old: bytes, new: bytes
) -> None:
    approval_id = granted(gate)
    change(gate.workspace, session=other_session(row(gate.workspace)["session"], old, new))
    assert reason(resume(gate, approval_id)) == "approval_mismatch"
    assert problems(gate) == {"approval_differs"}
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
@pytest.mark.parametrize("column", ["args", "shown", "session", "state"])
def test_a_row_that_cannot_be_read_runs_nothing_and_can_still_be_listed(
    gate: Gate, runs: list[str], column: str
) -> None:
    approval_id = granted(gate)
    change(gate.workspace, **{column: "?" if column == "state" else b"\xff{"})
    assert resume(gate, approval_id).status == "rejected"
    assert len(gate.approvals.list()) == 1
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
def test_a_request_under_another_id_runs_nothing(gate: Gate, runs: list[str]) -> None:
    approval_id = granted(gate)
    change(gate.workspace, approval_id="appr_other")
    assert reason(resume(gate, approval_id)) == "approval_unknown"
    assert reason(resume(gate, "appr_other")) == "approval_mismatch"
    assert reason(call(gate)) == "approval_mismatch"
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
def test_a_yes_that_nobody_said_runs_nothing(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    change(gate.workspace, state="granted", person="eva", channel="terminal", answered=row(gate.workspace)["created"])
    assert reason(resume(gate, approval_id)) == "approval_mismatch"
    assert reason(call(gate)) == "approval_mismatch"
    assert problems(gate) == {"approval_differs"}
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
def test_a_no_turned_into_a_yes_runs_nothing(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    before = row(gate.workspace)
    gate.approvals.reject(approval_id, **YES, reason="no")
    change(gate.workspace, **{**before, "state": "granted", **YES, "answered": before["created"]})
    assert reason(resume(gate, approval_id)) == "approval_mismatch"
    assert reason(call(gate)) == "approval_mismatch"
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
def test_a_used_grant_put_back_runs_nothing(gate: Gate, runs: list[str]) -> None:
    approval_id = granted(gate)
    before = row(gate.workspace)
    assert resume(gate, approval_id).ok
    change(gate.workspace, **before)
    assert reason(resume(gate, approval_id)) == "approval_mismatch"
    assert reason(call(gate)) == "approval_mismatch"
    assert runs == ["bob hello"]


@pytest.mark.promise("decide.approval-recorded")
def test_edited_arguments_are_bound_to_the_record_of_the_edit(gate: Gate, runs: list[str]) -> None:
    approval_id = held(call(gate))
    gate.approvals.edit(approval_id, {"to": "carol"}, **YES)
    assert problems(gate) == set()
    edited = row(gate.workspace)
    for column, value in CHANGES.items():
        new = {"args": b'{"to":"mallory"}', "edited": False, "shown": b"{}"}.get(column, value)
        change(gate.workspace, **{column: new})
        assert reason(resume(gate, approval_id)) == "approval_mismatch", column
        change(gate.workspace, **edited)
    assert runs == []
    assert resume(gate, approval_id).ok
    assert runs == ["carol"]
    assert problems(gate) == set()


@pytest.mark.promise("decide.approval-recorded")
def test_a_whole_row_made_to_fit_itself_still_does_not_fit_its_record(gate: Gate, runs: list[str]) -> None:
    approval_id = granted(gate)
    evil = held(call(gate, to="mallory"))
    with sqlite3.connect(gate.workspace / ".control-room" / "tallystick.db") as database:
        # The digest and the arguments of the other request, which agree with one another.
        database.row_factory = sqlite3.Row
        other = database.execute("SELECT * FROM tally_approvals WHERE approval_id = ?", (evil,)).fetchone()
        database.execute("DELETE FROM tally_approvals WHERE approval_id = ?", (evil,))
        names = ("live_digest", "digest", "args", "shown")
        database.execute(
            f"UPDATE tally_approvals SET {', '.join(f'{name} = ?' for name in names)}",
            tuple(other[name] for name in names),
        )
    database.close()
    assert reason(resume(gate, approval_id)) == "approval_mismatch"
    assert reason(call(gate, to="mallory")) == "approval_mismatch"
    assert runs == []


@pytest.mark.promise("decide.approval-recorded")
def test_a_person_cannot_approve_or_edit_a_changed_request_but_can_reject_it(gate: Gate) -> None:
    approval_id = held(call(gate))
    before = row(gate.workspace)
    other = Hold(**(vars_of(gate, approval_id) | {"args": b'{"text":"hello","to":"mallory"}'}))
    bound = {"digest": other.bound_digest(), "live_digest": live_digest(other.bound_digest(), HERE)}
    # One that fits itself and says it was edited is as little the one that was held.
    change(gate.workspace, args=other.args, shown=other.args, edited=True, **bound)
    answer = gate.approvals.approve(approval_id, **YES)
    assert isinstance(answer, Unmoved)
    assert answer.why == "record_mismatch"
    change(gate.workspace, **before)
    change(gate.workspace, args=b'{"text":"hello","to":"mallory"}')
    size = gate.ledger.size()
    for answer in (
        gate.approvals.approve(approval_id, **YES),
        gate.approvals.edit(approval_id, {"to": "carol"}, **YES),
    ):
        assert isinstance(answer, Unmoved)
        assert answer.why == "record_mismatch"
    assert gate.ledger.size() == size
    assert isinstance(gate.approvals.reject(approval_id, **YES, reason="changed"), Hold)
    assert held(call(gate)) != approval_id


@pytest.mark.promise("decide.approval-recorded")
def test_a_grant_from_before_the_tables_named_sessions_is_still_used(
    gate: Gate, tmp_path: Path, runs: list[str]
) -> None:
    approval_id = granted(gate)
    gate.close()
    with sqlite3.connect(tmp_path / ".control-room" / "tallystick.db") as database:
        database.execute("UPDATE tally_approvals SET live_digest = digest")
        database.execute("UPDATE tally_schema_version SET version_num = '0008'")
        database.execute("DROP TABLE tally_shared_version")
    database.close()
    assert verify_workspace(tmp_path, quick_settings()).ok
    with open_gate(tmp_path, *the_tools(runs)) as later:
        assert resume(later, approval_id).ok
    assert runs == ["bob hello"]


@pytest.mark.promise("decide.approval-session")
@pytest.mark.parametrize(
    "elsewhere",
    [
        Session(session_id="s2", caller=LOCAL_OWNER, agent_id="chief"),
        Session(session_id="s1", caller=LOCAL_OWNER, agent_id="critic"),
        Session(session_id="s1", caller=LOCAL_OWNER),
    ],
    ids=["other session", "other agent", "no agent"],
)
def test_a_grant_is_used_in_its_session_and_by_its_agent_alone(gate: Gate, runs: list[str], elsewhere: Session) -> None:
    approval_id = granted(gate)
    assert held(call(gate, elsewhere)) != approval_id
    assert runs == []
    assert call(gate).ok
    assert runs == ["bob hello"]


@pytest.mark.promise("decide.approval-session")
def test_a_grant_is_used_in_its_session_after_a_restart_too(gate: Gate, tmp_path: Path, runs: list[str]) -> None:
    by_retry = granted(gate)
    by_id = held(call(gate, text="b"))
    gate.approvals.approve(by_id, **YES)
    gate.close()
    with open_gate(tmp_path, *the_tools(runs)) as later:
        assert held(call(later, Session(session_id="s2", caller=LOCAL_OWNER, agent_id="chief"))) != by_retry
        assert call(later).ok
        outcome = resume(later, by_id)
        assert outcome.ok
        receipt = later.ledger.find(outcome.receipt_id)
        assert receipt is not None
        assert (receipt.header["session_id"], receipt.header["agent_id"]) == ("s1", "chief")
    assert runs == ["bob hello", "bob b"]
    assert verify_workspace(tmp_path, quick_settings()).ok


@pytest.mark.promise("decide.approval-session")
def test_two_agents_who_ask_for_the_same_have_a_request_each(gate: Gate, runs: list[str]) -> None:
    critic = Session(session_id="s1", caller=LOCAL_OWNER, agent_id="critic")
    first, second = held(call(gate)), held(call(gate, critic))
    assert first != second
    assert held(call(gate)) == first
    gate.approvals.approve(second, **YES)
    assert held(call(gate)) == first
    assert call(gate, critic).ok
    assert runs == ["bob hello"]


@pytest.mark.promise("decide.approval-recorded", "decide.approval-found-again")
def test_the_same_call_made_at_once_by_many_is_one_request_that_can_be_approved(gate: Gate, runs: list[str]) -> None:
    async def many() -> list[Outcome]:
        return await asyncio.gather(*(gate.call("send", ARGS, session=HERE) for _ in range(8)))

    (approval_id,) = {held(outcome) for outcome in asyncio.run(many())}
    assert problems(gate) == set()
    assert isinstance(gate.approvals.approve(approval_id, **YES), Hold)
    assert resume(gate, approval_id).ok
    assert runs == ["bob hello"]


@pytest.mark.promise("decide.approval-recorded")
def test_a_request_is_recorded_before_anybody_can_see_it(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    book, seen = gate._parts.book(), list[str]()
    storing = book.hold

    def watched(wanted: Hold) -> Hold:
        seen.extend(receipt.header["kind"] for receipt in gate.ledger.read())
        return storing(wanted)

    monkeypatch.setattr(book, "hold", watched)
    held(call(gate))
    assert seen == ["outcome", "held"]
