"""A packet is exactly what was agreed, and says where it is not."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.agents.tasks.packet import PACKET_SCHEMA, Intent, TaskPacket
from tallystick.agents.tasks.receipt import RECEIPT_SCHEMA, TaskReceipt
from tests.agents.tasks.samples import PACKET, RECEIPT, packet

ASKING = {"question": "Which storm?", "choices": ["the first", "the second"]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=8,
)


def refused(value: Any) -> Problem:
    problem = TaskPacket.from_dict(value)
    assert isinstance(problem, Problem), problem
    assert problem.code == "task_packet_invalid"
    return problem


def objects(schema: dict[str, Any], at: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every object schema, with its place."""
    found = [(at, schema)] if schema.get("type") == "object" else []
    for name, part in schema.get("properties", {}).items():
        found += objects(part, f"{at}/{name}")
    return found + (objects(schema["items"], f"{at}/*") if isinstance(schema.get("items"), dict) else [])


@pytest.mark.promise("tasks.strict")
@pytest.mark.parametrize("schema", [PACKET_SCHEMA, RECEIPT_SCHEMA], ids=["packet", "receipt"])
def test_no_object_of_either_schema_is_open(schema: dict[str, Any]) -> None:
    for place, part in objects(schema):
        assert part["additionalProperties"] is False, place


@pytest.mark.promise("tasks.strict")
def test_the_fields_are_those_of_the_contract() -> None:
    optional = {"parent_packet_id", "run_id", "step_id", "attempt", "clarification"}
    assert PACKET_SCHEMA["properties"].keys() == PACKET.keys() | optional
    assert set(PACKET_SCHEMA["required"]) == PACKET.keys()
    assert RECEIPT_SCHEMA["properties"].keys() == set(RECEIPT_SCHEMA["required"]) == RECEIPT.keys()
    assert {str(intent) for intent in Intent} == {
        "clarify", "plan_scene", "beat_architect", "continuity_check", "write_beat", "critique_scene", "edit_scene",
        "summarize_context", "finalize", "other",
    }  # fmt: skip


@pytest.mark.promise("tasks.strict")
def test_a_packet_survives_the_wire() -> None:
    full = packet(
        intent="clarify", clarification=ASKING, parent_packet_id="pkt_0", run_id="run_1", step_id="s1", attempt=2,
        requested_by={"agent_id": "assistant", "reason": "asked"},
    )  # fmt: skip
    assert TaskPacket.from_dict(full.as_dict()) == full
    assert packet().as_dict() == PACKET


@pytest.mark.promise("tasks.strict")
@pytest.mark.parametrize("name", sorted(PACKET))
def test_a_field_that_is_missing_mistyped_or_null_is_refused_with_its_place(name: str) -> None:
    assert refused({key: value for key, value in PACKET.items() if key != name}).pointer == f"/{name}"
    for wrong in (None, 7, ["x"]):
        assert refused({**PACKET, name: wrong}).pointer.startswith(f"/{name}")


@pytest.mark.promise("tasks.strict")
@pytest.mark.parametrize("name", [name for name, value in PACKET.items() if isinstance(value, dict)])
def test_a_field_that_nobody_knows_is_refused_at_both_levels(name: str) -> None:
    assert refused({**PACKET, "extra": 1}).pointer == "/extra"
    assert refused({**PACKET, name: {**PACKET[name], "extra": 1}}).pointer == f"/{name}/extra"


@pytest.mark.promise("tasks.clarify")
@pytest.mark.parametrize("choices", [[], ["one"], ["a", "b", "c", "d", "e"], ["same", "same"], ["", "b"]])
def test_a_question_back_has_two_to_four_different_choices(choices: list[str]) -> None:
    asked = {**PACKET, "intent": "clarify", "clarification": {"question": "Which?", "choices": choices}}
    assert refused(asked).pointer.startswith("/clarification/choices")


@pytest.mark.promise("tasks.clarify")
def test_a_question_goes_with_the_intent_to_ask_and_with_no_other() -> None:
    assert refused({**PACKET, "intent": "clarify"}).pointer == "/clarification"
    assert refused({**PACKET, "clarification": ASKING}).pointer == "/clarification"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("packet_id", "../x"), ("parent_issue_id", "a/b"), ("parent_issue_id", ""), ("timestamp", "yesterday"),
        ("intent", "conquer"), ("attempt", 0), ("attempt", True),
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused(name: str, wrong: Any) -> None:
    assert refused({**PACKET, name: wrong}).pointer == f"/{name}"


@pytest.mark.promise("tasks.contract")
def test_a_receipt_is_held_against_its_packet() -> None:
    assert isinstance(TaskReceipt.from_dict(RECEIPT, packet()), TaskReceipt)
    for change, pointer in (
        ({"outputs_produced": ["novel"]}, "/outputs_produced/0"),
        ({"packet_id": "pkt_2"}, "/packet_id"),
        ({"issue_id": "other"}, "/issue_id"),
        ({"stop_hook": "STOP_HOOK: tool_call_rejected"}, "/outputs_produced"),
    ):
        problem = TaskReceipt.from_dict({**RECEIPT, **change}, packet())
        assert isinstance(problem, Problem)
        assert (problem.code, problem.pointer) == ("task_receipt_invalid", pointer)


@pytest.mark.promise("tasks.strict")
def test_a_receipt_survives_the_wire() -> None:
    receipt = TaskReceipt.from_dict(RECEIPT)
    assert isinstance(receipt, TaskReceipt)
    assert receipt.as_dict() == RECEIPT


@pytest.mark.promise("tasks.strict")
@given(
    place=st.sampled_from([place for place, _ in objects(PACKET_SCHEMA)]),
    name=st.text(min_size=1, max_size=8),
    value=JSON,
)
def test_any_other_field_anywhere_is_refused(place: str, name: str, value: Any) -> None:
    changed = copy.deepcopy({**PACKET, "intent": "clarify", "clarification": ASKING})
    part: Any = changed
    for step in filter(None, place.split("/")):
        part = part[step]
    if name not in part and name not in PACKET_SCHEMA["properties"]:
        part[name] = value
        refused(changed)


@given(value=JSON)
def test_no_value_whatever_raises(value: Any) -> None:
    assert isinstance(TaskPacket.from_dict(value), Problem)
    assert isinstance(TaskReceipt.from_dict(value), Problem)
