"""Events and tickets come in once each; what cannot be taken gets a fixed code, and nothing is lost beside it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.rooms.desk.model import derived_id
from tallystick.turns.runs import DurableError
from tests.rooms.desk.desk_service import APPROVED, NOW, PROCEED, Desk, event
from tests.sizes import size

SEED: dict[str, Any] = {
    "id": "tool-abc123",
    "type": "DraftTicket",
    "status": "pending",
    "flow_id": "tool_execution_v1",
    "event": {
        "type": "thread_reply",
        "thread_id": "thread-xyz789",
        "content": "What is the company policy on remote work?",
        "actor": "user@example.com",
        "timestamp": "2025-12-19T10:00:00Z",
    },
    "metadata": {
        "kind": "TOOL",
        "created_at": "2025-12-19T10:00:01Z",
        "triage_reference_id": "triage-def456",
        "tool_input": {
            "triage": {
                "decision": "APPROVE",
                "reply_strategy": "Cite official policy document",
                "information_needs": [{"question": "What is the official remote work policy?", "purpose": "reference"}],
            },
            "tool_policy": {
                "max_turns": 3,
                "web_search_strategy": "focused",
                "web_search_budget": 5,
                "tool_whitelist": ["notebooklm.ask_question", "mem.search"],
            },
        },
        "final_outputs": {
            "tool_context": {
                "evidence": [{"source": "notebooklm", "snippet": "Up to 3 days per week.", "relevance_score": 0.95}],
                "tool_trace": [
                    {
                        "tool_name": "notebooklm.ask_question",
                        "args": {"question": "What is it?"},
                        "result": {"answer": "Up to 3 days per week.", "confidence": 0.95},
                        "timestamp": "2025-12-19T10:00:05Z",
                    }
                ],
                "truncated": False,
                "turn_control": {"turns_used": 1, "max_turns": 3},
            },
            "tool_verdict": {"status": "PROCEED", "reason": "Policy information retrieved successfully"},
        },
    },
    "x_unknown": [1, {"b": 2, "a": 1.5}],
}


@pytest.mark.promise("desk.events")
def test_an_event_becomes_one_triage_ticket_however_often_it_comes(desk: Desk) -> None:
    given_event = event(event_id="e-1")
    first = desk.service.intake.take(given_event)
    assert (first.status, desk.woken) == ("queued", [first.ticket_id])
    for _ in range(3):
        again = desk.service.intake.take(given_event)
        assert (again.status, again.reason, again.ticket_id) == ("skipped", "duplicate", first.ticket_id)
    shown = desk.service.tickets.show(str(first.ticket_id))
    assert shown is not None
    assert shown["event"] == given_event
    assert (shown["metadata"], shown["status"]) == ({"kind": "TRIAGE", "created_at": NOW}, "pending")
    assert desk.service.tickets.list()[1] == 1
    assert desk.woken == [first.ticket_id]


@pytest.mark.promise("desk.events")
@pytest.mark.parametrize(
    ("given_event", "status", "reason"),
    [
        ({"type": "thread_reply"}, "rejected", "content_missing"),
        (event(""), "rejected", "content_missing"),
        (event(" \n\t "), "rejected", "content_missing"),
        (event(None), "rejected", "content_missing"),
        (event(["x"]), "rejected", "content_missing"),
        (event("x" * 5_000_000), "rejected", "content_too_long"),
        (event("x", timestamp="2001-01-01T00:00:00Z"), "skipped", "too_old"),
        (event("x", timestamp="2001-01-01"), "skipped", "too_old"),
        ("no object", "rejected", "not_an_object"),
        (None, "rejected", "not_an_object"),
        ([], "rejected", "not_an_object"),
        ({"id": "", "metadata": {}}, "rejected", "id_invalid"),
        ({"id": 7, "metadata": {}}, "rejected", "id_invalid"),
        ({"id": "../x", "metadata": {}}, "rejected", "id_invalid"),
        ({"id": "a" * 121, "metadata": {}}, "rejected", "id_invalid"),
        ({"id": derived_id("REPLY", "x"), "metadata": {}}, "rejected", "id_reserved"),
        ({"id": "t", "metadata": {}, "event": {"content": "x" * 100_001}}, "rejected", "content_too_long"),
    ],
    ids=range(17),
)
def test_what_is_not_taken_gets_a_fixed_code_and_becomes_no_ticket(
    desk: Desk, given_event: Any, status: str, reason: str
) -> None:
    received = desk.service.intake.take(given_event)
    assert (received.status, received.reason, received.ticket_id) == (status, reason, None)
    assert received.message
    assert desk.service.tickets.list()[1] == 0
    assert desk.woken == []


@pytest.mark.promise("desk.events")
def test_the_bounds_of_length_and_age_are_settings(open_other: Callable[..., Desk]) -> None:
    desk = open_other(min_chars=5, max_chars=10, max_age_days=1)
    take = desk.service.intake.take
    assert take(event("four")).reason == "too_short"
    assert take(event("x" * 11)).reason == "content_too_long"
    assert take(event("x" * 10, timestamp="2026-05-31T11:59:00Z")).reason == "too_old"
    assert take(event("x" * 10, timestamp="2026-05-31T12:01:00Z")).status == "queued"
    # A clock that goes wrong, or a time that is none, loses nothing.
    assert take(event("x" * 9, timestamp="2031-01-01T00:00:00Z")).status == "queued"
    assert take(event("x" * 8, timestamp="yesterday")).status == "queued"


@pytest.mark.promise("desk.events")
def test_the_same_words_are_the_same_event_only_where_nothing_else_tells_them_apart(desk: Desk) -> None:
    take = desk.service.intake.take
    plain = {"thread_id": "th", "content": "Hello?", "actor": "ada"}
    assert take(plain).status == "queued"
    assert take(plain).reason == "duplicate"
    assert take({**plain, "timestamp": "2026-06-01T11:00:00Z"}).status == "queued"
    assert take({**plain, "timestamp": "2026-06-01T11:00:00Z"}).reason == "duplicate"
    assert take({**plain, "timestamp": "2026-06-01T11:00:01Z"}).status == "queued"
    assert take({**plain, "event_id": "1"}).status == "queued"
    assert take({**plain, "event_id": "2"}).status == "queued"
    assert take({**plain, "event_id": "2", "timestamp": "2026-06-01T11:00:09Z"}).reason == "duplicate"
    reused = take({**plain, "event_id": "2", "content": "Other words"})
    assert (reused.status, reused.reason) == ("rejected", "event_id_reused")


@pytest.mark.promise("desk.events")
def test_without_id_and_time_the_same_words_are_new_again_after_a_while(open_other: Callable[..., Desk]) -> None:
    desk = open_other(duplicate_hours=0)
    plain = {"thread_id": "th", "content": "Hello?"}
    assert [desk.service.intake.take(plain).status for _ in range(3)] == ["queued"] * 3


@pytest.mark.promise("desk.round-trip")
def test_the_contracts_example_comes_back_as_it_was_given(desk: Desk) -> None:
    received = desk.service.intake.take(SEED)
    assert (received.status, received.ticket_id) == ("queued", "tool-abc123")
    shown = desk.service.tickets.show("tool-abc123")
    assert shown is not None
    beside = shown.pop("_desk")
    assert json.dumps(shown, indent=2) == json.dumps(SEED, indent=2)
    assert [warning.partition(":")[0] for warning in beside["warnings"]] == ["tool_unknown", "tool_unknown"]
    assert desk.service.intake.take(SEED).reason == "duplicate"
    assert desk.service.intake.take({**SEED, "type": "Other"}).reason == "id_taken"


@pytest.mark.promise("desk.round-trip")
def test_old_tickets_without_a_kind_pass_and_are_what_their_flow_is_called(desk: Desk) -> None:
    for flow, kind in (("my_triage_v2", "TRIAGE"), ("reply_flow", "REPLY"), ("tool_execution_v1", "TOOL")):
        received = desk.service.intake.take({"flow_id": flow, "event": {"content": "x"}})
        assert (received.status, received.warnings) == ("queued", ())
        assert desk.ticket(str(received.ticket_id)).kind == kind


@pytest.mark.promise("desk.round-trip")
@settings(max_examples=size(25, 500), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    more=st.dictionaries(
        st.text(max_size=8).filter(lambda name: name not in {"id", "status", "event", "metadata", "flow_id"}),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**53), 2**53)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=4,
    ),
    thread=st.text(max_size=300),
)
def test_whatever_stands_in_a_ticket_comes_back(desk: Desk, more: dict[str, Any], thread: str) -> None:
    ticket = {**more, "metadata": {"kind": "TRIAGE", "extra": more}, "event": {"content": "x", "thread_id": thread}}
    received = desk.service.intake.take(ticket)
    assert received.status == "queued"
    shown = desk.service.tickets.show(str(received.ticket_id))
    assert shown is not None
    assert {name: value for name, value in shown.items() if name not in {"id", "status", "_desk"}} == ticket


@pytest.mark.promise("desk.posted-outputs")
def test_a_ticket_with_outputs_is_stored_and_nothing_follows_before_the_servers_verdict(desk: Desk) -> None:
    for name, kind, outputs in (("t", "TOOL", PROCEED), ("s", "TRIAGE", APPROVED), ("r", "REPLY", {"draft": "Hi."})):
        received = desk.service.intake.take({"id": name, "metadata": {"kind": kind, "final_outputs": outputs}})
        assert received.status == "queued"
    done = {"id": "d", "status": "done", "metadata": {"kind": "TOOL", "final_outputs": PROCEED}}
    desk.service.intake.take(done)
    assert desk.service.tickets.list()[1] == 4
    assert desk.messages() == []
    assert desk.judge.asked == []


@pytest.mark.promise("desk.warnings")
def test_what_cannot_be_meant_is_a_warning_and_refuses_nothing(desk: Desk) -> None:
    policy = {"max_turns": -1, "web_search_budget": -5, "tool_whitelist": ["kb.search", "no.such", 7]}
    received = desk.service.intake.take(
        {"id": "t", "metadata": {"kind": "TOOL", "tool_input": {"tool_policy": policy}}}
    )
    assert [warning.partition(":")[0] for warning in received.warnings] == [
        "budget_negative",
        "budget_negative",
        "tool_unknown",
        "tool_unknown",
    ]
    unknown = desk.service.intake.take({"id": "u", "metadata": {"kind": "DANCE"}})
    assert [warning.partition(":")[0] for warning in unknown.warnings] == ["kind_unknown"]
    assert desk.ticket("u").status == "pending"
    assert desk.service.leases.lease_one("u", "w").code == "kind_unknown"
    assert [one.ticket.ticket_id for one in desk.service.leases.lease_some("w", limit=9)] == ["t"]
    for status in ("running", "review", "dancing", 7, None):
        odd = desk.service.intake.take({"status": status, "metadata": {"kind": "TOOL"}})
        assert [warning.partition(":")[0] for warning in odd.warnings] == ["status_set"]
        assert desk.ticket(str(odd.ticket_id)).status == "pending"


@pytest.mark.promise("desk.warnings")
@pytest.mark.parametrize(
    ("ticket", "many"),
    [
        ({"metadata": {"kind": "TOOL"}}, 0),
        ({"metadata": {"kind": "TOOL", "final_outputs": {}}}, 0),
        ({"metadata": {"kind": "TOOL", "tool_input": 7}}, 1),
        ({"metadata": {"kind": "TOOL"}, "event": "x"}, 1),
        ({"metadata": {"kind": "TOOL", "final_outputs": {"tool_verdict": {"status": "MAYBE"}}}}, 1),
        ({"metadata": {"kind": "TOOL", "tool_input": {"triage": {"decision": "YES"}}}, "type": 1}, 2),
        ({"metadata": 7, "flow_id": "tool"}, 1),
    ],
)
def test_the_schema_warns_when_it_is_switched_on_and_never_blocks(
    desk: Desk, open_other: Callable[..., Desk], ticket: dict[str, Any], many: int
) -> None:
    quiet = desk.service.intake.take(ticket)
    strict = open_other(schema_validation="true").service.intake.take({**ticket, "id": "strict"})
    assert (quiet.status, quiet.warnings) == ("queued", ())
    assert strict.status == "queued"
    assert [warning.partition(":")[0] for warning in strict.warnings] == ["schema"] * many


@pytest.mark.promise("desk.batch")
def test_in_a_batch_one_that_cannot_be_taken_keeps_no_other_out(desk: Desk) -> None:
    items = [event("one"), {"content": ""}, event("two"), None, {"id": "t", "metadata": {"kind": "TOOL"}}, event("one")]
    received = desk.service.intake.take_all(items)
    assert [one.status for one in received] == ["queued", "rejected", "queued", "rejected", "queued", "queued"]
    assert desk.service.tickets.list()[1] == 4
    assert desk.service.intake.take_all([]) == []


@pytest.mark.promise("desk.outside")
def test_no_worker_of_ours_is_woken_when_all_is_left_to_leases(open_other: Callable[..., Desk]) -> None:
    desk = open_other(workers="outside")
    desk.event()
    assert desk.woken == []


@pytest.mark.promise("desk.events")
def test_an_event_is_taken_though_no_worker_can_be_woken(desk: Desk) -> None:
    def away(_: Any) -> None:
        raise DurableError("no engine", code="durable_not_installed")

    desk.service.woken = away
    assert desk.ticket(desk.event()).status == "pending"
