import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.record.canonical import canonical, check_plain, plain
from tests.sizes import size

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "record_canonical.json").read_text())
TABLE = {
    1_000: "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
    1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",
}
"""SHA-256 of the first lines of the ES6 number table, as its authors publish it."""

scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
keys = st.text(st.characters(max_codepoint=127))
header_values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=20)
any_json = st.recursive(
    scalars | st.floats(-(2.0**53) + 1, 2.0**53 - 1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.promise("record.canonical")
@given(header_values)
def test_what_is_plain_has_the_bytes_that_the_whole_standard_gives_it(value: Any) -> None:
    assert plain(value)
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.promise("record.canonical")
@given(any_json)
def test_any_value_has_one_canonical_form(value: Any) -> None:
    data = canonical(value)
    assert data == rfc8785.dumps(value)
    assert canonical(orjson.loads(data)) == data


@given(st.dictionaries(keys, scalars))
def test_the_order_in_which_keys_came_does_not_matter(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@pytest.mark.promise("record.canonical")
@pytest.mark.parametrize("vector", VECTORS["same"], ids=lambda vector: vector["what"])
def test_our_own_cases(vector: dict[str, Any]) -> None:
    assert canonical(json.loads(vector["json"])).decode() == vector["canonical"]


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\ud800": 1}, b"bytes", {1: 2}, object()],
    ids=lambda value: f"{value!r:.8}",
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="canonical"):
        canonical(value)


def test_a_value_that_nests_without_end_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="canonical"):
        canonical(deep)


@pytest.mark.promise("record.no-floats")
@pytest.mark.parametrize(
    "value", [{"a": 1.0}, {"a": [{"b": 0.5}]}, {"é": 1}, {1: 1}, {"a": b"x"}, {"a": {1, 2}}], ids=repr
)
def test_what_may_not_stand_in_a_header_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        check_plain("context", value)


@pytest.mark.promise("record.canonical")
def test_the_outside_suite(data: Path) -> None:
    folder = data / "jcs-rfc8785" / "dev"
    if not folder.exists():
        pytest.skip("left out: jcs-rfc8785, TALLY_DATA not there")
    cases = sorted((folder / "input").glob("*.json"))
    assert cases
    for case in cases:
        value = json.loads(case.read_text(encoding="utf-8"))
        wanted = (folder / "outhex" / case.name).with_suffix(".txt").read_text()
        assert canonical(value) == bytes.fromhex(wanted), case.name


@pytest.mark.promise("record.canonical")
def test_the_generated_number_table() -> None:
    lines = size(1_000, 1_000_000)
    digest = hashlib.sha256()
    for number, _ in zip(es6_numbers(), range(lines), strict=False):
        bits = struct.unpack(">Q", struct.pack(">d", number))[0]
        digest.update(f"{bits:x},{canonical(number).decode()}\n".encode())
    assert digest.hexdigest() == TABLE[lines]


def es6_numbers() -> Iterator[float]:
    """The sequence that the number table is made of: edge cases, a run of the smallest normal numbers, then chance."""
    for bits in VECTORS["es6_edge_cases"]:
        yield from struct.unpack(">d", bytes.fromhex(bits))
    for step in range(2000):
        yield from struct.unpack(">d", (0x0010000000000000 + step).to_bytes(8))
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        for number in struct.unpack("<4d", block):
            if number != 0.0 and number - number == 0.0:
                yield number
