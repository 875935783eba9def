import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.gate.admit.envelope import (
    MAX_ENVELOPE_BYTES,
    THINKING,
    Envelope,
    open_envelope,
)
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import TOO_LARGE
from tallystick.gate.codes import COT, FORMAT
from tests.sizes import size

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "admit_envelopes.json").read_text(encoding="utf-8"))[
    "cases"
]
STEPS: dict[str, dict[str, bool]] = {
    "first": {"first": True},
    "first+final": {"first": True, "may_finish": True},
    "later": {"first": False},
}
NONCE = "6f1d0c8e5b7a49d2a3c4e5f60718293a"


def call(**changes: Any) -> str:
    return json.dumps({"tool": "file_reader", "args": {"file_path": "a.md", "n": 3}, "nonce": NONCE, **changes})


def fault_of(outcome: Envelope | Rejection) -> str | None:
    return outcome.fault.name if isinstance(outcome, Rejection) else None


@pytest.mark.promise("admit.envelope", "admit.two-objects", "admit.thinking", "admit.unknown-field")
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
@pytest.mark.parametrize("form", ["text", "bytes"])
def test_a_message_is_one_strict_envelope_or_refused(case: dict[str, Any], form: str) -> None:
    text = case["text"] if form == "text" else case["text"].encode()
    outcome = open_envelope(text, **STEPS[case["step"]])
    assert fault_of(outcome) == case["fault"]
    if isinstance(outcome, Envelope):
        assert outcome.cot_leak is case.get("leak", False)
        assert outcome.nonce == "n"
        assert outcome.final is ('"final"' in case["text"])


@pytest.mark.promise("admit.thinking")
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_where_thinking_is_refused_only_the_leaks_are_refused_too(case: dict[str, Any]) -> None:
    outcome = open_envelope(case["text"], **STEPS[case["step"]], cot="reject")
    if case.get("leak"):
        assert isinstance(outcome, Rejection)
        assert (outcome.fault, outcome.reason) == (COT, THINKING)
    elif case["fault"] is None:
        assert isinstance(outcome, Envelope)
    else:
        assert isinstance(outcome, Rejection)


@pytest.mark.promise("admit.size")
def test_size_counts_bytes_and_the_limit_itself_is_allowed() -> None:
    room = MAX_ENVELOPE_BYTES - len(call(args={"a": ""}).encode())
    at_limit = call(args={"a": "x" * room})
    assert isinstance(open_envelope(at_limit, first=True), Envelope)
    over = open_envelope(at_limit + " ", first=True)
    assert isinstance(over, Rejection)
    assert (over.fault, over.reason) == (FORMAT, TOO_LARGE)
    # Half as many characters, each of two bytes and more.
    accents = json.dumps({"tool": "t", "args": {"a": "é" * (room // 2 + 100)}, "nonce": "n"}, ensure_ascii=False)
    assert len(accents) < MAX_ENVELOPE_BYTES < len(accents.encode())
    assert isinstance(open_envelope(accents, first=True), Rejection)


@pytest.mark.promise("admit.linear")
@pytest.mark.parametrize(
    "text",
    [
        " " * 40_000,
        " " * 40_000 + "x",
        "<" * 60_000,
        "<think>" * 9_000,
        "</think>" * 8_000,
        "</think>" * 8_000 + "{",
        "<think></think>" * 4_000 + "{",
        "[thinking]" * 6_000,
        "{" * 60_000,
        "{}" * 30_000,
        '{"' + '\\"' * 30_000,
        '{} "' + '\\"' * 30_000,
        '{"a":"' + "\\\\" * 30_000 + '"}{',
        "\t\n" * 30_000 + "{}" + "\t\n" * 2_000,
        "</think " * 8_000,
    ],
    ids=lambda text: f"{text[:12]!r} x {len(text)}",
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    outcome = open_envelope(text, first=True)
    took = time.process_time() - started
    assert isinstance(outcome, Rejection)
    # A few milliseconds here; a second would mean that the time grows with the square.
    assert took < 0.5


@pytest.mark.promise("admit.no-crash")
@settings(max_examples=size(400, 20_000))
@given(text=st.text() | st.binary(), first=st.booleans(), may_finish=st.booleans())
@example(text="\ud800", first=True, may_finish=False)
@example(text=b"\xff", first=True, may_finish=False)
def test_any_text_gives_an_envelope_or_a_rejection(text: str | bytes, *, first: bool, may_finish: bool) -> None:
    assert isinstance(open_envelope(text, first=first, may_finish=may_finish), Envelope | Rejection)


@pytest.mark.promise("admit.no-crash")
@given(
    message=st.dictionaries(
        st.sampled_from(["tool", "args", "nonce", "action", "x"]),
        st.none() | st.integers() | st.text() | st.just({}) | st.just("final") | st.just("tool") | st.lists(st.none()),
    ),
    first=st.booleans(),
)
def test_any_fields_give_an_envelope_or_a_rejection(message: dict[str, Any], *, first: bool) -> None:
    outcome = open_envelope(json.dumps(message), first=first)
    assert isinstance(outcome, Envelope | Rejection)
    if isinstance(outcome, Envelope):
        assert outcome.nonce == message["nonce"] != ""
        assert outcome.final or (outcome.tool, outcome.args) == (message["tool"], message["args"])


PIECES = [
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"1e400", b"NaN", b"null", b"true", b"-", b"9" * 20,
    b"\xff", b"\xc0\xaf", b"\xef\xbb\xbf", b"<think>", b"</think>", b"```", b'"tool":"x",', b'"nonce":"x",', b"\x00", b"\x0c", b" ",
]  # fmt: skip


def mutated(chance: random.Random, text: bytes) -> bytes:
    """One to four small changes: a bit, a cut, a doubling, a swap, a piece put in."""
    body = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(body) + 1)
        match chance.randrange(5):
            case 0 if place < len(body):
                body[place] ^= 1 << chance.randrange(8)
            case 1:
                del body[place : place + chance.randint(1, 8)]
            case 2:
                body[place:place] = body[place : place + chance.randint(1, 40)]
            case 3:
                other = chance.randrange(len(body) + 1)
                body[place : place + 1], body[other : other + 1] = body[other : other + 1], body[place : place + 1]
            case _:
                body[place:place] = chance.choice(PIECES)
    return bytes(body)


@pytest.mark.promise("admit.no-crash")
def test_mutated_envelopes_never_crash_and_never_carry_another_nonce() -> None:
    chance = random.Random(20240229)
    wrong = call(nonce="0" * 32).encode()
    later = json.dumps({"action": "tool", "tool": "t", "args": {"a": [1, {"b": None}]}, "nonce": "0" * 32}).encode()
    opened = 0
    for round_ in range(size(20_000, 1_000_000)):
        text, first = (wrong, True) if round_ % 2 else (later, False)
        outcome = open_envelope(mutated(chance, text), first=first, may_finish=round_ % 3 == 0)
        assert isinstance(outcome, Envelope | Rejection)
        if isinstance(outcome, Envelope):
            opened += 1
            assert outcome.nonce != NONCE
    # Some changes fall into strings; a test in which nothing is ever opened would show nothing.
    assert opened > 0
