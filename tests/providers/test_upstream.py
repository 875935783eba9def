"""Cards for the tools of an MCP server: schemas as published, names kept apart, hints believed in the worse direction."""

from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import RegistrationError
from tallystick.gate.tool import Tool
from tallystick.providers.upstream import card_from_mcp
from tests.gates import open_gate

SEARCH: dict[str, Any] = {
    "name": "search",
    "title": "Search",
    "description": "Find pages.",
    "inputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}


async def found(**args: Any) -> Any:
    return {"found": args}


@pytest.mark.promise("providers.upstream")
def test_a_published_tool_keeps_its_schemas_and_gets_its_server_s_name() -> None:
    card = card_from_mcp(SEARCH, server="wiki")
    assert (card.name, card.description, card.origin) == ("wiki.search", "Find pages.", "upstream")
    assert card.input_schema == SEARCH["inputSchema"]
    assert card.output_schema is None
    assert card_from_mcp(SEARCH, server="other").name != card.name
    assert card_from_mcp({**SEARCH, "description": "Find pages!"}, server="wiki").version != card.version
    assert card_from_mcp(SEARCH, server="wiki", roles=frozenset({"analyst"})).roles == {"analyst"}


@pytest.mark.promise("providers.upstream")
def test_an_open_schema_stays_open_and_names_are_exact(tmp_path: Path) -> None:
    tool = Tool(card=card_from_mcp({**SEARCH, "annotations": {"readOnlyHint": True}}, server="wiki"), handler=found)
    with open_gate(tmp_path, tool) as gate:
        assert gate.call_sync("wiki.search", {"query": "x", "more": 1}).unwrap() == {"found": {"query": "x", "more": 1}}
        for args in ({"QUERY": "x"}, {}, {"query": 7}):
            assert gate.call_sync("wiki.search", args).status == "rejected"
        assert gate.call_sync("search", {"query": "x"}).status == "rejected"


@pytest.mark.promise("providers.upstream")
@pytest.mark.parametrize(
    ("annotations", "effect", "idempotent"),
    [
        (None, "external", False), ({}, "external", False), ("readOnlyHint", "external", False),
        ({"readOnlyHint": True}, "read", False), ({"readOnlyHint": "true"}, "external", False),
        ({"readOnlyHint": 1}, "external", False), ({"readOnlyHint": False, "openWorldHint": False}, "write", False),
        ({"openWorldHint": None}, "external", False), ({"openWorldHint": 0}, "external", False),
        ({"idempotentHint": True}, "external", True), ({"idempotentHint": "yes"}, "external", False),
    ],
)  # fmt: skip
def test_a_hint_that_is_missing_or_doubtful_counts_as_the_worse_case(
    annotations: Any, effect: str, *, idempotent: bool
) -> None:
    card = card_from_mcp({**SEARCH, "annotations": annotations}, server="wiki")
    assert (card.effect, card.idempotent) == (effect, idempotent)


@pytest.mark.promise("providers.upstream")
@pytest.mark.parametrize(
    "change", [{"name": None}, {"name": 7}, {"inputSchema": None}, {"inputSchema": []}, {"inputSchema": "x"},
               {"outputSchema": []}, {"outputSchema": "x"}],
)  # fmt: skip
def test_a_definition_without_name_or_schemas_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError) as refused:
        card_from_mcp({**SEARCH, **change}, server="wiki")
    assert refused.value.code == "definition_invalid"


@pytest.mark.promise("providers.upstream")
def test_an_output_schema_is_held_to(tmp_path: Path) -> None:
    output = {"type": "object", "properties": {"found": {"type": "integer"}}, "required": ["found"]}
    definition = {**SEARCH, "outputSchema": output, "annotations": {"readOnlyHint": True}}
    with open_gate(tmp_path, Tool(card=card_from_mcp(definition, server="wiki"), handler=found)) as gate:
        outcome = gate.call_sync("wiki.search", {"query": "x"})
        assert outcome.fault is not None
        assert outcome.fault.name == "bad_result"


@pytest.mark.promise("providers.upstream")
def test_a_pattern_we_cannot_run_is_left_out_and_flagged_unless_strict(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string", "pattern": r"^(?=x)x$"}}}
    definition = {**SEARCH, "inputSchema": schema, "annotations": {"readOnlyHint": True}}
    with open_gate(tmp_path, Tool(card=card_from_mcp(definition, server="wiki"), handler=found)) as gate:
        assert gate.call_sync("wiki.search", {"query": "anything"}).ok
        with pytest.raises(RegistrationError) as refused:
            gate.register(Tool(card=card_from_mcp(definition, server="strict", strict=True), handler=found))
        assert refused.value.code == "schema_pattern"
