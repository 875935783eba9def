from dataclasses import replace

import pytest

from tallystick.rooms.desk.model import BACK_OFF_MS, MOVES, Outgoing, Review, Ticket, kind_of, may_move, wait_after
from tallystick.rooms.desk.store import Store
from tallystick.rooms.desk.store.ticket_rows import TicketConflict


def ticket(name: str = "t1", kind: str = "TRIAGE", **more: object) -> Ticket:
    event = {"type": "thread_reply", "thread_id": "th1", "content": "Where is it?"}
    return Ticket(
        body={
            "id": name,
            "type": "DraftTicket",
            "status": "pending",
            "flow_id": f"{kind.lower()}_v1",
            "event": event,
            "metadata": {"kind": kind, **more},
            "unknown": [1, {"b": 2, "a": 1}],
        }
    )


def test_a_ticket_comes_back_as_it_was_given_and_is_added_once(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.add(ticket())
        assert not tx.add(ticket(more="other"))
    with store.reading() as tx:
        found = tx.get("t1")
        assert found is not None
        assert found.body == ticket().body
        assert list(found.body["unknown"][1]) == ["b", "a"]
        assert tx.get("none") is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"flow_id": "my_triage_flow"}, "TRIAGE"),
        ({"flow_id": "reply_v3"}, "REPLY"),
        ({"flow_id": "tool_execution_v1"}, "TOOL"),
        ({"flow_id": "triage", "metadata": {"kind": "TOOL"}}, "TOOL"),
        ({"flow_id": "triage", "metadata": {"kind": "DANCE"}}, None),
        ({"flow_id": "x"}, None),
        ({}, None),
        ({"metadata": "no object"}, None),
    ],
)
def test_the_kind_is_what_the_ticket_says_else_what_its_flow_is_called(body: dict, kind: str | None) -> None:
    assert kind_of(body) == kind


def test_what_was_read_before_another_change_is_not_written(store: Store) -> None:
    with store.transaction() as tx:
        tx.add(ticket())
    with store.reading() as tx:
        old = tx.get("t1")
    assert old is not None
    with store.transaction() as tx:
        leased = tx.lease(old, owner="w1", token_hash="h", lasts_ms=60_000)
        assert leased.status == "running"
        assert leased.lease_owner == "w1"
    with pytest.raises(TicketConflict), store.transaction() as tx:
        tx.lease(old, owner="w2", token_hash="h2", lasts_ms=60_000)
    with store.transaction() as tx:
        assert tx.lease_hash("t1") == "h"
        saved = tx.save(replace(leased, body={**leased.body, "status": "done"}), was=leased)
        assert saved.status == "done"
        assert tx.lease_hash("t1") is None
    with pytest.raises(TicketConflict), store.transaction() as tx:
        tx.save(replace(saved, body={**saved.body, "status": "pending"}), was=saved)


def test_leases_end_by_the_databases_clock(store: Store) -> None:
    with store.transaction() as tx:
        tx.add(ticket("a"))
        tx.add(ticket("b"))
        found = tx.get("a")
        assert found is not None
        tx.lease(found, owner="w", token_hash="h", lasts_ms=-1)
        assert [one.ticket_id for one in tx.overdue()] == ["a"]
        assert [one.ticket_id for one in tx.waiting(kind="TRIAGE", limit=5)] == ["b"]
        assert tx.waiting(kind="TOOL", limit=5) == []


def test_an_exception_undoes_everything(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction() as tx:  # noqa: PT012 - that is what is shown
        tx.add(ticket())
        tx.put_review(Review(ticket_id="t1", state="waiting", rule_id="r", reason="why", draft=""))
        tx.count("proceed")
        raise RuntimeError
    with store.reading() as tx:
        assert tx.list() == ([], 0)
        assert tx.reviews() == ([], 0)
        assert tx.counts() == {}


def test_a_message_is_in_the_outbox_once_and_changes_hands_once(store: Store) -> None:
    message = Outgoing(key="k", ticket_id="t1", thread_id="th1", channel="file", payload={"text": "hi"}, state="queued")
    with store.transaction() as tx:
        assert tx.put_outgoing(message)
        assert not tx.put_outgoing(message)
        assert tx.change_outgoing(replace(message, state="sending", attempts=1), was="queued")
        assert not tx.change_outgoing(replace(message, state="sending", attempts=1), was="queued")
        tx.count("sent")
        tx.count("sent", 2)
    with store.reading() as tx:
        found, total = tx.outbox(state="sending")
        assert (found[0].payload, found[0].attempts, total) == ({"text": "hi"}, 1, 1)
        assert tx.counts() == {"sent": 3}


def test_lists_are_newest_first_and_by_thread(store: Store) -> None:
    with store.transaction() as tx:
        tx.add(ticket("a"))
        tx.add(ticket("b", "TOOL", triage_reference_id="a"))
        assert [one.ticket_id for one in tx.children("a")] == ["b"]
        assert tx.list(kind="TOOL")[1] == 1
        newest = tx.newest_in_thread("th1", kind="TRIAGE")
        assert newest is not None
        assert newest.ticket_id == "a"
        assert tx.tally() == {("TRIAGE", "pending"): 1, ("TOOL", "pending"): 1}


def test_done_and_blocked_are_final() -> None:
    assert not any(may_move("done", then) or may_move("blocked", then) for then in MOVES)
    assert all(then in MOVES for moves in MOVES.values() for then in moves)
    assert [wait_after(attempts) for attempts in range(6)] == [None, *BACK_OFF_MS, None]
