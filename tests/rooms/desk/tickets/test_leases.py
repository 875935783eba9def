"""Leases: proof first, by the database's clock; repeats change nothing; who comes too late is told so."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tallystick.agents.problem import Problem
from tallystick.rooms.desk.model import BACK_OFF_MS, Ticket, derived_id
from tallystick.rooms.desk.tickets.fill import FillResult
from tallystick.rooms.desk.tickets.proof import Proof
from tests.rooms.desk.desk_service import APPROVED, DRAFT, PROCEED, Desk, caller


def fill(desk: Desk, name: str, outputs: Any, proof: Proof) -> FillResult | Problem:
    return desk.service.leases.fill(name, outputs, by=proof.owner, proof=proof, caller=caller())


def code(result: Any) -> str:
    assert isinstance(result, Problem), result
    return result.code


def end_lease(desk: Desk, name: str) -> None:
    """Let the lease of a ticket have ended, by the clock that counts."""
    with desk.service.store.transaction() as tx:
        ticket = tx.get(name)
        assert ticket is not None
        tx.lease(ticket, owner=str(ticket.lease_owner), token_hash=tx.lease_hash(name), lasts_ms=-1)


@pytest.mark.promise("desk.lease")
def test_a_ticket_is_one_workers_until_its_lease_ends(desk: Desk) -> None:
    name = desk.event()
    leased = desk.service.leases.lease_one(name, "w1", lease_s=60)
    assert not isinstance(leased, Problem)
    assert (leased.ticket.status, leased.ticket.lease_owner, leased.lease_ms) == ("running", "w1", 60_000)
    for owner in ("w1", "w2"):
        assert code(desk.service.leases.lease_one(name, owner)) == "already_leased"
    assert desk.service.leases.lease_some("w2") == []
    end_lease(desk, name)
    (again,) = desk.service.leases.lease_some("w2")
    assert (again.ticket.ticket_id, again.ticket.attempts) == (name, 1)
    assert again.token != leased.token
    with desk.service.store.reading() as tx:
        assert tx.counts()["lost_leases"] == 1


@pytest.mark.promise("desk.lease")
def test_the_oldest_that_wait_are_given_out_by_kind_and_never_too_many(desk: Desk) -> None:
    names = [desk.event(f"number {number}") for number in range(5)]
    (tool,) = desk.fill(names[0], APPROVED).derived
    leases = desk.service.leases
    assert [one.ticket.ticket_id for one in leases.lease_some("w", kind="TOOL", limit=9)] == [tool]
    assert [one.ticket.ticket_id for one in leases.lease_some("w", kind="TRIAGE", limit=2)] == sorted(names[1:3])
    assert len(leases.lease_some("w", limit=9_999)) == 2
    assert leases.lease_some("w", kind="REPLY") == []


@pytest.mark.promise("desk.lease")
def test_a_lease_lasts_no_longer_than_the_desk_allows_and_its_token_makes_it_last(
    open_other: Callable[..., Desk],
) -> None:
    desk = open_other(lease_s=10, max_lease_s=20)
    name = desk.event()
    leased = desk.service.leases.lease_one(name, "w1")
    assert not isinstance(leased, Problem)
    assert leased.lease_ms == 10_000
    longer = desk.service.leases.lease_one(name, "w1", lease_s=3_600, token=leased.token)
    assert not isinstance(longer, Problem)
    assert (longer.lease_ms, longer.token) == (20_000, leased.token)
    assert longer.ticket.lease_until > leased.ticket.lease_until
    for owner, token in (("w1", "wrong"), ("w2", leased.token)):
        assert code(desk.service.leases.lease_one(name, owner, token=token)) == "lease_not_yours"
    assert code(desk.service.leases.lease_one("nobody", "w1")) == "ticket_unknown"


@pytest.mark.promise("desk.proof-first")
@pytest.mark.parametrize("outputs", [APPROVED, {}, None, "text", 7, [], {"decision": "NO"}])
def test_without_proof_nothing_of_a_fill_is_looked_at_and_the_attempt_is_in_the_ledger(
    desk: Desk, outputs: Any
) -> None:
    name = desk.event()
    assert code(fill(desk, name, outputs, Proof(owner="w1", token="x"))) == "lease_missing"
    proof = desk.hold(name)
    before = desk.ticket(name)
    for wrong in (
        Proof(owner="w2", token=proof.token),
        Proof(owner="w1", token=proof.token[:-1]),
        Proof(owner="w1", token=""),
        Proof(owner="w1", token=proof.token_hash),
        Proof(owner="", token="\ud800"),
    ):
        assert code(fill(desk, name, outputs, wrong)) == "lease_not_yours"
    assert desk.ticket(name) == before
    assert [one.header["audit"]["metadata"]["refused"] for one in desk.notes("desk.fill")] == [
        "lease_missing",
        *["lease_not_yours"] * 5,
    ]
    assert code(fill(desk, "nobody", outputs, proof)) == "ticket_unknown"


@pytest.mark.promise("desk.proof-first")
def test_outputs_that_are_no_object_are_refused_after_the_proof_and_the_lease_holds_on(desk: Desk) -> None:
    name = desk.event()
    proof = desk.hold(name)
    for outputs in (None, "text", 7, [], True):
        assert code(fill(desk, name, outputs, proof)) == "outputs_invalid"
    filled = fill(desk, name, APPROVED, proof)
    assert isinstance(filled, FillResult)
    assert filled.ticket.status == "done"


@pytest.mark.promise("desk.repeats")
def test_the_same_fill_again_changes_nothing_and_the_token_does_nothing_else(desk: Desk) -> None:
    triage = desk.event()
    proof = desk.hold(triage)
    first = fill(desk, triage, APPROVED, proof)
    assert isinstance(first, FillResult)
    before = desk.ticket(triage)
    for _ in range(3):
        again = fill(desk, triage, APPROVED, proof)
        assert isinstance(again, FillResult)
        assert (again.repeated, again.ticket) == (True, before)
    assert code(fill(desk, triage, {"decision": "REJECT"}, proof)) == "lease_token_used"
    assert code(desk.service.leases.nack(triage, proof=proof, caller=caller())) == "lease_token_used"
    assert code(desk.service.leases.lease_one(triage, "w1", token=proof.token)) == "lease_token_used"
    # The token of one ticket is nothing to another.
    (tool,) = first.derived
    assert code(fill(desk, tool, PROCEED, proof)) == "lease_missing"
    desk.hold(tool, "w2")
    assert code(fill(desk, tool, PROCEED, proof)) == "lease_not_yours"
    assert desk.service.tickets.list()[1] == 2


@pytest.mark.promise("desk.repeats")
def test_a_ticket_given_back_waits_and_to_give_it_back_twice_is_once(desk: Desk) -> None:
    name = desk.event()
    proof = desk.hold(name)
    back = desk.service.leases.nack(name, proof=proof, caller=caller())
    assert isinstance(back, FillResult)
    assert (back.ticket.status, back.ticket.attempts) == ("pending", 1)
    assert 0 < back.ticket.not_before - back.ticket.updated <= BACK_OFF_MS[0]
    again = desk.service.leases.nack(name, proof=proof, caller=caller())
    assert isinstance(again, FillResult)
    assert (again.repeated, again.ticket.attempts) == (True, 1)
    assert code(fill(desk, name, APPROVED, proof)) == "lease_token_used"
    assert code(desk.service.leases.nack("nobody", proof=proof, caller=caller())) == "ticket_unknown"


@pytest.mark.promise("desk.late")
def test_who_comes_after_his_lease_ended_changes_nothing_whoever_has_the_ticket_then(desk: Desk) -> None:
    (tool,) = desk.fill(desk.event(), APPROVED).derived
    late = desk.hold(tool, "late")
    end_lease(desk, tool)
    assert code(fill(desk, tool, PROCEED, late)) == "lease_expired"
    assert desk.service.leases.give_back_late() == 1
    assert code(fill(desk, tool, PROCEED, late)) == "lease_expired"
    quick = desk.hold(tool, "quick")
    assert code(fill(desk, tool, PROCEED, late)) == "lease_expired"
    assert code(desk.service.leases.nack(tool, proof=late, caller=caller())) == "lease_expired"
    assert isinstance(fill(desk, tool, PROCEED, quick), FillResult)
    assert code(fill(desk, tool, PROCEED, late)) == "lease_expired"
    refused = [one.header["audit"]["metadata"].get("refused") for one in desk.notes("desk.fill")]
    assert refused.count("lease_expired") == 4
    assert [one["id"] for one in desk.service.tickets.list(kind="REPLY")[0]] == [derived_id("REPLY", tool)]
    with desk.service.store.reading() as tx:
        assert [one.ticket_id for one in tx.list(last=True)[0]] == [derived_id("REPLY", tool)]


@pytest.mark.promise("desk.late")
def test_a_ticket_whose_leases_are_lost_again_and_again_is_left_to_a_person(desk: Desk) -> None:
    name = desk.event()
    for attempt in range(len(BACK_OFF_MS) + 1):
        desk.hold(name, f"w{attempt}")
        end_lease(desk, name)
        assert desk.service.leases.give_back_late() == 1
    assert desk.ticket(name).status == "failed"
    assert desk.service.leases.give_back_late() == 0


@pytest.mark.promise("desk.clock")
def test_the_clocks_of_workers_count_for_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    name = desk.event()
    proof = desk.hold(name)
    for hours in (-48, 48):
        # Every way to ask this process for the time of day.
        shifted = time.time() + hours * 3_600
        monkeypatch.setattr(time, "time", lambda shifted=shifted: shifted)
        monkeypatch.setattr(time, "time_ns", lambda shifted=shifted: int(shifted * 1e9))
        assert code(desk.service.leases.lease_one(name, "w2")) == "already_leased"
        assert desk.service.leases.give_back_late() == 0
    assert isinstance(fill(desk, name, APPROVED, proof), FillResult)


@pytest.mark.promise("desk.own-worker")
def test_what_our_own_worker_has_begun_is_not_leased_and_it_may_ask_again(desk: Desk) -> None:
    name = desk.event()
    leases = desk.service.leases
    begun = leases.begin(name, "run-1")
    assert isinstance(begun, Ticket)
    assert leases.begin(name, "run-1") == begun
    assert code(leases.begin(name, "run-2")) == "begun_by_worker"
    assert code(leases.lease_one(name, "w")) == "begun_by_worker"
    assert code(fill(desk, name, APPROVED, Proof(owner="run-1", token="run-1"))) == "begun_by_worker"
    assert leases.lease_some("w") == []
    assert leases.give_back_late() == 0
    ended = leases.finish(name, "run-1", APPROVED, by="desk")
    assert isinstance(ended, FillResult)
    assert ended.ticket.status == "done"
    again = leases.finish(name, "run-1", APPROVED, by="desk")
    assert isinstance(again, FillResult)
    assert again.repeated
    assert code(leases.finish(name, "run-2", APPROVED, by="desk")) == "lease_not_yours"
    assert code(leases.begin(name, "run-1")) == "not_pending"


@pytest.mark.promise("desk.own-worker")
def test_our_own_worker_leaves_leased_tickets_alone_and_gives_up_like_anybody(desk: Desk) -> None:
    name = desk.event()
    leases = desk.service.leases
    desk.hold(name)
    assert code(leases.begin(name, "run-1")) == "already_leased"
    end_lease(desk, name)
    assert isinstance(leases.begin(name, "run-1"), Ticket)
    back = leases.give_up(name, "run-1", "model_away")
    assert isinstance(back, FillResult)
    assert (back.ticket.status, back.ticket.attempts, back.incomplete) == ("pending", 2, "model_away")
    assert code(leases.begin("nobody", "run-1")) == "ticket_unknown"
    assert code(leases.give_up("nobody", "run-1", "x")) == "ticket_unknown"


@pytest.mark.promise("desk.lease")
def test_of_many_workers_at_once_each_ticket_is_one_s(desk: Desk) -> None:
    names = {desk.event(f"number {number}") for number in range(12)}

    def work(owner: int) -> list[str]:
        mine: list[str] = []
        while leased := desk.service.leases.lease_some(f"w{owner}", limit=2):
            for one in leased:
                proof = Proof(owner=f"w{owner}", token=one.token)
                assert isinstance(fill(desk, one.ticket.ticket_id, {"decision": "REJECT"}, proof), FillResult)
                mine.append(one.ticket.ticket_id)
        return mine

    with ThreadPoolExecutor(4) as pool:
        done = [name for mine in pool.map(work, range(4)) for name in mine]
    assert sorted(done) == sorted(names)


@pytest.mark.promise("desk.lease")
def test_of_many_that_want_the_same_ticket_one_gets_it(desk: Desk) -> None:
    name = desk.event()
    with ThreadPoolExecutor(4) as pool:
        tries = list(pool.map(lambda owner: desk.service.leases.lease_one(name, f"w{owner}"), range(8)))
    assert sum(not isinstance(one, Problem) for one in tries) == 1
    assert {code(one) for one in tries if isinstance(one, Problem)} == {"already_leased"}


@pytest.mark.promise("desk.repeats")
def test_many_that_fill_the_same_ticket_at_once_make_one_reply_and_one_message(desk: Desk) -> None:
    *_, reply = desk.to_reply()
    proof = desk.hold(reply)
    with ThreadPoolExecutor(4) as pool:
        fills = list(pool.map(lambda _: fill(desk, reply, DRAFT, proof), range(8)))
    assert sum(isinstance(one, FillResult) and not one.repeated for one in fills) == 1
    assert all(isinstance(one, FillResult) for one in fills)
    assert len(desk.messages()) == 1
