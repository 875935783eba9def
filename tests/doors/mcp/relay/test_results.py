import pytest

from tallystick.doors.mcp.relay.tools import closed, result_schema
from tallystick.gate.admit.schema import compile_schema


def accepts(output, structured):
    compiled = compile_schema(result_schema(output), closed=False, strict=False)
    return compiled.accepts({"content": [], "structuredContent": structured})


@pytest.mark.promise("relay.lies")
def test_references_still_mean_what_they_meant():
    tree = {
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/n"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["v"],
        "$defs": {"n": {"type": "integer"}},
    }
    assert accepts(tree, {"v": 1, "next": {"v": 2, "next": None}})
    assert not accepts(tree, {"v": 1, "next": {"v": "2"}})
    assert not accepts(tree, {"next": None})


@pytest.mark.promise("relay.lies")
def test_data_in_a_schema_is_left_alone_and_an_older_draft_stays_one():
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "const": {"$ref": "#/x"}}
    assert result_schema(schema)["$schema"] == schema["$schema"]
    assert accepts(schema, {"$ref": "#/x"})
    named = {"type": "object", "properties": {"$ref": {"type": "string"}, "properties": {"type": "integer"}}}
    assert accepts(named, {"$ref": "#/x", "properties": 1})
    assert not accepts(named, {"properties": "1"})


@pytest.mark.promise("relay.lies")
def test_a_result_without_a_structured_part_is_the_clients_to_judge():
    compiled = compile_schema(result_schema({"type": "object", "required": ["x"]}), closed=False, strict=False)
    assert compiled.accepts({"content": [], "isError": True})


@pytest.mark.promise("relay.schemas")
def test_strict_closes_what_is_open_by_silence_only():
    assert closed({"type": "object"})["unevaluatedProperties"] is False
    assert closed({"additionalProperties": True}) == {"additionalProperties": True}
    old = {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert closed(old)["additionalProperties"] is False
    assert closed(old | {"allOf": []}) == old | {"allOf": []}
