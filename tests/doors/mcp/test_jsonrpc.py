import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Ambiguous

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
RESULT = st.dictionaries(st.sampled_from(["content", "id", "jsonrpc", "result", "}", '"'] ), JSON, max_size=4)  # fmt: skip


@pytest.mark.promise("relay.as-received")
@given(
    RESULT,
    st.permutations(["jsonrpc", "id", "result"]),
    st.integers() | st.text("abc-1", max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_the_bytes_of_a_result_are_found_in_any_order_of_members(result, order, ident, ascii_only, wide):
    values = {"jsonrpc": "2.0", "id": ident, "result": result}
    separators = (" , ", " : ") if wide else (",", ":")
    raw = json.dumps(result, ensure_ascii=ascii_only, separators=separators)
    members = (
        f"{json.dumps(name)}{separators[1]}{raw if name == 'result' else json.dumps(values[name])}" for name in order
    )
    line = ("{" + separators[0].join(members) + "}").encode()
    found = (
        jsonrpc.result_bytes(line, orjson.loads(line))
        if -(2**53) <= (ident if isinstance(ident, int) else 0) <= 2**53
        else raw.encode()
    )
    assert found.strip() == raw.encode()


@pytest.mark.promise("relay.as-received")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"extra":{"result":1},"result":{"a":1}}',
        b'{"jsonrpc":"2.0","id":1.5,"result":{"a":1}}',
        b'{"jsonrpc":"2.0","id":1,"\\u0072esult":{"a":1}}',
    ],
)
def test_an_unusual_response_is_written_anew(line):
    assert orjson.loads(jsonrpc.result_bytes(line, orjson.loads(line))) == {"a": 1}


@pytest.mark.promise("relay.no-way-around")
@given(st.lists(st.sampled_from(["raw", "u", "U"]), min_size=10, max_size=10))
def test_every_spelling_of_the_method_is_seen(ways):
    spelled = "".join(
        letter if way == "raw" else (f"\\u{ord(letter):04x}" if way == "u" else f"\\u{ord(letter):04X}")
        for letter, way in zip("tools/call", ways, strict=True)
    )
    line = f'{{"jsonrpc":"2.0","id":1,"method":"{spelled}"}}'.encode()
    assert jsonrpc.calls_in(jsonrpc.read_strict(line))
    assert jsonrpc.calls_in(jsonrpc.read_clients(line))


@pytest.mark.promise("relay.no-way-around")
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_line_makes_the_reading_fail(line):
    jsonrpc.read_strict(line)
    jsonrpc.read(line)
    found = jsonrpc.read_anyhow(line)
    jsonrpc.looks_like_message(line)
    if found is not None:
        jsonrpc.is_answer(found)
        assert json.loads(answers.error(found.get("id"), -32600, "no"))["error"]["code"] == -32600


@pytest.mark.promise("relay.lies")
@given(st.integers(), st.text(), st.floats())
def test_any_way_to_write_an_id_is_the_same_to_a_lenient_reader(number, text, odd):
    assert {jsonrpc.lenient(ident) for ident in (number, str(number), f" {number} ", hex(number))} == {number}
    assert jsonrpc.lenient(float(number)) == number or abs(number) > 2**53
    jsonrpc.lenient(text), jsonrpc.lenient(odd)
    assert jsonrpc.lenient({}) is jsonrpc.lenient(None) is jsonrpc.lenient([1]) is None


@pytest.mark.promise("relay.passes")
def test_half_a_surrogate_pair_in_an_answer_passes_and_in_a_call_does_not():
    assert jsonrpc.read_strict(b'{"id":1,"result":{"text":"\\ud83d"}}') == {"id": 1, "result": {"text": "\ud83d"}}
    assert isinstance(jsonrpc.read_strict(b'{"id":1,"method":"tools/call","x":"\\ud83d"}'), Ambiguous)


@pytest.mark.promise("relay.size")
@pytest.mark.parametrize(
    ("head", "tail", "key"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"id":8', b'x","id":9}}', ("int", 7)),
        (b'{"result":{"content":[{"id":1', b'x"}]},"jsonrpc":"2.0","id":"a"}', ("str", "a")),
        (b'{"result":{"content":[', b'x"}]}}', None),
    ],
)
def test_whose_answer_it_was_is_known_from_its_ends(head, tail, key):
    assert jsonrpc.key_in_ends(head, tail) == key


@pytest.mark.promise("relay.no-way-around")
def test_a_carriage_return_inside_a_line_does_not_go_on():
    assert jsonrpc.one_line(b'{"a":1,\r"b":2}\r') == b'{"a":1, "b":2}'
    assert jsonrpc.one_line(b'{"a":1}\r') == b'{"a":1}\r'
