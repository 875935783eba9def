"""Asking a person about a proposal: what is held is what is taken."""

from dataclasses import replace
from itertools import count
from pathlib import Path

import orjson
import pytest

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.decide.approval_service import ApprovalService
from tallystick.gate.decide.approvals import Grant, Hold, State
from tallystick.gate.decide.decide import decide
from tallystick.gate.session import Caller, Session
from tallystick.settings import parse_settings
from tallystick.storage.approvals import SqlApprovalStore
from tallystick.storage.database import migrate, open_engine
from tests.gate.decide.calls import OWNER, a_call, a_card, a_policy

SEND = a_card("send", "external")
ANN = Session(session_id="s1", caller=Caller(subject="ann"))


@pytest.mark.promise("decide.approval-bound")
def test_only_the_identical_call_of_the_same_caller_uses_the_grant(tmp_path: Path) -> None:
    engine = open_engine(parse_settings({}), tmp_path)
    migrate(engine)
    book, numbers = SqlApprovalStore(engine), count()
    proved: list[Hold] = []
    desk = ApprovalService(
        open_store=lambda: book, new_id=lambda: f"apr_{next(numbers)}", now_ms=lambda: 5000, ttl_s=60,
        proved=lambda hold: not proved.append(hold),
    )  # fmt: skip
    policy = a_policy()
    call = a_call(SEND, to="bob", n=1)
    decision = decide(call, OWNER, policy)
    assert desk.take(call, ANN, policy.digest) is None
    shown = orjson.dumps({"tool": "send", "args": {"to": "hidden"}})
    wanted = desk.request(call, decision, ANN, policy.digest, shown)
    assert isinstance(wanted, Hold)
    assert book.count(5000) == 0
    held = desk.store(wanted)
    assert held == wanted == desk.store(wanted) == desk.request(call, decision, ANN, policy.digest, shown)
    assert (held.expires, held.arguments(), held.as_dict()["args"]) == (65_000, {"to": "bob", "n": 1}, {"to": "hidden"})
    assert isinstance(book.grant(held.approval_id, person="eve", channel="terminal", now=5001), Hold)
    ben = replace(ANN, caller=Caller(subject="ben"))
    newer = replace(call, card=a_card("send", "external", timeout_s=1.0))
    for other, session, digest in (
        (a_call(SEND, to="bob", n=2), ANN, policy.digest),
        (call, ben, policy.digest),
        (call, ANN, a_policy(read="ask").digest),
        (replace(call, dry_run=True), ANN, policy.digest),
        (newer, ANN, policy.digest),
    ):
        assert desk.take(other, session, digest) is None
    for elsewhere in (replace(ANN, session_id="s2"), replace(ANN, agent_id="chief")):
        assert desk.take(call, elsewhere, policy.digest) is None
    assert proved == []
    other_door = replace(ANN, caller=replace(ANN.caller, channel="http"), turn_id="turn_2")
    unproved = replace(desk, proved=lambda _: False).take(call, other_door, policy.digest)
    assert isinstance(unproved, Rejection)
    assert unproved.reason == "approval_mismatch"
    grant = desk.take(a_call(SEND, n=1, to="bob"), other_door, policy.digest)
    assert isinstance(grant, Grant)
    assert [grant.approval_id] == [hold.approval_id for hold in proved] == [held.approval_id]
    assert desk.take(call, ANN, policy.digest) is None
    assert book.count(5002, state=State.TAKEN) == book.count(5002) == 1
    engine.dispose()
