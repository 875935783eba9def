import json
from typing import Any

import pytest

from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.envelope import Envelope, open_envelope
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.turn_schema import turn_schema
from tallystick.gate.tool import Card

NONCE = "n" * 32
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}, "again": {"$ref": "#/properties/root"}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
            "additionalProperties": False,
        }
    },
}
CARDS = [
    Card(
        name="reader",
        description="",
        input_schema={
            "type": "object",
            "properties": {"path": {"type": "string"}, "$ref": {"const": {"$ref": "#"}}},
            "required": ["path"],
        },
    ),
    Card(name="tree", description="", input_schema=TREE),
    Card(
        name="one",
        description="",
        input_schema={"properties": {"a": {"$ref": "#x"}}, "$defs": {"x": {"$anchor": "x", "type": "string"}}},
    ),
    Card(
        name="two",
        description="",
        input_schema={"properties": {"a": {"$ref": "#x"}}, "$defs": {"x": {"$anchor": "x", "type": "integer"}}},
    ),
    Card(
        name="named",
        description="",
        input_schema={
            "$id": "https://example.com/named",
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"type": "boolean"}},
        },
    ),
    Card(
        name="mixed",
        description="",
        input_schema={"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]},
    ),
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("reader", {"path": "x"}),
    ("reader", {}),
    ("reader", {"path": 1}),
    ("reader", {"path": "x", "more": 1}),
    ("tree", {"root": {"name": "a", "next": {"name": "b"}}}),
    ("tree", {"root": {"name": "a", "next": {"name": 1}}}),
    ("tree", {"root": {}, "again": {"nam": "a"}}),
    ("tree", {"path": "x"}),
    ("one", {"a": "x"}),
    ("one", {"a": 1}),
    ("two", {"a": 1}),
    ("two", {"a": "x"}),
    ("named", {"a": True}),
    ("named", {"a": "x"}),
    ("mixed", {"a": "x", "b": "y"}),
    ("mixed", {"a": "x", "c": "y"}),
    ("unknown", {}),
]


@pytest.fixture
def tools() -> Catalogue:
    made = Catalogue()
    for card in CARDS:
        made.add(card)
    return made


def messages(*, first: bool) -> list[dict[str, Any]]:
    action = {} if first else {"action": "tool"}
    calls: list[dict[str, Any]] = [{**action, "tool": tool, "args": args, "nonce": NONCE} for tool, args in CALLS]
    return [
        *calls,
        *({**call, "nonce": "other"} for call in calls),
        *({**call, "more": 1} for call in calls),
        *({key: value for key, value in call.items() if key != left} for call in calls for left in call),
        {"action": "final", "nonce": NONCE},
        {"action": "final", "nonce": "other"},
        {"action": "final"},
        {"tool": "reader", "args": {"path": "x"}, "nonce": NONCE},
        {"action": "tool", "tool": "reader", "args": {"path": "x"}, "nonce": NONCE},
    ]


@pytest.mark.promise("admit.turn-schema")
@pytest.mark.parametrize(("first", "may_finish"), [(True, False), (True, True), (False, False)])
def test_the_schema_of_a_turn_describes_what_is_admitted(tools: Catalogue, *, first: bool, may_finish: bool) -> None:
    schema = compile_schema(turn_schema(tools.entries(), NONCE, first=first, may_finish=may_finish), closed=False)
    admitted = 0
    for message in messages(first=first):
        envelope = open_envelope(json.dumps(message), first=first, may_finish=may_finish)
        fits = isinstance(envelope, Envelope) and envelope.nonce == NONCE
        if isinstance(envelope, Envelope) and not envelope.final:
            fits = fits and isinstance(admit_call(tools, envelope.tool, envelope.args), Proposal)
        assert schema.accepts(message) is fits, message
        admitted += fits
    assert admitted >= 6


@pytest.mark.promise("admit.turn-schema")
def test_both_levels_are_closed_and_the_nonce_is_constant(tools: Catalogue) -> None:
    schema = turn_schema([entry for entry in tools.entries() if entry.card.name == "reader"], NONCE, first=True)
    (branch,) = schema["anyOf"]
    assert branch["additionalProperties"] is branch["properties"]["args"]["additionalProperties"] is False
    assert branch["properties"]["nonce"] == {"const": NONCE}
    assert branch["required"] == ["tool", "args", "nonce"]


@pytest.mark.promise("admit.turn-schema")
def test_without_tools_only_the_end_is_left(tools: Catalogue) -> None:
    schema = turn_schema([], NONCE, first=False)
    assert [branch["required"] for branch in schema["anyOf"]] == [["action", "nonce"]]


def test_the_catalogue_keeps_its_own_schema(tools: Catalogue) -> None:
    before = json.dumps([entry.input.schema for entry in tools.entries()])
    turn_schema(tools.entries(), NONCE, first=True)
    assert json.dumps([entry.input.schema for entry in tools.entries()]) == before
