import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import (
    BIG_INTEGER,
    DUPLICATE_KEY,
    LONE_SURROGATE,
    NOT_A_JSON_VALUE,
    NOT_AN_OBJECT,
    NOT_FINITE,
    TOO_DEEP,
    TOO_LARGE,
    check_json_value,
    numbers_unfit,
    parse_json_object,
    parse_strict,
)
from tallystick.gate.codes import BAD_ARGS, FORMAT

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "admit_json.json").read_text(encoding="utf-8"))["cases"]
REFUSED_ON_PURPOSE = {
    "y_object_duplicated_key.json": "two readers could take different values: a duplicate key is refused",
    "y_object_duplicated_key_and_value.json": "the same, although both values are equal here",
}
"""Cases the suite says must be accepted."""
TAKEN = re.compile(r"i_number_double_huge_neg_exp\.json")
"""Of the cases left to the implementation, only a number that rounds to zero is taken."""
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def refused(value: Any) -> bool:
    return isinstance(value, Rejection)


@pytest.mark.promise("admit.json-strict", "admit.duplicate-key", "admit.depth", "admit.big-integer", "admit.unicode")
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_strict_parser_takes_exactly_what_it_should(case: dict[str, Any]) -> None:
    if "hex" in case:
        data = bytes.fromhex(case["hex"])
    elif "repeat" in case:
        opening, count, closing = case["repeat"]
        data = (opening * count + closing * count).encode()
    else:
        data = case["text"].encode()
    value = parse_strict(data)
    assert refused(value) is not case["fits"]
    if refused(value):
        assert value.fault is FORMAT
        assert value.reason == case.get("reason", value.reason)


@pytest.mark.promise("admit.json-strict")
def test_every_case_of_the_parsing_suite_is_read_as_the_suite_says(data: Path) -> None:
    cases = sorted((data / "jsontestsuite").rglob("test_parsing/*.json"))
    if not cases:
        pytest.skip("left out: the parsing suite jsontestsuite, TALLY_DATA not there")
    for path in cases:
        value = parse_strict(path.read_bytes())
        if path.name.startswith("y_") and path.name not in REFUSED_ON_PURPOSE:
            assert not refused(value), f"{path.name}: {value}"
        elif path.name.startswith("i_") and TAKEN.fullmatch(path.name):
            assert not refused(value), path.name
        else:
            assert refused(value), path.name


@pytest.mark.promise("admit.json-strict")
def test_every_short_text_of_number_letters_is_a_number_only_if_the_grammar_says_so() -> None:
    for length in range(1, 6):
        for letters in itertools.product("01-+.eE", repeat=length):
            text = "".join(letters)
            value = parse_strict(text.encode())
            # What the grammar takes may still be refused: for its range, not for its form.
            assert refused(value) is (NUMBER.fullmatch(text) is None) or value.reason in {NOT_FINITE, BIG_INTEGER}, text


@pytest.mark.promise("admit.json-strict")
@given(st.binary(max_size=200))
def test_no_bytes_crash_the_parser(body: bytes) -> None:
    assert isinstance(parse_json_object(body, 100), dict | Rejection)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.promise("admit.json-strict")
@settings(max_examples=300)
@given(json_values)
def test_what_json_can_write_comes_back_as_it_was(value: Any) -> None:
    assert parse_strict(json.dumps(value).encode()) == value
    assert parse_strict(json.dumps(value, ensure_ascii=False).encode()) == value
    assert check_json_value(value) is None


@pytest.mark.promise("admit.duplicate-key")
@given(json_values, st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.integers(0, 20))
def test_a_duplicate_key_is_found_at_any_depth(value: Any, key: str, depth: int) -> None:
    inner = f"{{{json.dumps(key)}:{json.dumps(value)},{json.dumps(key, ensure_ascii=False)}:0}}"
    text = '{"a":[' * depth + inner + "]}" * depth
    assert parse_strict(text.encode()).reason == DUPLICATE_KEY


@pytest.mark.promise("admit.size")
def test_a_body_is_measured_before_it_is_read() -> None:
    assert parse_json_object(b"[" * 101, 100).reason == TOO_LARGE  # type: ignore[union-attr]
    assert parse_json_object(b'{"a":1}', 7) == {"a": 1}
    assert refused(parse_json_object(b'{"a":1}', 6))


@pytest.mark.promise("admit.json-strict")
@pytest.mark.parametrize("body", [b"[]", b"1", b'"{}"', b"null", b"true"])
def test_a_body_is_an_object(body: bytes) -> None:
    assert parse_json_object(body, 100).reason == NOT_AN_OBJECT  # type: ignore[union-attr]


@pytest.mark.promise("admit.python-values")
@pytest.mark.parametrize(
    ("value", "reason", "pointer"),
    [
        ({"a": float("nan")}, NOT_FINITE, "/a"),
        ({"a": [0, float("-inf")]}, NOT_FINITE, "/a/1"),
        ({"a": {"b": 2**53 + 1}}, BIG_INTEGER, "/a/b"),
        ({"a": "\ud800"}, LONE_SURROGATE, "/a"),
        ({"\udfff": 1}, LONE_SURROGATE, None),
        ({1: 2}, NOT_A_JSON_VALUE, None),
        ({"a": (1, 2)}, NOT_A_JSON_VALUE, "/a"),
        ({"a": b"x"}, NOT_A_JSON_VALUE, "/a"),
        ({"a": {1, 2}}, NOT_A_JSON_VALUE, "/a"),
        ({"a/b": {"c~d": object()}}, NOT_A_JSON_VALUE, "/a~1b/c~0d"),
    ],
)
def test_python_objects_must_be_what_a_parser_could_have_made(value: Any, reason: str, pointer: str | None) -> None:
    found = check_json_value(value)
    assert found is not None
    assert (found.fault, found.reason, found.pointer) == (BAD_ARGS, reason, pointer)


@pytest.mark.promise("admit.python-values")
def test_a_value_that_changes_its_type_is_not_plain() -> None:
    class Sly(str):
        __slots__ = ()

    assert check_json_value({"a": Sly("x")}) is not None


@pytest.mark.promise("admit.depth", "admit.python-values")
def test_a_value_that_holds_itself_is_too_deep() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = [loop]
    found = check_json_value(loop)
    assert found is not None
    assert found.reason == TOO_DEEP


def test_a_pointer_shows_at_most_a_hundred_characters_of_a_name() -> None:
    found = check_json_value({"x" * 5000: float("nan")})
    assert found is not None
    assert found.pointer == "/" + "x" * 100


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.integers(0, 70),
)
def test_a_text_that_is_not_looked_at_closely_holds_nothing_to_find(value: Any, depth: int) -> None:
    data = ("[" * depth + json.dumps(value, ensure_ascii=False) + "]" * depth).encode("utf-8", "surrogatepass")
    read = parse_strict(data)
    if not refused(read):
        assert numbers_unfit(read, data) is None
