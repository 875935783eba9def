"""The cases of the abuse list that admit alone can meet, each named by its id; receipts are shown by whole paths.

The list's own code names are meanings; here they are our faults and reasons.
"""

import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from tallystick.errors import RegistrationError
from tallystick.gate.admit import envelope as texts
from tallystick.gate.admit import strictjson
from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.envelope import MAX_ENVELOPE_BYTES, Envelope, open_envelope
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.nonces import EXPIRED, USED, WRONG, NonceSlot
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.codes import BAD_ARGS, FORMAT, MULTIPLE, NONCE, UNKNOWN_TOOL
from tallystick.gate.tool import Card

pytestmark = pytest.mark.promise("admit.abuse")

CALL = '{"tool":"file_reader","args":{"file_path":"Story/x.md"},"nonce":"n"}'


def opened(text: str | bytes) -> Envelope:
    outcome = open_envelope(text, first=True)
    assert isinstance(outcome, Envelope), outcome
    return outcome


def refused(text: str | bytes) -> Rejection:
    outcome = open_envelope(text, first=True)
    assert isinstance(outcome, Rejection), outcome
    return outcome


def with_args(args: str) -> str:
    return f'{{"tool":"file_reader","args":{args},"nonce":"n"}}'


def quickest(work: Callable[[], object]) -> float:
    """The shortest of a few runs: the machine may be busy with something else."""
    times = []
    for _ in range(5):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


@pytest.fixture
def tools() -> Catalogue:
    made = Catalogue()
    properties = {
        "file_path": {"type": "string"},
        "n": {"type": "integer"},
        "code": {"type": "string", "pattern": "^[0-9]+$"},
    }
    made.add(
        Card(
            name="file_reader",
            description="",
            input_schema={"type": "object", "properties": properties, "required": ["file_path"]},
        )
    )
    return made


def test_a01_text_behind_the_envelope() -> None:
    rejection = refused(CALL + " done")
    assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.EXTRA_TEXT)


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "~~~\n{}\n~~~", "`{}`"])
def test_a02_a_fenced_envelope(fence: str) -> None:
    rejection = refused(fence.replace("{}", CALL))
    assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.EXTRA_TEXT)


@pytest.mark.parametrize("between", ["", " ", "\n", "\r\n\t"])
def test_a03_two_envelopes(between: str) -> None:
    assert refused(CALL + between + CALL).fault is MULTIPLE


def test_a04_an_array_of_one() -> None:
    rejection = refused(f"[{CALL}]")
    assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.NOT_AN_OBJECT)


@pytest.mark.parametrize("key", ['"tool"', '"\\u0074ool"', '"too\\u006c"'])
def test_a05_the_tool_named_twice(key: str) -> None:
    rejection = refused(f'{{"tool":"file_locator",{key}:"file_writer","args":{{}},"nonce":"n"}}')
    assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.DUPLICATE_KEY)


def test_a07_a_duplicate_key_three_levels_down() -> None:
    assert refused(with_args('{"a":{"b":{"c":1,"c":2}}}')).reason == strictjson.DUPLICATE_KEY
    assert refused(with_args('{"a":[{"b":[{"c":1,"\\u0063":1}]}]}')).reason == strictjson.DUPLICATE_KEY


def test_a08_an_unknown_field_at_the_top() -> None:
    rejection = refused(CALL[:-1] + ',"role":"admin"}')
    assert (rejection.fault, rejection.reason) == (FORMAT, texts.UNKNOWN_FIELD)


@pytest.mark.parametrize(
    "nonce", ["", ',"nonce":null', ',"nonce":7', ',"nonce":""', ',"nonce":[]', ',"nonce":true', ',"nonce":{}']
)
def test_a09_no_usable_nonce(nonce: str) -> None:
    assert refused(f'{{"tool":"file_reader","args":{{}}{nonce}}}').fault is NONCE


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "1e400", "-1e400"])
@pytest.mark.parametrize("place", ['{"n":X}', '{"n":[X]}', '{"n":{"m":[0,X]}}'])
def test_a10_no_number_at_all(number: str, place: str) -> None:
    assert refused(with_args(place.replace("X", number))).fault is FORMAT


@pytest.mark.parametrize(
    "number", ["9007199254740993", "-9007199254740993", "9007199254740993.0", "900719925474099300e-2"]
)
def test_a12_an_integer_is_kept_exactly_or_refused(number: str) -> None:
    assert refused(with_args(f'{{"file_path":"a","n":{number}}}')).fault is FORMAT
    assert opened(with_args('{"file_path":"a","n":9007199254740992}')).args["n"] == 2**53


def test_a13_an_integer_of_5000_digits() -> None:
    text = with_args('{"n":' + "7" * 5000 + "}")
    assert refused(text).fault is FORMAT
    assert quickest(lambda: refused(text)) < 0.05


def test_a14_a_hundred_thousand_brackets() -> None:
    for bracket in ("[", '{"a":'):
        assert refused(bracket * 100_000).fault is FORMAT
        assert strictjson.parse_strict((bracket * 100_000).encode()).reason == strictjson.TOO_DEEP
        assert refused(with_args('{"a":' + bracket * 5_000)).reason == strictjson.TOO_DEEP
    assert opened(CALL).tool == "file_reader"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a15_one_level_too_deep(opening: str, closing: str) -> None:
    def nested(levels: int) -> str:
        # The envelope and its args are the first two levels.
        inner = levels - 2
        return with_args('{"a":' + opening * inner + "1" + closing * inner + "}")

    assert opened(nested(64)).args
    rejection = refused(nested(65))
    assert rejection.fault is FORMAT
    assert "64" in rejection.reason


@pytest.mark.parametrize("text", ["\\ud800", "\\udfff", "\\ud800\\u0041", "\\udc00\\ud800"])
def test_a16_half_a_surrogate_pair(tools: Catalogue, text: str) -> None:
    assert refused(with_args(f'{{"file_path":"{text}"}}')).reason == strictjson.LONE_SURROGATE
    assert refused(with_args('{"file_path":"\ud800"}')).reason == strictjson.LONE_SURROGATE
    assert isinstance(admit_call(tools, "file_reader", {"file_path": "\ud800"}), Rejection)


def test_a17_a_byte_order_mark_and_other_encodings() -> None:
    assert refused("\ufeff" + CALL).reason == strictjson.BYTE_ORDER_MARK
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"):
        assert refused(CALL.encode(encoding)).fault is FORMAT


@pytest.mark.parametrize("bytes_", [b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xff", b"\xed\xa0\x80"])
def test_a19_overlong_and_other_bad_bytes(bytes_: bytes) -> None:
    rejection = refused(with_args('{"file_path":"X"}').encode().replace(b"X", b".." + bytes_))
    assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.NOT_UTF8)


def test_a20_a_message_over_its_size() -> None:
    room = MAX_ENVELOPE_BYTES - len(with_args('{"file_path":""}'))
    assert opened(with_args('{"file_path":"' + "x" * room + '"}'))
    over = with_args('{"file_path":"' + "x" * (room + 1) + '"}')
    huge = "é" * (100 * MAX_ENVELOPE_BYTES)
    for text in (over, over.encode(), huge, huge.encode()):
        tracemalloc.start()
        rejection = refused(text)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (rejection.fault, rejection.reason) == (FORMAT, strictjson.TOO_LARGE)
        assert peak < 3 * MAX_ENVELOPE_BYTES


def test_a21_arguments_are_never_decoded_twice() -> None:
    rejection = refused(with_args(json.dumps('{"file_path":"a"}')))
    assert (rejection.fault, rejection.reason) == (FORMAT, texts.ARGS_NOT_OBJECT)


@pytest.mark.parametrize("key", ["__proto__", "constructor", "__class__", "$ref", "__init__", "prototype", "toString"])
def test_a22_names_that_mean_something_elsewhere(tools: Catalogue, key: str) -> None:
    outcome = admit_call(tools, "file_reader", {"file_path": "a", key: {}})
    assert isinstance(outcome, Rejection)
    assert (outcome.fault, outcome.pointer) == (BAD_ARGS, f"/{key}")


def test_a23_one_number_one_form(tools: Catalogue) -> None:
    forms = {"1": 1, "1.0": 1, "10e-1": 1, "-0": 0, "-0.0": 0, "0e5": 0}
    for text, number in forms.items():
        outcome = admit_call(tools, "file_reader", opened(with_args(f'{{"file_path":"a","n":{text}}}')).args)
        assert isinstance(outcome, Proposal)
        assert repr(outcome.args["n"]) == repr(number)


@pytest.mark.parametrize(
    "name",
    [
        "file_reader\n",
        "fіle_reader",
        "FILE_READER",
        " file_reader",
        "file_reader\u200b",
        "file_reader\x00",
        "file\u00adreader",
    ],
)
def test_b01_b02_b04_lookalike_names(tools: Catalogue, name: str) -> None:
    outcome = admit_call(
        tools, opened(json.dumps({"tool": name, "args": {"file_path": "a"}, "nonce": "n"})).tool, {"file_path": "a"}
    )
    assert isinstance(outcome, Rejection)
    assert outcome.fault is UNKNOWN_TOOL


def test_b05_a_name_of_ten_thousand_characters(tools: Catalogue) -> None:
    outcome = admit_call(tools, "x" * 10_000, {})
    assert isinstance(outcome, Rejection)
    assert outcome.fault is UNKNOWN_TOOL
    assert len(outcome.proposed_tool or "") == 100


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "a\rb", "\u2028", "\u0085"])
def test_b06_escapes_and_newlines_stay_on_one_line(tools: Catalogue, text: str) -> None:
    outcome = admit_call(tools, text, {"file_path": "a"})
    assert isinstance(outcome, Rejection)
    # The echoed name is data; written as JSON it cannot leave its line.
    assert len(json.dumps(outcome.proposed_tool).splitlines()) == 1
    by_key = admit_call(tools, "file_reader", {"file_path": "a", text: 1})
    assert isinstance(by_key, Rejection)
    assert len(json.dumps(by_key.as_dict()).splitlines()) == 1


@pytest.mark.parametrize("digits", ["１２", "٣٤", "१२", "1２"])
def test_b08_digits_of_other_scripts(tools: Catalogue, digits: str) -> None:
    assert isinstance(admit_call(tools, "file_reader", {"file_path": "a", "code": digits}), Rejection)
    assert not compile_schema({"pattern": r"^\d+$"}, closed=False).accepts(digits)


def slot(now: list[float], turn: str = "t") -> NonceSlot:
    return NonceSlot(
        session_id="s",
        turn_id=turn,
        agent_id="a",
        random=lambda count: b"r" * count,
        clock=lambda: now[0],
        expires_at=60.0,
    )


def test_c01_the_same_nonce_twice() -> None:
    held = slot([0.0])
    nonce = held.issue()
    assert [held.take(nonce), held.take(nonce)] == [None, USED]


def test_c02_the_nonce_of_another() -> None:
    held, other = slot([0.0]), slot([0.0], turn="u")
    held.issue()
    assert held.take(other.issue()) == WRONG


def test_c03_a_nonce_older_than_its_turn() -> None:
    now = [0.0]
    held = slot(now)
    nonce = held.issue()
    now[0] = 60.0
    assert held.take(nonce) == EXPIRED


@pytest.mark.parametrize(
    ("args", "name"), [({"file_path": "a", "zz": 1}, "/zz"), ({}, "/file_path"), ({"file_path": "a", "n": True}, "/n")]
)
def test_d01_the_argument_at_fault_is_named(tools: Catalogue, args: dict[str, Any], name: str) -> None:
    outcome = admit_call(tools, "file_reader", args)
    assert isinstance(outcome, Rejection)
    assert (outcome.fault, outcome.pointer) == (BAD_ARGS, name)


def test_d02_the_end_is_the_end() -> None:
    compiled = compile_schema({"pattern": "^Story/[a-z.]+$"}, closed=False)
    assert compiled.accepts("Story/x.md")
    assert not compiled.accepts("Story/x.md\n")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_d03_a_number_a_client_library_made(tools: Catalogue, number: float) -> None:
    made = Catalogue()
    made.add(Card(name="t", description="", input_schema={"properties": {"x": {"minimum": 0, "maximum": 10}, "y": {}}}))
    for args in ({"x": number}, {"y": number}, {"y": [{"z": number}]}):
        outcome = admit_call(made, "t", args)
        assert isinstance(outcome, Rejection)
        assert outcome.fault is BAD_ARGS


def test_d04_a_reference_to_the_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        for origin in ("upstream", "local"):
            with pytest.raises(RegistrationError) as caught:
                Catalogue().add(
                    Card(
                        name="t",
                        description="",
                        input_schema={"properties": {"a": {"$ref": url}}},
                        origin=origin,
                        strict=False,
                    )
                )  # type: ignore[arg-type]
            assert caught.value.code == "schema_remote_ref"
        with pytest.raises(TimeoutError):
            server.accept()


def test_d06_a_pattern_that_doubles_with_each_letter() -> None:
    compiled = compile_schema({"pattern": "^(a+)+$"}, closed=False)
    assert not compiled.accepts("a" * 40 + "!")
    assert quickest(lambda: compiled.accepts("a" * 40 + "!")) < 0.1


def test_d08_a_pattern_with_a_class_of_letters() -> None:
    compiled = compile_schema({"pattern": r"^\p{L}+$"}, closed=False)
    assert compiled.accepts("Éa")
    assert not compiled.accepts("1")


def test_d09_the_budget_counts_bytes() -> None:
    # One letter to the eye; the limit sees what has to be stored.
    letter = "e" + "\u0301" * 40_000
    assert len(letter) < MAX_ENVELOPE_BYTES
    assert (
        refused(json.dumps({"tool": "t", "args": {"a": letter}, "nonce": "n"}, ensure_ascii=False)).reason
        == strictjson.TOO_LARGE
    )


def test_c05_a_hundred_submissions_at_once() -> None:
    held = slot([0.0])
    nonce = held.issue()
    start = threading.Barrier(100)
    results: list[Rejection | None] = []

    def attempt() -> None:
        start.wait()
        results.append(held.take(nonce))

    threads = [threading.Thread(target=attempt) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(None) == 1
    assert results.count(USED) == 99
