"""What the ledger is told about each kind of event."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.codes import BAD_ARGS, TIMEOUT
from tallystick.gate.decide.approvals import Grant
from tallystick.gate.decide.verdict import ALLOW, Context
from tallystick.gate.execute.outcome import Failure
from tallystick.gate.record import entries
from tallystick.gate.record.entries import DecidedCall
from tallystick.gate.record.masks import MARK
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.session import LOCAL_OWNER, Session
from tallystick.gate.tool import Card

REDACTOR = Redactor(key=b"k", names={"password"})
NONE: frozenset[str] = frozenset()
CARD = Card(name="look", description="", input_schema={"type": "object"})


def a_proposal(args: dict[str, Any], **fields: Any) -> Proposal:
    return Proposal(card=CARD, args=args, proposed_tool="look", proposed_args=args, **fields)


def a_case(proposal: Proposal | None = None, **fields: Any) -> DecidedCall:
    return DecidedCall(
        session=Session(session_id="s1"),
        proposal=proposal or a_proposal({}),
        context=Context(roles=frozenset({"owner"})),
        policy_digest="pp",
        inputs=b"{}",
        **{"decision": ALLOW, **fields},
    )


def inputs_of(proposal: Proposal, *secrets: str) -> dict[str, Any]:
    data, redacted = entries.call_inputs(proposal, REDACTOR, frozenset(secrets))
    assert redacted == (MARK in data.decode())
    parsed: dict[str, Any] = orjson.loads(data)
    return parsed


@pytest.mark.promise("record.inputs")
def test_a_call_is_kept_as_proposed() -> None:
    assert inputs_of(a_proposal({"n": 1})) == {"tool": "look", "args": {"n": 1}}


@pytest.mark.promise("record.inputs")
def test_a_transformed_call_is_kept_both_ways() -> None:
    proposal = replace(
        a_proposal({"file_path": "a"}, transformed=True), proposed_tool="peek", proposed_args={"path": "a"}
    )
    assert inputs_of(proposal) == {
        "tool": "peek",
        "args": {"path": "a"},
        "normalised": {"tool": "look", "args": {"file_path": "a"}},
    }


@pytest.mark.promise("record.secrets")
def test_a_secret_is_hidden_in_both_forms() -> None:
    proposal = replace(a_proposal({"password": "hunter2"}, transformed=True), proposed_args={"Pass-Word": "hunter2"})
    assert "hunter2" not in str(inputs_of(proposal))
    renamed = replace(a_proposal({"pin": "hunter2"}, transformed=True), proposed_args={"code": "hunter2"})
    assert "hunter2" not in str(inputs_of(renamed, "pin", "code"))


@pytest.mark.promise("record.inputs")
@pytest.mark.parametrize(
    ("tool", "args"),
    [("look", {"n": 1}), ("look", "text"), (None, None), (7, [1]), ("look", {"x": [1.5, None]})],
)
def test_an_attempt_is_kept_as_it_came(tool: object, args: object) -> None:
    assert orjson.loads(entries.attempt_inputs(tool, args, REDACTOR, NONE)) == {"tool": tool, "args": args}


@pytest.mark.promise("record.inputs")
@pytest.mark.parametrize(
    "args",
    [{"x": object()}, {1: 2}, {"x": "\ud800"}, {"x": float}, {"n": 2**80}],
    ids=["object", "key", "surrogate", "type", "large"],
)
def test_an_attempt_that_json_cannot_say_is_named(args: object) -> None:
    assert "look" in orjson.loads(entries.attempt_inputs("look", args, REDACTOR, NONE))["text"]


@pytest.mark.promise("record.secrets")
def test_an_attempt_hides_its_secrets() -> None:
    data = entries.attempt_inputs(
        "look", {"password": "hunter2", "x": [{"pin": "hunter2"}]}, REDACTOR, frozenset({"pin"})
    )
    assert b"hunter2" not in data
    large = {"password": "hunter2", "x": "y" * entries.MAX_TEXT}
    assert b"hunter2" not in entries.attempt_inputs("look", large, REDACTOR, NONE)


@pytest.mark.promise("record.inputs")
@given(st.text() | st.binary())
def test_any_message_is_kept_as_text(text: str | bytes) -> None:
    kept = orjson.loads(entries.text_inputs(text, REDACTOR, NONE))["text"]
    if isinstance(text, str) and text.isascii():
        assert kept == REDACTOR.mask(text)


@pytest.mark.promise("record.inputs", "record.secrets")
def test_a_long_message_is_cut_and_no_secret_is_cut_in_two() -> None:
    token = "sk-" + "a" * 40
    text = "x" * (entries.MAX_TEXT - 10) + " " + token + "y" * entries.MAX_TEXT
    kept = orjson.loads(entries.text_inputs(text, REDACTOR, NONE))["text"]
    assert len(kept) <= entries.MAX_TEXT
    assert "sk-" not in kept


@pytest.mark.promise("record.audit-record")
@pytest.mark.parametrize(
    ("resource", "args", "result", "expected"),
    [
        ("dataset:{dataset_id}", {"dataset_id": 1}, {"x": 2}, "dataset:1"),
        ("run:{run_id}", {"dataset_id": 1}, {"run_id": "r7"}, "run:r7"),
        ("prompt:v{version}", {}, "text", "prompt:v?"),
        ("{a}{b}", {"a": 1, "b": 2}, None, "12"),
        ("{a.__class__}", {"a": 1}, None, "{a.__class__}"),
        ("{a!r:>99999}", {"a": 1}, None, "{a!r:>99999}"),
        ("{", {"a": 1}, None, "{"),
    ],
)
def test_the_resource_is_filled_from_arguments_and_result(
    resource: str, args: dict[str, Any], result: Any, expected: str
) -> None:
    card = replace(CARD, name="tool.analysis.run", audited=True, resource=resource, audit_keys=("mode", "x"))
    record = entries.audit_record(card, LOCAL_OWNER, {**args, "mode": "fast"}, result)
    assert (record["subject"], record["action"], record["resource"]) == ("local", "analysis.run", expected)
    assert record["metadata"]["mode"] == "fast"


@pytest.mark.promise("record.audit-record")
def test_metadata_holds_ids_and_parameters_and_no_text_of_its_own() -> None:
    card = replace(CARD, audited=True, audit_keys=("n", "ratio", "options", "missing"))
    record = entries.audit_record(card, LOCAL_OWNER, {"n": 1, "ratio": 0.5, "options": {"b": "text", "a": 1}}, None)
    assert record["metadata"] == {"n": 1, "ratio": "0.5", "options": "a,b"}
    assert "resource" not in record


def test_an_outcome_says_what_was_decided_and_what_came_of_it() -> None:
    shadowed = replace(ALLOW, shadowed=True, would="tool_denied")
    case = a_case(a_proposal({}, transformed=True, cot_leak=True), decision=shadowed)
    draft = entries.outcome(case, duration_us=5, failure=Failure(fault=TIMEOUT, message="too slow"))
    assert draft.outcome == {
        "status": "transformed",
        "cot_leak": True,
        "shadow": "tool_denied",
        "fault": "timeout",
        "category": "downstream_error",
        "reason": "too slow",
    }
    assert draft.tool_version == CARD.version


def test_an_approved_call_names_the_approval_and_the_person() -> None:
    case = a_case(grant=Grant(approval_id="appr_1", person="eva", channel="terminal"))
    for draft in (entries.started(case), entries.outcome(case, duration_us=1)):
        assert draft.approval == {"approval_id": "appr_1", "person": "eva", "channel": "terminal"}


def test_a_pointer_that_the_caller_chose_does_not_fill_the_header() -> None:
    rejection = Rejection(fault=BAD_ARGS, reason="no", pointer="/" + "x" * 60_000)
    draft = entries.undecided(
        Session(session_id="s"), rejection, b"{}", policy_digest="p", duration_us=1, cot_leak=False
    )
    assert draft.outcome is not None
    assert len(draft.outcome["pointer"]) == entries.MAX_POINTER


def test_a_call_handed_back_says_so() -> None:
    client = replace(CARD, origin="client")
    draft = entries.outcome(a_case(replace(a_proposal({}), card=client)), duration_us=1)
    assert draft.outcome == {"status": "accepted", "handed_back": True}
