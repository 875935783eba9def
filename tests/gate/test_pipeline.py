"""The path of a call, step by step: what is recorded before, during and after, and what each step may change."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tallystick import Caller, Card, Gate, Outcome, Tool, note_file, tool
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import ALLOW, Decision
from tallystick.gate.record.receipt import Draft, Receipt
from tests.gates import kinds, open_gate, outcomes, receipts

NEVER = 600
PATIENCE_S = 60
"""So long a test waits for what must happen; what never happens then fails it instead of holding it up."""


def call(gate: Gate, name: str, args: dict[str, Any] | None = None, **more: Any) -> Outcome:
    return asyncio.run(gate.call(name, args or {}, session="s1", **more))


def reason(outcome: Outcome) -> str:
    assert outcome.rejection is not None, outcome
    return outcome.rejection.reason


@pytest.fixture
def runs() -> list[str]:
    return []


@pytest.fixture
def gate(tmp_path: Path, runs: list[str]) -> Iterator[Gate]:
    @tool(effect="read", aliases=("peek",), key_aliases={"where": "file_path"})
    async def look(file_path: str, n: int = 0) -> str:
        runs.append(f"look {file_path} {n!r}")
        return file_path

    @tool(effect="write")
    async def put(text: str, *, dry_run: bool = False) -> str:
        runs.append(f"put {text}{' (dry)' if dry_run else ''}")
        return text

    @tool(effect="read", audited=True, name="tool.analysis.run", resource="analysis:{analysis_id}", audit_keys=("k",))
    async def analyse(k: int, text: str) -> dict[str, Any]:
        if k < 0:
            raise ValueError
        return {"analysis_id": f"a{k}", "text": text}

    with open_gate(tmp_path, look, put, analyse) as opened:
        yield opened


@pytest.mark.promise("record.started")
def test_what_may_change_something_is_recorded_before_it_runs_and_named_after(gate: Gate, runs: list[str]) -> None:
    seen: list[list[str]] = []

    @tool(effect="write")
    async def watches() -> None:
        seen.append(kinds(gate))

    gate.register(watches)
    outcome = call(gate, "watches")
    assert seen == [["started"]]
    started, ended = receipts(gate)
    assert ended.receipt_id == outcome.receipt_id
    assert ended.header["links"] == {"started": started.receipt_id}
    assert (started.header["tool_id"], started.inputs) == ("watches", {"tool": "watches", "args": {}})


@pytest.mark.promise("record.started")
@pytest.mark.parametrize(
    ("effect", "origin", "started"),
    [
        ("read", "local", False),
        ("write", "local", True),
        ("external", "local", True),
        ("read", "upstream", True),
        ("write", "upstream", True),
    ],
)
def test_writing_external_and_relayed_tools_get_a_started_entry(
    tmp_path: Path, effect: Any, origin: Any, *, started: bool
) -> None:
    async def handler(**_args: Any) -> str:
        return "done"

    card = Card(name="t", description="", input_schema={"type": "object"}, effect=effect, origin=origin, how="async")
    with open_gate(tmp_path, Tool(card=card, handler=handler), policy={"external": "allow"}) as opened:
        assert call(opened, "t").ok
        assert kinds(opened) == (["started", "outcome"] if started else ["outcome"])


@pytest.mark.promise("record.one-outcome")
def test_a_refused_call_leaves_one_receipt_and_no_started_entry(gate: Gate, runs: list[str]) -> None:
    for name, args in (("put", {"text": 7}), ("put", {}), ("nowhere", {}), ("look", {"file_path": "a", "zz": 1})):
        assert not call(gate, name, args).ok
    assert kinds(gate) == ["outcome"] * 4
    assert runs == []


@pytest.mark.promise("record.inputs")
def test_an_alias_is_admitted_as_transformed_and_both_forms_are_kept(gate: Gate, runs: list[str]) -> None:
    outcome = call(gate, "peek", {"Where": "Story/x.md", "N": 7.0})
    assert (outcome.status, outcome.tool, outcome.args) == ("transformed", "look", {"file_path": "Story/x.md", "n": 7})
    assert runs == ["look Story/x.md 7"]
    (receipt,) = outcomes(gate)
    assert receipt.header["outcome"]["status"] == "transformed"
    assert receipt.inputs == {
        "tool": "peek",
        "args": {"Where": "Story/x.md", "N": 7},
        "normalised": {"tool": "look", "args": {"file_path": "Story/x.md", "n": 7}},
    }


@pytest.mark.promise("execute.dry-run")
def test_a_dry_run_is_asked_of_the_tool_and_refused_where_there_is_none(gate: Gate, runs: list[str]) -> None:
    assert call(gate, "put", {"text": "a"}, dry_run=True).ok
    assert runs == ["put a (dry)"]
    refused = call(gate, "look", {"file_path": "a"}, dry_run=True)
    assert refused.fault is not None
    assert (refused.fault.name, len(runs)) == ("bad_args", 1)


@pytest.mark.promise("record.audit-record")
def test_a_successful_call_of_an_audited_tool_leaves_an_audit_record(gate: Gate) -> None:
    ann = Caller(subject="ann", roles=frozenset({"admin"}))
    call(gate, "tool.analysis.run", {"k": 3, "text": "never copied"}, caller=ann)
    call(gate, "tool.analysis.run", {"k": -1, "text": "x"}, caller=ann)
    call(gate, "tool.analysis.run", {"k": "x", "text": "x"}, caller=ann)
    call(gate, "look", {"file_path": "a"}, caller=ann)
    first, *others = outcomes(gate)
    assert first.header["audit"] == {
        "subject": "ann",
        "action": "analysis.run",
        "resource": "analysis:a3",
        "metadata": {"k": 3},
    }
    assert all("audit" not in receipt.header for receipt in others)


@pytest.mark.promise("decide.shadow")
def test_in_shadow_a_call_goes_through_and_the_receipt_says_what_would_have_been(tmp_path: Path) -> None:
    @tool(effect="external")
    async def send(to: str) -> str:
        return to

    with open_gate(tmp_path, send, policy={"shadow": True}, tools={"send": {"decision": "deny"}}) as opened:
        assert call(opened, "send", {"to": "bob"}).ok
        (receipt,) = outcomes(opened)
        assert receipt.header["outcome"] == {"status": "accepted", "shadow": "tool_denied"}


@pytest.mark.promise("decide.rate")
def test_a_rate_counts_for_each_caller_and_tool_and_stands_in_the_receipt(tmp_path: Path, runs: list[str]) -> None:
    @tool(effect="read", roles={"reader"})
    async def look() -> str:
        runs.append("look")
        return "seen"

    ann, bob = (Caller(subject=name, roles=frozenset({"reader"})) for name in ("ann", "bob"))
    with open_gate(tmp_path, look, tools={"look": {"rate": 2}}) as opened:
        results = [call(opened, "look", caller=caller).http for caller in (ann, ann, ann, bob, ann, bob)]
        assert results == [200, 200, 429, 200, 429, 200]
        assert outcomes(opened)[2].header["context"]["counters"] == {"rate": 2}
    assert len(runs) == 4


@pytest.mark.promise("execute.file-refs")
def test_files_a_tool_used_stand_in_the_signed_header(gate: Gate) -> None:
    @tool(effect="read")
    def reads(path: str) -> str:
        note_file(path, "ab" * 32, lines=(1, 2))
        return path

    gate.register(reads)
    call(gate, "reads", {"path": "Story/x.md"})
    assert outcomes(gate)[-1].header["file_refs"] == [{"path": "Story/x.md", "sha256": "ab" * 32, "lines": [1, 2]}]


@pytest.mark.promise("execute.file-refs")
def test_a_tool_that_notes_nonsense_still_gets_its_receipt(gate: Gate) -> None:
    @tool(effect="write")
    async def notes() -> str:
        note_file("x", 1.5)  # type: ignore[arg-type]
        note_file("\ud800", "ab")
        return "done"

    gate.register(notes)
    assert call(gate, "notes").ok
    assert "file_refs" not in outcomes(gate)[-1].header


# -- a room's own rule ---------------------------------------------------------------------------------------------------


def with_rule(
    rule: Callable[..., Any], snapshot: Callable[[], Any] | None, runs: list[str], effect: str = "write"
) -> Tool:
    @tool(effect=effect, rule=rule, snapshot=snapshot, name="move")
    async def move(to: str) -> str:
        runs.append(to)
        return to

    return move


@pytest.mark.promise("decide.room-rule")
def test_a_rooms_rule_accepts_changes_and_refuses(tmp_path: Path, runs: list[str]) -> None:
    def rule(proposal: Proposal, snapshot: Any) -> Decision:
        assert snapshot == {"version": 3}
        if proposal.args["to"] == "nowhere":
            return Decision(verdict="deny", fault=DENIED, reason="no_such_place", pointer="/to")
        changed = {"to": proposal.args["to"].upper()} if proposal.args["to"].islower() else None
        return Decision(verdict="allow", reason="fine", args=changed)

    with open_gate(tmp_path, with_rule(rule, lambda: {"version": 3}, runs)) as opened:
        plain, changed, refused = (call(opened, "move", {"to": to}) for to in ("HERE", "there", "nowhere"))
        assert (plain.status, changed.status, refused.status) == ("accepted", "transformed", "rejected")
        assert (changed.args, reason(refused)) == ({"to": "THERE"}, "no_such_place")
        assert runs == ["HERE", "THERE"]
        digests = {receipt.header["context"]["snapshot"] for receipt in outcomes(opened)}
        assert len(digests) == 1
        assert outcomes(opened)[1].inputs["normalised"] == {"tool": "move", "args": {"to": "THERE"}}


@pytest.mark.promise("decide.room-rule")
@pytest.mark.parametrize("changed", [{"to": 7}, {}, {"to": "a", "more": 1}, {"elsewhere": "a"}])
def test_what_a_rule_makes_of_a_call_must_still_fit_the_tool(
    tmp_path: Path, runs: list[str], changed: dict[str, Any]
) -> None:
    rule = lambda _proposal, _snapshot: Decision(verdict="allow", args=changed)  # noqa: E731
    with open_gate(tmp_path, with_rule(rule, None, runs)) as opened:
        assert reason(call(opened, "move", {"to": "a"})) == "room_rule_failed"
    assert runs == []


@pytest.mark.promise("decide.room-rule")
@pytest.mark.parametrize(("effect", "http"), [("write", 409), ("read", 200)])
def test_a_write_on_a_snapshot_that_changed_meanwhile_is_refused(
    tmp_path: Path, runs: list[str], effect: str, http: int
) -> None:
    state = {"version": 0}

    def rule(_proposal: Proposal, _snapshot: Any) -> Decision:
        state["version"] += 1
        return ALLOW

    with open_gate(tmp_path, with_rule(rule, lambda: dict(state), runs, effect)) as opened:
        assert call(opened, "move", {"to": "a"}).http == http
    assert len(runs) == (http == 200)


class Lending:
    """A limit of things lent at a time, held by a rule that reads how many are out."""

    def __init__(self, limit: int, *, how: str = "async") -> None:
        self.out: list[str] = []
        self.limit, self.how = limit, how

    def rule(self, _proposal: Proposal, snapshot: Any) -> Decision:
        full = snapshot["out"] >= self.limit
        return Decision(verdict="deny", fault=DENIED, reason="all_lent") if full else ALLOW

    def tool(self) -> Tool:
        def lend(thing: str) -> str:
            known = len(self.out)
            time.sleep(0.002)
            self.out.append(thing)
            return f"{known}"

        async def lend_async(thing: str) -> str:
            known = len(self.out)
            await asyncio.sleep(0.002)
            self.out.append(thing)
            return f"{known}"

        made = tool(effect="write", name="lend", rule=self.rule, snapshot=lambda: {"out": len(self.out)})
        return made(lend if self.how == "thread" else lend_async)


def lend_at_once(gate: Gate, count: int) -> list[Outcome]:
    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(*(gate.call("lend", {"thing": f"t{n}"}, session="s1") for n in range(count)))

    return asyncio.run(all_at_once())


@pytest.mark.promise("decide.room-rule")
@pytest.mark.parametrize("how", ["async", "thread"])
@pytest.mark.parametrize(("limit", "calls"), [(0, 2), (1, 6), (3, 8), (5, 4)])
def test_calls_at_the_same_time_cannot_pass_a_limit_together(tmp_path: Path, how: str, limit: int, calls: int) -> None:
    lending = Lending(limit, how=how)
    with open_gate(tmp_path, lending.tool()) as opened:
        found = lend_at_once(opened, calls)
        again = asyncio.run(opened.call_many([("lend", {"thing": "more"})] * 3, session="s1"))
    accepted = [outcome for outcome in found if outcome.ok]
    assert len(accepted) == min(limit, calls)
    assert {reason(outcome) for outcome in found if not outcome.ok} <= {"all_lent"}
    assert sorted(outcome.result for outcome in accepted) == [f"{n}" for n in range(len(accepted))]
    assert len(lending.out) == len(accepted) + sum(outcome.ok for outcome in again) <= max(limit, 0)


@pytest.mark.promise("decide.room-rule")
def test_a_limit_holds_for_callers_of_several_event_loops(tmp_path: Path) -> None:
    lending = Lending(3, how="thread")
    found: list[Outcome] = []
    with open_gate(tmp_path, lending.tool()) as opened:
        callers = [threading.Thread(target=lambda: found.extend(lend_at_once(opened, 3))) for _ in range(3)]
        callers += [threading.Thread(target=lambda: found.append(opened.call_sync("lend", {"thing": "x"})))]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(PATIENCE_S)
    assert (len(found), sum(outcome.ok for outcome in found), len(lending.out)) == (10, 3, 3)


@pytest.mark.promise("decide.room-rule")
def test_a_tool_without_a_rule_takes_its_turn_if_it_has_the_snapshot(tmp_path: Path) -> None:
    lending = Lending(3)

    @tool(effect="write", name="close", snapshot=lambda: {"out": len(lending.out)})
    async def close() -> None:
        assert len(lending.out) < 3
        await asyncio.sleep(0.002)
        lending.limit = 0

    async def all_at_once() -> list[Outcome]:
        calls = [("lend", {"thing": "a"}), ("close", {}), ("lend", {"thing": "b"}), ("lend", {"thing": "c"})]
        return await asyncio.gather(*(opened.call(name, args, session="s1") for name, args in calls))

    with open_gate(tmp_path, lending.tool(), close) as opened:
        assert [outcome.ok for outcome in asyncio.run(all_at_once())] == [True, True, False, False]


@pytest.mark.promise("decide.room-rule")
def test_a_tool_under_a_rule_may_call_tools_under_rules_of_its_room(tmp_path: Path) -> None:
    lending = Lending(2)

    @tool(effect="write", name="lend_set", snapshot=dict, rule=lambda *_: ALLOW)
    async def lend_set() -> int:
        some = await asyncio.gather(*(opened.call("lend", {"thing": f"s{n}"}, session="s1") for n in range(4)))
        return sum(outcome.ok for outcome in some)

    with open_gate(tmp_path, lending.tool(), lend_set) as opened:
        assert call(opened, "lend_set").unwrap() == 2
        assert opened.call_sync("lend_set").unwrap() == 0
    assert len(lending.out) == 2


@pytest.mark.promise("decide.room-rule", "execute.cancel")
def test_a_caller_who_leaves_while_waiting_for_earlier_calls_leaves_a_receipt_and_no_gap(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write", name="slow", snapshot=dict, rule=lambda *_: ALLOW)
    async def slow() -> None:
        begun.set()
        await go_on.wait()

    async def three() -> list[Any]:
        first, second, third = (asyncio.ensure_future(opened.call("slow", session="s1")) for _ in range(3))
        await begun.wait()
        second.cancel()
        await asyncio.sleep(0)
        go_on.set()
        return await asyncio.gather(first, second, third, return_exceptions=True)

    with open_gate(tmp_path, slow) as opened:
        first, second, third = asyncio.run(three())
        assert (first.ok, third.ok, type(second)) == (True, True, asyncio.CancelledError)
        assert sorted(receipt.header["outcome"].get("fault", "") for receipt in outcomes(opened)) == [
            "",
            "",
            "cancelled",
        ]


@pytest.mark.promise("decide.room-rule")
def test_a_snapshot_of_data_that_changes_is_read_off_the_event_loop_and_a_fixed_one_is_not_read(tmp_path: Path) -> None:
    seen: list[str] = []

    def read() -> dict[str, Any]:
        seen.append(threading.current_thread().name)
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return {"n": 1}

    snapshots: list[Any] = []
    rule = lambda _proposal, snapshot: snapshots.append(snapshot) or ALLOW  # noqa: E731

    def nothing() -> None:
        return None

    live = tool(effect="write", name="live", rule=rule, snapshot=read)(nothing)
    fixed = tool(effect="write", name="fixed", rule=rule, snapshot={"n": 2})(nothing)
    with open_gate(tmp_path, live, fixed) as opened:
        assert call(opened, "live").ok
        assert call(opened, "fixed").ok
    assert (len(seen), snapshots) == (2, [{"n": 1}, {"n": 2}])


@pytest.mark.promise("decide.room-rule")
@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        ("rule", "This program: the tool's rule failed: ZeroDivisionError."),
        ("snapshot", "its snapshot cannot be read (ZeroDivisionError)"),
        ("answer", "it returned str instead of Decision"),
        ("no fault", "must have a `fault`"),
        ("unserialisable", "its snapshot is not JSON"),
    ],
)
def test_a_room_whose_code_fails_refuses_says_why_and_the_gate_goes_on(
    tmp_path: Path, runs: list[str], broken: str, cause: str
) -> None:
    def fails(*_args: Any) -> Any:
        raise ZeroDivisionError("secret of somebody")

    rules = {"rule": fails, "answer": lambda *_: "yes", "no fault": lambda *_: Decision(verdict="deny")}
    rule = rules.get(broken, lambda *_: ALLOW)
    snapshot = {"snapshot": fails, "unserialisable": object}.get(broken, dict)
    with open_gate(tmp_path, with_rule(rule, snapshot, runs)) as opened:
        outcome = call(opened, "move", {"to": "secret place"})
        assert reason(outcome) == "room_rule_failed"
        hint = outcome.problem()["error"]["details"]["hint"]
        assert cause in hint
        assert "TALLY_DEBUG=1" in hint
        assert "secret" not in hint
        assert len(outcomes(opened)) == 1
    assert runs == []


# -- leaving in the middle -----------------------------------------------------------------------------------------------


async def left_when(call: Awaitable[Outcome], happens: threading.Event) -> None:
    """Leave a call as soon as something happens."""
    task = asyncio.ensure_future(call)
    await asyncio.to_thread(happens.wait, PATIENCE_S)
    await _leave(task)


async def _leave(task: "asyncio.Future[Outcome]", go_on: threading.Event | None = None) -> None:
    """Cancel a call; it ends with this very cancellation, by which a cancel scope knows its own."""
    task.cancel("of the caller")
    await asyncio.sleep(0)
    if go_on is not None:
        go_on.set()
    with pytest.raises(asyncio.CancelledError, match="of the caller"):
        await task
    assert task.cancelled()


@pytest.mark.promise("execute.cancel")
@pytest.mark.parametrize("durability", ["os", "fsync"])
@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("way", ["async", "thread"])
def test_l03_a_caller_who_leaves_while_the_tool_runs(tmp_path: Path, durability: str, effect: str, way: str) -> None:
    begun, stuck = threading.Event(), threading.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.sleep(NEVER)

    def blocks() -> None:
        begun.set()
        stuck.wait(NEVER)

    made = tool(effect=effect, name="slow")(waits if way == "async" else blocks)
    with open_gate(tmp_path, made, ledger={"durability": durability}) as opened:
        asyncio.run(left_when(opened.call("slow", session="s1"), begun))
        stuck.set()
        assert kinds(opened) == (["started", "outcome"] if effect == "write" else ["outcome"])
        told = outcomes(opened)[0].header
        assert (told["outcome"]["status"], told["outcome"]["fault"]) == ("accepted", "cancelled")
        assert told.get("links") == ({"started": receipts(opened)[0].receipt_id} if effect == "write" else None)


class SlowLedger:
    """Says when a record of a kind is about to be stored, and waits to be let go on."""

    def __init__(self, gate: Gate, kind: str) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._record, self._kind = gate.ledger.record, kind
        gate.ledger.record = self.record  # type: ignore[method-assign]

    async def record(self, draft: Draft) -> Receipt:
        if draft.kind == self._kind:
            self.reached.set()
            await asyncio.to_thread(self.go_on.wait, PATIENCE_S)
        return await self._record(draft)


@pytest.mark.promise("execute.cancel")
def test_l03_a_caller_who_leaves_before_the_tool_runs(tmp_path: Path, runs: list[str]) -> None:
    @tool(effect="write")
    async def put() -> None:
        runs.append("put")

    async def leave() -> None:
        task = asyncio.ensure_future(opened.call("put", session="s1"))
        await asyncio.to_thread(slow.reached.wait, PATIENCE_S)
        await _leave(task, slow.go_on)

    with open_gate(tmp_path, put) as opened:
        slow = SlowLedger(opened, "started")
        asyncio.run(leave())
        assert kinds(opened) == ["started", "outcome"]
        assert outcomes(opened)[0].header["outcome"]["fault"] == "cancelled"
        assert outcomes(opened)[0].header["links"] == {"started": receipts(opened)[0].receipt_id}
    assert runs == []


@pytest.mark.promise("execute.cancel")
def test_l03_a_caller_who_leaves_while_a_person_is_asked(
    tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @tool(effect="external")
    async def send() -> None:
        runs.append("send")

    with open_gate(tmp_path, send) as opened:
        book = opened._parts.book()
        reached, go_on = threading.Event(), threading.Event()

        def slowly(*args: Any) -> Any:
            reached.set()
            go_on.wait()
            return taking(*args)

        taking = book.find
        monkeypatch.setattr(book, "find", slowly)

        async def leave() -> None:
            task = asyncio.ensure_future(opened.call("send", session="s1"))
            await asyncio.to_thread(reached.wait, PATIENCE_S)
            task.cancel()
            await asyncio.sleep(0)
            go_on.set()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            assert task.cancelled()

        asyncio.run(leave())
        # Nobody had agreed: the request is made all the same, and stands for the next try.
        assert kinds(opened) == ["outcome", "held"]
        (hold,) = opened.approvals.list()
        opened.approvals.approve(hold.approval_id, person="eva", channel="terminal")
        reached.clear()
        go_on.clear()
        asyncio.run(leave())
        # Now somebody had: the grant is used up by a call that did not run, and the receipt says so.
        assert outcomes(opened)[-1].header["outcome"]["fault"] == "cancelled"
        assert outcomes(opened)[-1].header["approval"]["approval_id"] == hold.approval_id
    assert runs == []


@pytest.mark.promise("execute.cancel")
def test_a_time_limit_of_the_caller_is_honoured(gate: Gate) -> None:
    @tool(effect="write")
    async def waits() -> None:
        await asyncio.sleep(NEVER)

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await gate.call("waits")

    gate.register(waits)
    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert outcomes(gate)[0].header["outcome"]["fault"] == "cancelled"


def test_a_tool_that_was_replaced_meanwhile_does_not_run_in_its_stead(gate: Gate, runs: list[str]) -> None:
    @tool(effect="write", name="change")
    async def old() -> None:
        runs.append("old")

    @tool(effect="write", name="change")
    async def new() -> None:
        runs.append("new")

    async def swap() -> Outcome:
        task = asyncio.ensure_future(gate.call("change"))
        await asyncio.to_thread(slow.reached.wait, PATIENCE_S)
        gate.unregister("change")
        gate.register(new)
        slow.go_on.set()
        return await task

    gate.register(old)
    slow = SlowLedger(gate, "started")
    assert not asyncio.run(swap()).ok
    assert runs == []


def test_arguments_may_be_any_mapping_and_the_callers_own_are_not_touched(gate: Gate, runs: list[str]) -> None:
    given = {"file_path": "a"}
    assert asyncio.run(gate.call("look", MappingProxyType(given))).ok
    assert given == {"file_path": "a"}
    for wrong in ("text", [1], 7, object()):
        outcome = asyncio.run(gate.call("look", wrong))  # type: ignore[arg-type]
        assert outcome.fault is not None
        assert outcome.fault.name == "bad_args"
    for name in (None, 7, ["look"], object()):
        assert not asyncio.run(gate.call(name, {})).ok  # type: ignore[arg-type]
    assert len(outcomes(gate)) == 9
