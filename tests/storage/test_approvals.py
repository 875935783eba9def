"""The approval book on SQLite and PostgreSQL."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.gate.decide.approvals import ApprovalStore, Grant, Hold, State, Unmoved
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest
from tallystick.gate.session import Caller, Session
from tallystick.storage.approvals import SqlApprovalStore
from tests.sizes import size
from tests.storage import racing

PERSON = {"person": "eve", "channel": "terminal"}
SESSION = Session(
    session_id="s1",
    caller=Caller(subject="ann", roles=frozenset({"clerk", "boss"}), channel="mcp"),
    agent_id="chief",
    ticket_id="T1",
    extra={"room": "desk"},
)


@pytest.fixture
def book(engine: sa.Engine) -> ApprovalStore:
    return SqlApprovalStore(engine)


def a_hold(number: int = 1, args: dict[str, Any] | None = None, **fields: Any) -> Hold:
    args = {"to": "bob"} if args is None else args
    policy = fields.get("policy_digest", "p1")
    digest = call_digest("ann", "send", args, policy)
    hold = Hold(
        approval_id=f"apr_{number}", digest=digest, live_digest=live_digest(digest, SESSION), session=SESSION,
        tool="send", args=canonical(args), shown=canonical(args), policy_digest=policy, reason="approval_required",
        created=number, expires=1000,
    )  # fmt: skip
    return replace(hold, **fields)


def named(hold: Hold) -> str:
    assert hold.live_digest is not None
    return hold.live_digest


def edit(
    book: ApprovalStore, approval_id: str, args: Any, *, now: int, shown: dict[str, Any] | None = None
) -> Hold | Unmoved:
    """Edit as the gate does: the request with other arguments, then the book."""
    hold = book.get(approval_id, now)
    edited = Unmoved(why="not_found") if hold is None else hold.with_arguments(args, args if shown is None else shown)
    return edited if isinstance(edited, Unmoved) else book.edit(edited, **PERSON, now=now)


@pytest.mark.promise("decide.approval-once", "decide.approval-found-again")
def test_a_request_is_held_found_again_granted_and_taken_once(book: ApprovalStore) -> None:
    hold = a_hold()
    assert book.hold(hold) == hold
    assert book.hold(a_hold(2)) == hold
    assert book.take(named(hold), 5) is None
    granted = book.grant("apr_1", **PERSON, now=6)
    assert granted == replace(hold, state=State.GRANTED, person="eve", channel="terminal", answered=6)
    assert book.hold(a_hold(3)) == granted
    assert book.take(named(hold), 7) == Grant(approval_id="apr_1", person="eve", channel="terminal")
    assert book.take(named(hold), 7) is None
    assert book.hold(a_hold(4)) == a_hold(4)
    assert book.take(named(hold), 8) is None


@pytest.mark.promise("decide.approval-bound")
@pytest.mark.parametrize("changed", [{"args": {"to": "bob", "cc": "x"}}, {"policy_digest": "p2"}])
def test_changed_arguments_or_policy_are_a_new_request(book: ApprovalStore, changed: dict[str, Any]) -> None:
    book.hold(a_hold())
    book.grant("apr_1", **PERSON, now=2)
    other = a_hold(2, **changed)
    assert book.take(named(other), 3) is None
    assert book.hold(other) == other
    assert book.take(named(a_hold()), 3) is not None


@pytest.mark.promise("decide.approval-states", "decide.approval-bound")
def test_an_expired_request_moves_no_more_and_the_next_is_new(book: ApprovalStore) -> None:
    book.hold(a_hold())
    book.hold(a_hold(2, {"to": "eve"}))
    book.grant("apr_2", **PERSON, now=10)
    for number in (1, 2):
        late = book.get(f"apr_{number}", 1000)
        assert late is not None
        assert (late.state, late.args) == (State.EXPIRED, b"")
    assert book.take(named(a_hold(2, {"to": "eve"})), 1000) is None
    for answer in (
        book.grant("apr_1", **PERSON, now=1000),
        book.refuse("apr_1", **PERSON, now=1000, reason="late"),
        edit(book, "apr_1", {}, now=1000),
    ):
        assert isinstance(answer, Unmoved)
        assert answer.why == "expired"
    again = a_hold(3, created=1000, expires=2000)
    assert book.hold(again) == again


@pytest.mark.promise("decide.approval-bound")
def test_the_same_call_after_the_expiry_is_a_new_request(book: ApprovalStore) -> None:
    book.hold(a_hold())
    again = a_hold(2, created=1000, expires=2000)
    assert book.hold(again) == again
    assert [hold.state for hold in book.list(1000)] == [State.HELD, State.EXPIRED]


@pytest.mark.promise("decide.approval-states")
def test_a_refused_request_says_why_keeps_no_arguments_and_cannot_be_granted(
    book: ApprovalStore, engine: sa.Engine
) -> None:
    book.hold(a_hold(args={"secret": "swordfish"}, shown=b'{"secret":"hidden"}'))
    refused = book.refuse("apr_1", **PERSON, now=3, reason="not today")
    assert isinstance(refused, Hold)
    assert (refused.state, refused.note, refused.args) == (State.REFUSED, "not today", b"")
    assert refused.as_dict()["args"] == {"secret": "hidden"}
    after = book.grant("apr_1", **PERSON, now=4)
    assert isinstance(after, Unmoved)
    assert (after.why, after.hold) == ("not_waiting", refused)
    with engine.connect() as connection:
        assert b"swordfish" not in connection.execute(sa.text("SELECT args FROM tally_approvals")).scalar_one()


@pytest.mark.promise("decide.approval-edit")
def test_an_edit_is_a_grant_for_the_edited_call_alone(book: ApprovalStore) -> None:
    book.hold(a_hold())
    edited = edit(book, "apr_1", {"to": "carol"}, now=3, shown={"to": "c…"})
    carol = call_digest("ann", "send", {"to": "carol"}, "p1")
    assert isinstance(edited, Hold)
    assert (edited.state, edited.edited, edited.digest) == (State.EDITED, True, carol)
    assert (edited.arguments(), json.loads(edited.shown)) == ({"to": "carol"}, {"to": "c…"})
    assert book.take(named(a_hold()), 4) is None
    assert isinstance(edit(book, "apr_1", {"to": "dora"}, now=4), Unmoved)
    assert book.take(named(edited), 5) == Grant(approval_id="apr_1", person="eve", channel="terminal", edited=True)
    assert book.take(named(edited), 5) is None


@pytest.mark.promise("decide.approval-edit")
@pytest.mark.parametrize(
    "args",
    [{"n": float("nan")}, {"n": 2**60}, {"n": object()}, {1: "x"}, {"s": "\ud800"}],
    ids=["nan", "too large", "object", "number as key", "lone surrogate"],
)
def test_an_edit_into_what_json_cannot_carry_changes_nothing(book: ApprovalStore, args: Any) -> None:
    book.hold(a_hold())
    answer = edit(book, "apr_1", args, now=3)
    assert isinstance(answer, Unmoved)
    assert answer.why == "bad_arguments"
    assert book.get("apr_1", 4) == a_hold()


@pytest.mark.promise("decide.approval-edit", "decide.approval-found-again")
def test_an_edit_into_a_call_that_already_waits_changes_neither(book: ApprovalStore) -> None:
    carol = a_hold(2, {"to": "carol"})
    book.hold(a_hold())
    book.hold(carol)
    answer = edit(book, "apr_1", {"to": "carol"}, now=3)
    assert isinstance(answer, Unmoved)
    assert answer.why == "same_call_waits"
    assert (book.get("apr_1", 4), book.get("apr_2", 4)) == (a_hold(), carol)


@pytest.mark.parametrize(
    "approval_id", ["", "apr_9", "apr_1\x00", "'; DROP TABLE tally_approvals; --", "é" * 99, "\ud800"]
)
def test_a_request_nobody_made_is_not_found(book: ApprovalStore, approval_id: str) -> None:
    book.hold(a_hold())
    assert book.get(approval_id, 2) is None
    for answer in (
        book.grant(approval_id, **PERSON, now=2),
        book.refuse(approval_id, **PERSON, now=2, reason=""),
        edit(book, approval_id, {}, now=2),
    ):
        assert isinstance(answer, Unmoved)
        assert answer.why == "not_found"


def test_any_text_a_person_types_is_kept(book: ApprovalStore) -> None:
    book.hold(a_hold(pointer="/a\x00"))
    refused = book.refuse("apr_1", person="e\x00ve\ud800", channel="terminal", now=2, reason="näh 🙅\x00")
    assert isinstance(refused, Hold)
    assert (refused.person, refused.note, refused.pointer) == ("e\ufffdve?", "näh 🙅\ufffd", "/a\ufffd")


def test_requests_are_listed_newest_first_by_their_state_now(book: ApprovalStore) -> None:
    for number in range(1, 7):
        book.hold(a_hold(number, {"n": number}, expires=50 if number == 6 else 1000))
    book.grant("apr_1", **PERSON, now=10)
    book.refuse("apr_2", **PERSON, now=10, reason="no")
    edit(book, "apr_3", {"n": 33}, now=10)
    book.grant("apr_4", **PERSON, now=10)
    book.take(named(a_hold(4, {"n": 4})), 11)

    def ids(now: int, **how: Any) -> list[int]:
        return [int(hold.approval_id.removeprefix("apr_")) for hold in book.list(now, **how)]

    assert ids(20) == [6, 5, 4, 3, 2, 1]
    assert ids(20, limit=2, offset=1) == [5, 4]
    assert ids(20, limit=-1, offset=-1) == []
    by_state = {state: ids(20, state=state) for state in State}
    assert by_state == {
        State.HELD: [6, 5], State.GRANTED: [1], State.EDITED: [3], State.TAKEN: [4], State.REFUSED: [2], State.EXPIRED: []
    }  # fmt: skip
    assert ids(60, state=State.HELD) == [5]
    assert ids(60, state=State.EXPIRED) == [6]
    assert ids(5000, state=State.EXPIRED) == [6, 5, 3, 1]
    assert {hold.state for hold in book.list(5000)} == {State.EXPIRED, State.TAKEN, State.REFUSED}


@pytest.mark.promise("decide.approval-once")
def test_of_a_hundred_threads_one_takes_the_grant(book: ApprovalStore) -> None:
    for round_ in range(size(2, 20)):
        hold = a_hold(round_ + 1, {"round": round_})
        book.hold(hold)
        book.grant(hold.approval_id, **PERSON, now=50)
        with ThreadPoolExecutor(20) as pool:
            taken = list(pool.map(partial(book.take, named(hold)), [60] * 100))
        assert sum(grant is not None for grant in taken) == 1


@pytest.mark.promise("decide.approval-once")
def test_of_a_hundred_tries_in_four_processes_one_takes_the_grant(book: ApprovalStore, new_database: str) -> None:
    book.hold(a_hold())
    book.grant("apr_1", **PERSON, now=2)
    taken = racing.in_processes(racing.take, 4, new_database, named(a_hold()), 25)
    assert sum(taken) == 1


@pytest.mark.promise("decide.approval-found-again")
def test_the_same_call_held_by_many_threads_is_one_request(book: ApprovalStore) -> None:
    with ThreadPoolExecutor(16) as pool:
        holds = list(pool.map(lambda number: book.hold(a_hold(number, created=1)), range(1, 65)))
    assert len({hold.approval_id for hold in holds}) == 1
    assert len(book.list(2)) == 1


@pytest.mark.promise("decide.approval-states")
def test_of_many_answers_at_once_one_counts(book: ApprovalStore) -> None:
    book.hold(a_hold())

    def answer(number: int) -> Hold | Unmoved:
        who = {"person": f"p{number}", "channel": "terminal"}
        if number % 2:
            return book.grant("apr_1", **who, now=2)
        return book.refuse("apr_1", **who, now=2, reason="no")

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(answer, range(64)))
    counted = [given for given in answers if isinstance(given, Hold)]
    assert len(counted) == 1
    assert book.get("apr_1", 3) == counted[0]
