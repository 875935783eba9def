"""What is told by type alone, the validator says too."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.flat import flat_kinds, scalar_kind
from tallystick.gate.admit.schema import compile_schema

VALUES: dict[type, st.SearchStrategy[Any]] = {
    str: st.text(max_size=10),
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
}
names = st.text("abcxyz$", min_size=1, max_size=3)
leaves = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "boolean"])},
    optional={"description": st.just("d"), "default": st.sampled_from([1, "a", None]), "title": st.just("t")},
)
odd_leaves = st.sampled_from(
    [
        {}, {"type": "number"}, {"type": ["string", "null"]}, {"type": "string", "minLength": 2}, {"type": "null"},
        {"type": "string", "enum": ["a"]}, {"type": "integer", "maximum": 3}, {"$ref": "#/$defs/x"}, {"const": "a"},
    ]
)  # fmt: skip


@given(st.dictionaries(names, leaves | odd_leaves, max_size=4), st.data())
def test_an_object_of_the_known_types_fits_its_schema(properties: dict[str, Any], data: st.DataObject) -> None:
    required = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    schema |= data.draw(st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": True}]))
    kinds = flat_kinds(schema)
    if any(scalar_kind(sub) is None for sub in properties.values()):
        assert kinds is None
        return
    assert kinds is not None
    args = {name: data.draw(VALUES[kind]) for name, kind in kinds.items()}
    assert compile_schema(schema, closed=True, strict=True).accepts(args)


@pytest.mark.parametrize(
    "more",
    [
        {"minProperties": 9}, {"patternProperties": {"a": False}}, {"propertyNames": {"maxLength": 1}},
        {"allOf": [{"required": ["zz"]}]}, {"dependentRequired": {"a": ["b"]}}, {"not": {}}, {"if": {}, "then": False},
        {"unevaluatedProperties": False}, {"required": ["zz"]}, {"type": "string"}, {"const": {}},
    ],
    ids=str,
)  # fmt: skip
def test_a_schema_that_says_more_is_left_to_the_validator(more: dict[str, Any]) -> None:
    assert flat_kinds({"type": "object", "properties": {"a": {"type": "string"}}, **more}) is None


@pytest.mark.parametrize(("schema", "kind"), [({"type": "string"}, str), ({"type": "integer"}, int), (True, None)])
def test_the_type_of_a_result(schema: Any, kind: type | None) -> None:
    assert scalar_kind(schema) is kind
    assert scalar_kind({"type": "string", "format": "date"}) is None
    assert scalar_kind(None) is None
