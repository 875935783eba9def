import json
import math
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import RegistrationError
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.admit.schema import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, compile_schema
from tallystick.gate.admit.turn_schema import turn_schema
from tallystick.gate.tool import Card
from tests.sizes import size

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def code_of(schema: Any, *, closed: bool = False, strict: bool = True) -> str | None:
    try:
        compile_schema(schema, closed=closed, strict=strict)
    except RegistrationError as error:
        return error.code
    return None


@pytest.fixture
def listener() -> Iterator[tuple[int, list[str]]]:
    """A port, and what knocked at it."""
    knocks: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                knocks.append(str(peer))
                connection.close()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], knocks
        server.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=120)


@pytest.mark.promise("admit.remote-ref")
@pytest.mark.parametrize(
    "where",
    [
        {"$ref": "URL"},
        {"$ref": "URL#/$defs/a"},
        {"properties": {"a": {"$ref": "URL"}}},
        {"items": {"anyOf": [{"$ref": "URL"}]}},
        {"$defs": {"unused": {"$ref": "URL"}}},
        {"$dynamicRef": "URL#node"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "URL"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$ref": "URL"}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"$ref": "URL"}}},
        {"$id": "URL", "properties": {"a": {"$ref": "other.json"}}},
        {"$id": "URL", "$defs": {"a": {"$id": "deeper/", "$ref": "x"}}},
        {"$schema": "URL"},
        {"$defs": {"a": {"$schema": "URL"}}},
        {"$ref": "#/hidden", "hidden": {"$ref": "URL"}},
        {"$ref": "#/const/a", "const": {"a": {"$ref": "URL"}}},
        {"dependentSchemas": {"a": {"$ref": "URL"}}},
        {"unevaluatedProperties": {"$ref": "URL"}},
        {"contentSchema": {"$ref": "URL"}},
        {"propertyNames": {"$ref": "URL"}},
        {"if": {"$ref": "URL"}},
        {"not": {"not": {"contains": {"$ref": "URL"}}}},
        {"patternProperties": {"x": {"$ref": "URL"}}},
        {"prefixItems": [{"$ref": "URL"}]},
    ],
    ids=str,
)
def test_no_schema_makes_the_gate_fetch_anything(where: dict[str, Any], listener: tuple[int, list[str]]) -> None:
    port, knocks = listener

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put(item) for key, item in value.items()}
        if isinstance(value, list):
            return [put(item) for item in value]
        return value.replace("URL", f"http://127.0.0.1:{port}/x") if isinstance(value, str) else value

    for strict in (True, False):
        assert code_of(put(where), strict=strict) in {"schema_remote_ref", "schema_draft"}
    # The listener works: it hears the one who does knock.
    socket.create_connection(("127.0.0.1", port)).close()
    deadline = time.monotonic() + 120
    while not knocks and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    assert len(knocks) == 1


@pytest.mark.promise("admit.remote-ref")
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "https://example.com/x",
        "ftp://example.com/x",
        "//example.com/x",
        "other.json",
        "/etc/passwd",
        "urn:example:x",
    ],
)
def test_a_reference_stays_inside_its_schema(url: str) -> None:
    assert code_of({"$ref": url}) == "schema_remote_ref"


@pytest.mark.promise("admit.remote-ref")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "string"}}},
        {"$id": "https://example.com/root", "$ref": "item", "$defs": {"x": {"$id": "item", "type": "string"}}},
        {"$id": "urn:example:root", "$ref": "urn:example:root#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$ref": "#/$defs/a%25b~1c", "$defs": {"a%b/c": {"type": "string"}}},
        {"$ref": "#/$defs/yes", "$defs": {"yes": True}, "type": "string"},
        {"$dynamicRef": "#node", "$defs": {"x": {"$dynamicAnchor": "node", "type": "string"}}},
        {
            "$schema": "https://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a",
            "definitions": {"a": {"type": "string"}},
        },
        {
            "$schema": "http://json-schema.org/draft-04/schema",
            "id": "http://x.example/",
            "$ref": "#/definitions/a",
            "definitions": {"a": {"type": "string"}},
        },
        {"type": "string", "properties": {"$ref": {"type": "string"}}},
        {"type": "string", "default": {"$ref": "http://example.com"}, "examples": [{"$ref": "http://example.com"}]},
    ],
    ids=str,
)
def test_references_inside_the_schema_are_followed(schema: dict[str, Any]) -> None:
    compiled = compile_schema(schema, closed=False)
    assert compiled.accepts("x")
    assert not compiled.accepts(1)


@pytest.mark.promise("admit.remote-ref")
def test_the_bundled_metaschemas_may_be_referred_to() -> None:
    compiled = compile_schema({"properties": {"schema": {"$ref": DRAFT_2020}}}, closed=False)
    assert compiled.accepts({"schema": {"type": "object"}})
    assert not compiled.accepts({"schema": {"type": 1}})
    assert compiled.explain({"schema": {"type": 1}}) == ("/schema", "$ref")


@pytest.mark.promise("admit.ref-circle")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"type": "string"}, {"not": {"$ref": "#"}}]},
        {"$defs": {"a": {"if": {"oneOf": [{"$ref": "#a"}]}, "$anchor": "a"}}},
        {"$id": "https://example.com/x", "then": {"$ref": "https://example.com/x"}},
        {"$dynamicAnchor": "n", "$dynamicRef": "#n"},
        {
            "$dynamicAnchor": "n",
            "allOf": [{"$ref": "#/$defs/b"}],
            "$defs": {"b": {"$id": "b", "$dynamicRef": "#n", "$defs": {"c": {"$dynamicAnchor": "n"}}}},
        },
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True, "$recursiveRef": "#"},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
        {"$ref": "#/hidden", "hidden": {"else": {"$ref": "#/hidden"}}},
    ],
    ids=str,
)
def test_a_circle_without_progress_is_refused(schema: dict[str, Any]) -> None:
    assert code_of(schema) == "schema_ref_cycle"


@pytest.mark.promise("admit.ref-circle")
def test_a_circle_through_the_data_is_fine() -> None:
    tree = compile_schema(
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "additionalProperties": False,
                }
            },
        },
        closed=True,
    )
    assert tree.accepts({"name": "a", "children": [{"name": "b", "children": []}]})
    assert not tree.accepts({"name": "a", "children": [{"name": 1}]})
    assert not tree.accepts({"nam": "a"})


@pytest.mark.promise("admit.schema-refused")
@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (True, "schema_invalid"),
        ([], "schema_invalid"),
        ("{}", "schema_invalid"),
        (None, "schema_invalid"),
        ({"type": "text"}, "schema_invalid"),
        ({"minLength": -1}, "schema_invalid"),
        ({"required": "name"}, "schema_invalid"),
        ({"properties": {"a": 1}}, "schema_invalid"),
        ({"maximum": float("inf")}, "schema_invalid"),
        ({"const": {1, 2}}, "schema_invalid"),
        ({"maximum": 2**70}, "schema_invalid"),
        ({"$schema": "https://json-schema.org/draft/2040-01/schema"}, "schema_draft"),
        ({"$schema": 7}, "schema_draft"),
        ({"$ref": "#/$defs/nowhere"}, "schema_dangling_ref"),
        ({"$ref": "#nowhere"}, "schema_dangling_ref"),
        ({"$ref": "#/properties/a/7", "properties": {"a": {"enum": [1]}}}, "schema_dangling_ref"),
        ({"enum": ["x" * MAX_SCHEMA_BYTES]}, "schema_too_large"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_schema_is_refused_at_registration(schema: Any, code: str) -> None:
    assert code_of(schema) == code


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.promise("admit.schema-refused")
def test_a_schema_may_be_deep_but_not_without_end() -> None:
    assert code_of(nested(MAX_SCHEMA_DEPTH - 1)) is None
    assert code_of(nested(MAX_SCHEMA_DEPTH)) == "schema_too_deep"
    assert code_of(nested(5_000)) == "schema_invalid"


def doubling(levels: int) -> dict[str, Any]:
    """Each part names the next twice: the ways through it double with every level."""
    parts: dict[str, Any] = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {"type": "string", "minLength": 5}}}


@pytest.mark.promise("admit.schema-refused")
def test_a_schema_that_branches_without_end_is_refused() -> None:
    assert code_of(doubling(40)) == "schema_too_complex"
    through_data: dict[str, Any] = {
        f"d{i}": {"anyOf": [{"properties": {"x": {"$ref": f"#/$defs/d{i + 1}"}}}] * 2} for i in range(40)
    }
    assert code_of({"$ref": "#/$defs/d0", "$defs": {**through_data, "d40": {}}}) == "schema_too_complex"
    asked_again: dict[str, Any] = {}
    for _ in range(40):
        asked_again = {"allOf": [asked_again], "unevaluatedProperties": False}
    assert code_of(asked_again) == "schema_too_complex"


@pytest.mark.promise("admit.schema-refused")
def test_a_wide_schema_is_not_a_branching_one() -> None:
    """Many properties, each with shared parts, cost only what the data asks for."""
    address = {"type": "object", "properties": {f"line{i}": {"type": "string"} for i in range(50)}}
    person = {"type": "object", "properties": {f"address{i}": {"$ref": "#/$defs/address"} for i in range(50)}}
    firm = {"properties": {f"person{i}": {"$ref": "#/$defs/person"} for i in range(50)}}
    compiled = compile_schema({**firm, "$defs": {"address": address, "person": person}}, closed=True)
    assert compiled.accepts({"person1": {"address1": {"line1": "x"}}})
    assert compiled.explain({"person1": {"address1": {"line1": 1}}}) == ("/person1/address1/line1", "type")


@pytest.mark.promise("admit.schema-refused")
def test_a_chain_of_references_without_end_is_refused() -> None:
    for order in (range(5_000), reversed(range(5_000))):
        chain: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in order}
        assert code_of({"$ref": "#/$defs/d0", "$defs": {**chain, "d5000": {}}}) == "schema_too_complex"
    through_data: dict[str, Any] = {f"d{i}": {"items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(5_000)}
    assert code_of({"$ref": "#/$defs/d0", "$defs": {**through_data, "d5000": {}}}) == "schema_too_complex"


@pytest.mark.promise("admit.schema-cheap")
def test_saying_why_never_takes_longer_than_saying_no() -> None:
    """Collecting the errors of every branch doubles with each level; the answer may not."""
    wide = compile_schema({"properties": {"a": doubling(10) | {"$id": "https://example.com/a"}}}, closed=False)
    branch = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    deep = compile_schema({"anyOf": [branch, branch]}, closed=False)
    value: Any = {}
    for _ in range(40):
        value = {"a": value}
    started = time.process_time()
    assert not wide.accepts({"a": "abc"})
    assert wide.explain({"a": "abc"}) == ("/a", "$ref")
    assert not deep.accepts(value)
    assert deep.explain(value) == ("", "anyOf")
    # An honest schema, and many items that fit no branch of it.
    lists = compile_schema(
        {"properties": {"a": {"anyOf": [{"type": "array", "items": {"const": i}} for i in range(50)]}}}, closed=False
    )
    assert lists.explain({"a": [None] * 13_000}) == ("/a", "anyOf")
    assert time.process_time() - started < 1


@pytest.mark.promise("admit.pattern-linear")
@pytest.mark.parametrize(
    "pattern",
    [r"(?=a)b", r"(?!a)b", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", "(", "[z-a]", r"(a{1000}){1000}"],
)
def test_a_pattern_that_cannot_run_in_linear_time_is_refused(pattern: str) -> None:
    assert code_of({"properties": {"a": {"pattern": pattern}}}) == "schema_pattern"
    assert code_of({"patternProperties": {pattern: {}}}) == "schema_pattern"


@pytest.mark.promise("admit.pattern-linear")
def test_for_upstream_tools_such_a_pattern_is_left_out_and_reported() -> None:
    schema = {
        "properties": {"a": {"type": "string", "pattern": "^(?!x)"}, "b": {"pattern": "^[a-z]+$"}},
        "patternProperties": {"(?=z)": {"type": "integer"}, "^n_": {"type": "integer"}},
    }
    compiled = compile_schema(schema, closed=False, strict=False)
    assert compiled.flags == ("patternProperties entry left out at /", "pattern left out at /properties/a")
    assert compiled.accepts({"a": "x", "b": "abc", "n_1": 1})
    assert not compiled.accepts({"a": 1})
    assert not compiled.accepts({"b": "ABC"})
    assert not compiled.accepts({"n_1": "1"})
    assert schema["properties"]["a"]["pattern"] == "^(?!x)"


@pytest.mark.promise("admit.pattern-linear")
@pytest.mark.parametrize("pattern", ["^(a+)+$", "(x+x+)+y", "^(a|a)*$", "^(a?){30}a{30}$", "(.*)*$z"])
def test_patterns_that_blow_up_elsewhere_answer_at_once(pattern: str) -> None:
    compiled = compile_schema({"pattern": pattern}, closed=False)
    started = time.process_time()
    for text in ("a" * 40 + "!", "x" * 60_000, "a" * 60_000 + "!"):
        compiled.accepts(text)
    assert time.process_time() - started < 1


@pytest.mark.promise("admit.pattern-meaning")
@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("^Story/[a-z.]+$", "Story/x.md", "Story/x.md\n"),
        ("^a$", "a", "a\n"),
        (r"^\d+$", "12", "１２"),
        (r"^\d+$", "12", "٣"),
        (r"^\w+$", "az_09", "é"),
        (r"^\p{L}+$", "é", "1"),
        (r"^\p{Letter}$", "é", "."),
        ("^.$", "x", "\n"),
        ("^[^a]$", "é", "a"),
        ("a", "bab", "b"),
    ],
)
def test_patterns_mean_what_the_standard_says(pattern: str, yes: str, no: str) -> None:
    compiled = compile_schema({"pattern": pattern}, closed=False)
    assert compiled.accepts(yes)
    assert not compiled.accepts(no)


@pytest.mark.promise("admit.strict-types", "admit.schema-suite")
@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"type": "integer"}, [7, 7.0, -0.0, 1e2], [True, False, "7", 7.5, None, [7], math.nan, math.inf]),
        ({"type": "number"}, [7, 7.5], [True, "7.5", None, math.nan, math.inf, -math.inf]),
        ({"type": "number", "minimum": 0, "maximum": 5}, [0, 5], [math.nan, math.inf, -1, 6]),
        ({"not": {"type": "string"}, "type": ["number", "null"]}, [1, None], [math.nan]),
        ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
        ({"const": 1}, [1, 1.0], [True, "1"]),
        ({"enum": [0, "a"]}, [0, 0.0, "a"], [False, "0", None]),
        ({"type": "string", "maxLength": 2}, ["ab", "😀😀"], ["abc", 1]),
        ({"uniqueItems": True}, [[1, True], [0, False]], [[1, 1.0]]),
        ({"multipleOf": 0.01}, [4.35, 19.99], [4.355]),
        ({"type": "integer", "maximum": 2**53}, [2**53], [2**53 + 2, 10**30, 1e300]),
    ],
    ids=str,
)
def test_a_value_is_only_what_it_is(schema: dict[str, Any], yes: list[Any], no: list[Any]) -> None:
    compiled = compile_schema(schema, closed=False)
    assert [value for value in yes if not compiled.accepts(value)] == []
    assert [value for value in no if compiled.accepts(value)] == []


@pytest.mark.promise("admit.format")
@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-02-29T12:00:00Z", "2024-02-29 12:00"),
        ("time", "12:00:00Z", "25:00:00Z"),
        ("email", "a@example.com", "a"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
        ("uri", "https://example.com/a", "//example.com/a b"),
        ("ipv4", "192.0.2.1", "256.0.2.1"),
        ("ipv6", "2001:db8::1", "2001:db8"),
        ("hostname", "example.com", "-a-"),
        ("json-pointer", "/a/b", "a/b"),
        ("regex", "^a$", "("),
        ("something-else", "x", None),
    ],
)
def test_format_is_asserted(name: str, yes: str, no: str | None) -> None:
    compiled = compile_schema({"type": "string", "format": name}, closed=False)
    assert compiled.accepts(yes)
    assert no is None or not compiled.accepts(no)


@pytest.mark.promise("admit.closed")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}},
        {"properties": {"a": {}}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {}},
        {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": True},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False},
        {"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}},
        {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {}}},
        {"properties": {"a": {}}, "additionalProperties": {"const": 2}},
        {"properties": {"a": {}}, "unevaluatedProperties": {"const": 2}},
    ],
    ids=str,
)
def test_a_schema_of_ours_is_closed_at_the_top(schema: dict[str, Any]) -> None:
    compiled = compile_schema(schema, closed=True)
    assert compiled.accepts({"a": 1})
    assert not compiled.accepts({"a": 1, "zz": 1})


@pytest.mark.promise("admit.closed")
def test_nested_objects_stay_as_written() -> None:
    compiled = compile_schema({"properties": {"a": {"type": "object"}}}, closed=True)
    assert compiled.accepts({"a": {"anything": 1}})


@pytest.mark.promise("admit.closed")
def test_a_typed_map_stays_one() -> None:
    compiled = compile_schema({"type": "object", "additionalProperties": {"type": "string"}}, closed=True)
    assert compiled.accepts({"any": "text"})
    assert not compiled.accepts({"any": 1})


@pytest.mark.promise("admit.closed")
def test_an_old_draft_cannot_be_closed() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {}}}
    assert code_of(old, closed=True) == "schema_draft"
    assert code_of(old, closed=False) is None


@pytest.mark.promise("admit.draft")
def test_the_draft_is_the_one_the_schema_names() -> None:
    # In draft 4 exclusiveMaximum is a boolean beside maximum; later it is the number itself.
    old = compile_schema(
        {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": True}, closed=False
    )
    assert not old.accepts(5)
    assert code_of({"maximum": 5, "exclusiveMaximum": True}) == "schema_invalid"
    tuples = {"items": [{"type": "string"}]}
    assert not compile_schema({"$schema": "http://json-schema.org/draft-07/schema#", **tuples}, closed=False).accepts(
        [1]
    )
    assert code_of(tuples) == "schema_invalid"


@pytest.mark.parametrize("ident", ["tool.x.input", "urn:x:y", "https://example.org/x.json", "x/y.json"])
def test_an_id_of_the_schema_hides_no_error(ident: str) -> None:
    schema = {"$id": ident, "properties": {"k": {"minimum": 1, "type": "integer"}, "at": {"$ref": "#/$defs/day"}},
              "$defs": {"day": {"type": "string"}}}  # fmt: skip
    compiled = compile_schema(schema, closed=True)
    assert compiled.explain({"k": 0}) == ("/k", "minimum")
    assert compiled.explain({"at": 7}) == ("/at", "type")
    assert compiled.explain({"z": 7}) == ("/z", "unevaluatedProperties")


@pytest.mark.promise("admit.no-echo")
@pytest.mark.parametrize(
    ("args", "pointer", "rule"),
    [
        ({"path": "x", "zz": "hunter2"}, "/zz", "unevaluatedProperties"),
        ({}, "/path", "required"),
        ({"path": 7}, "/path", "type"),
        ({"path": "x", "list": ["a", 7]}, "/list/1", "type"),
        ({"path": "x", "list": ["a" * 9]}, "/list/0", "maxLength"),
        ({"path": "x", "mode": "hunter2"}, "/mode", "enum"),
        ({"path": "x", "a/b": {}}, "/a~1b/c", "required"),
    ],
)
def test_errors_name_the_place_and_the_rule(args: dict[str, Any], pointer: str, rule: str) -> None:
    compiled = compile_schema(
        {
            "properties": {
                "path": {"type": "string"},
                "list": {"type": "array", "items": {"type": "string", "maxLength": 5}},
                "mode": {"enum": ["a", "b"]},
                "a/b": {"required": ["c"]},
            },
            "required": ["path"],
        },
        closed=True,
    )
    assert not compiled.accepts(args)
    assert compiled.explain(args) == (pointer, rule)


@pytest.mark.promise("admit.no-echo")
@given(
    st.text(min_size=4, alphabet="ABCDEFGHIJ"),
    st.sampled_from(
        [
            {"type": "integer"},
            {"enum": ["x"]},
            {"const": "x"},
            {"maxLength": 1},
            {"format": "date"},
            {"pattern": "^x$"},
            {"not": {}},
            {"anyOf": [{"type": "null"}]},
        ]
    ),
)
def test_an_explanation_never_holds_the_value(secret: str, rule: dict[str, Any]) -> None:
    compiled = compile_schema({"properties": {"key": rule}}, closed=True)
    pointer, name = compiled.explain({"key": secret})
    assert pointer == "/key"
    assert secret not in name


def test_the_schema_is_a_private_copy() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
    compiled = compile_schema(schema, closed=True)
    schema["properties"]["a"]["type"] = "integer"
    assert compiled.accepts({"a": "x"})
    assert "unevaluatedProperties" not in schema


KEYWORDS = [
    "$ref", "$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "$defs", "allOf", "anyOf", "not", "if", "properties",
    "patternProperties", "additionalProperties", "items", "prefixItems", "type", "pattern", "enum", "const", "required", "format",
    "minimum", "maxLength", "unevaluatedProperties", "dependentSchemas", "id", "definitions", "default",
]  # fmt: skip
scraps = st.recursive(
    st.sampled_from(
        [
            "#",
            "#/$defs/a",
            "#a",
            "a",
            "string",
            "object",
            "(?=x)",
            "^a$",
            "http://[::1",
            "urn:x",
            "//",
            "a b%",
            "#/%zz/9" + "9" * 50,
            DRAFT_2020,
            "\ud800",
            "",
        ]
    )
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@pytest.mark.promise("admit.schema-refused")
@settings(max_examples=size(300, 5_000))
@given(
    schema=st.dictionaries(st.sampled_from(KEYWORDS), scraps, max_size=6) | scraps,
    closed=st.booleans(),
    strict=st.booleans(),
)
def test_any_schema_is_taken_or_refused_with_a_code(schema: Any, *, closed: bool, strict: bool) -> None:
    strict = strict or closed
    schema = {**schema, "type": "object"} if isinstance(schema, dict) else schema
    code = code_of(schema, closed=closed, strict=strict)
    assert code is None or code.startswith("schema_")
    if code is not None:
        return
    # What compiles can be registered, called and shown to a provider.
    made = Catalogue()
    entry = made.add(
        Card(
            name="t",
            description="",
            input_schema=schema,
            origin="local" if closed else "upstream",
            strict=strict,
        )
    )
    for args in ({}, {"a": 1}, {"a": None, "b": "x"}):
        assert isinstance(admit_call(made, "t", args), Proposal | Rejection)
        assert isinstance(entry.input.explain(args), tuple)
    json.dumps(turn_schema(made.entries(), "n", first=True))
