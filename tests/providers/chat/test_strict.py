"""The strict form of a schema and the way back: nothing is lost, nothing is added, no forced null is left."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tallystick.providers.chat.strict import WRAPPER, Strict, strict_form

NAMES = st.sampled_from(["path", "start", "query", "$ref", "const", "answer", "ä"])
PLAIN = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "integer", "minimum": 0}),
    st.just({"type": "boolean", "default": True}),
    st.just({"type": "number", "description": "a share"}),
    st.sampled_from([{"enum": ["a", "b"]}, {"const": 3}, {"type": "string", "enum": ["x"]}]),
    st.just({"type": ["string", "integer"]}),
)


def objects(children: st.SearchStrategy) -> st.SearchStrategy:
    return st.dictionaries(NAMES, st.tuples(children, st.booleans()), max_size=3).map(
        lambda parts: {
            "type": "object",
            "properties": {name: schema for name, (schema, _) in parts.items()},
            "required": [name for name, (_, required) in parts.items() if required],
            "additionalProperties": False,
        }
    )


SCHEMAS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        objects(inner),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda *branches: {"anyOf": list(branches)}, inner, inner),
    ),
    max_leaves=6,
)
TOPS = st.one_of(objects(SCHEMAS), st.builds(lambda *parts: {"type": "object", "anyOf": list(parts)}, objects(SCHEMAS), objects(SCHEMAS)))  # fmt: skip


def values_of(schema: dict[str, Any]) -> st.SearchStrategy:
    """Values that fit one of the schemas above."""
    if "const" in schema or "enum" in schema:
        return st.sampled_from([schema["const"]] if "const" in schema else schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values_of(branch) for branch in schema["anyOf"]])
    kind = schema["type"]
    if isinstance(kind, list):
        return st.one_of([values_of({"type": each}) for each in kind])
    if kind == "object":
        given_ = {name: values_of(child) for name, child in schema["properties"].items()}
        must = {name: given_[name] for name in schema["required"]}
        return st.fixed_dictionaries(must, optional={name: given_[name] for name in given_.keys() - must.keys()})
    if kind == "array":
        return st.lists(values_of(schema["items"]), max_size=2)
    return {
        "string": st.text(st.characters(codec="utf-8"), max_size=3),
        "integer": st.integers(0, 9),
        "boolean": st.booleans(),
        "number": st.integers(-5, 5),
        "null": st.none(),
    }[kind]


def strict(schema: dict[str, Any]) -> Strict:
    made = strict_form(schema)
    assert made is not None
    return made


def unwrapped(made: Strict, value: Any) -> Any:
    return value[WRAPPER] if made.wrapped else value


@pytest.mark.promise("providers.strict")
@given(st.data())
def test_every_answer_the_strict_form_allows_is_one_the_schema_allows_once_it_is_restored(data) -> None:
    schema = data.draw(TOPS)
    made = strict(schema)
    value = data.draw(values_of(made.schema))
    restored = json.loads(made.restored(json.dumps(value)))
    assert jsonschema_rs.is_valid(schema, restored)
    assert "null" not in json.dumps(restored)


@pytest.mark.promise("providers.strict")
@given(st.data())
def test_everything_the_schema_allows_can_be_said_in_the_strict_form_and_comes_back(data) -> None:
    schema = data.draw(TOPS)
    made = strict(schema)
    value = data.draw(values_of(schema))
    assume("anyOf" not in json.dumps(schema))
    said = filled(value, schema)
    assert jsonschema_rs.is_valid(made.schema, said)
    assert json.loads(made.restored(json.dumps(said))) == value


def filled(value: Any, schema: dict[str, Any]) -> Any:
    """What a model must write to say this in the strict form."""
    if isinstance(value, dict):
        return {
            name: filled(value[name], child) if name in value else None for name, child in schema["properties"].items()
        }
    return [filled(item, schema["items"]) for item in value] if isinstance(value, list) else value


@pytest.mark.promise("providers.strict")
@given(TOPS)
def test_a_strict_form_is_closed_and_all_of_it_is_required(schema) -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object" and isinstance(node.get("properties"), dict):
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
                for child in node["properties"].values():
                    check(child)
            for child in [*node.get("anyOf", []), node.get("items")]:
                check(child)

    made = strict(schema)
    assert made.schema["type"] == "object"
    assert "anyOf" not in made.schema
    check(made.schema)


@pytest.mark.promise("providers.strict")
@given(st.text(), st.sampled_from([{}, {"x": {"type": "string"}}]))
def test_any_text_comes_back_and_text_that_does_not_fit_comes_back_unchanged(text, properties) -> None:
    made = strict({"type": "object", "properties": properties, "required": [], "additionalProperties": False})
    assert made.restored(text) == text or jsonschema_rs.is_valid(made.schema, json.loads(text))


@pytest.mark.promise("providers.strict")
def test_references_lead_where_they_led_and_may_lead_back() -> None:
    tree = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/anyOf/0/properties/args/$defs/tree"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    args = {"$ref": "#/anyOf/0/properties/args/$defs/tree", "$defs": {"tree": tree}}
    branch = {
        "type": "object",
        "properties": {"tool": {"const": "t"}, "args": args},
        "required": ["tool", "args"],
        "additionalProperties": False,
    }
    other = {**branch, "properties": {"action": {"const": "final"}}, "required": ["action"]}
    made = strict({"type": "object", "anyOf": [branch, other]})
    forced = {"answer": {"tool": "t", "args": {"name": "a", "next": {"name": "b", "next": None}}}}
    assert jsonschema_rs.is_valid(made.schema, forced)
    assert json.loads(made.restored(json.dumps(forced))) == {"tool": "t", "args": {"name": "a", "next": {"name": "b"}}}
    assert made.restored('{"answer":{"action":"final"}}') == '{"action":"final"}'


@pytest.mark.promise("providers.strict")
def test_an_answer_that_breaks_a_rule_strict_mode_does_not_know_is_still_restored() -> None:
    branch = {
        "type": "object",
        "properties": {"q": {"type": "string", "minLength": 3}, "n": {"type": "integer"}},
        "required": ["q"],
        "additionalProperties": False,
    }
    made = strict({"anyOf": [branch, {**branch, "properties": {"z": {"type": "string"}}, "required": ["z"]}]})
    assert made.restored('{"answer": {"q": "a", "n": null}}') == '{"q":"a"}'


@pytest.mark.promise("providers.strict")
@pytest.mark.parametrize(
    "child",
    [
        {"type": ["string", "null"]},
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "required": ["gone"]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"x": {}}},
        {},
        True,
        {"allOf": [{"type": "string"}]},
        {"not": {"type": "string"}},
        {"$ref": "https://example.org/schema"},
        {"$dynamicRef": "#x"},
        {"type": "array"},
        {"enum": [[1]]},
        {"anyOf": [{"type": "string"}], "minLength": 3, "pattern": "x"},
        {"anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}]},
        {"anyOf": [{"type": "string"}], "type": "integer"},
    ],
)
def test_a_schema_that_strict_mode_would_change_has_no_strict_form(child: Any) -> None:
    assert strict_form({"type": "object", "properties": {"x": child}}) is None
