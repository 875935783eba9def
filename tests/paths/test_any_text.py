"""No text whatever crashes the gate, runs a tool without a valid nonce, or leaves anything but one outcome receipt."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Outcome, tool
from tallystick.gate.decide.verdict import Limits
from tallystick.turns.turn import Turn
from tests.gates import open_gate, outcomes
from tests.sizes import size
from tests.verifying import verify

SHAPES = ["", "null", "[]", "{}", '"x"', "7", "<think>", "```json\n{}\n```", "\ufeff{}", "{" * 100, "\x00", "NaN"]


class Watched:
    """A gate whose tool notes which nonce let it run: none that was not issued may ever appear."""

    def __init__(self, workspace: Path) -> None:
        self.ran: list[dict[str, Any]] = []

        @tool(effect="read")
        async def look(file_path: str = "", n: int = 0, deep: dict[str, Any] | None = None) -> str:
            self.ran.append({"file_path": file_path, "n": n})
            return file_path

        self.gate = open_gate(workspace, look)

    def a_turn(self, *, later: bool = False) -> Turn:
        turn = self.gate.turn(session="s1", agent="chief", limits=Limits(steps=1_000_000))
        if later:
            assert asyncio.run(turn.propose("look", {})).ok
            self.ran.clear()
        return turn

    def submit(self, turn: Turn, text: str | bytes) -> Outcome:
        """Hand in a text and hold the gate to its promises."""
        before, nonce = self.gate.ledger.size(), turn.nonce
        self.ran.clear()
        outcome = asyncio.run(turn.submit(text))
        assert isinstance(outcome, Outcome)
        assert self.gate.ledger.size() == before + 1
        receipt = self.gate.ledger.find(outcome.receipt_id)
        assert receipt is not None
        assert (receipt.seq, receipt.header["kind"]) == (before, "outcome")
        assert receipt.header["outcome"]["status"] == outcome.status
        assert len(self.ran) == int(outcome.ok and not outcome.final)
        if outcome.ok:
            assert carries(text, nonce)
        assert turn.nonce != nonce
        return outcome


def carries(text: str | bytes, nonce: str | None) -> bool:
    """Whether a text has the nonce in it."""
    plain = text.decode() if isinstance(text, bytes) else text
    return nonce is not None and nonce in plain


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TALLY_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        made = Watched(tmp_path_factory.mktemp("workspace"))
    yield made
    # A log that was written through all of this is still whole.
    made.gate.close()


@pytest.mark.promise("record.one-outcome", "admit.no-crash")
@settings(max_examples=size(300, 20_000))
@given(text=st.text() | st.binary() | st.sampled_from(SHAPES), later=st.booleans())
def test_any_text_or_bytes(watched: Watched, text: str | bytes, *, later: bool) -> None:
    assert not watched.submit(watched.a_turn(later=later), text).ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELD = st.sampled_from(["tool", "args", "nonce", "action", "role", "Tool", "args "])


@pytest.mark.promise("record.one-outcome", "admit.no-crash")
@settings(max_examples=size(300, 20_000))
@given(
    message=st.dictionaries(FIELD, JSON | st.sampled_from(["look", "tool", "final"]), max_size=5),
    with_nonce=st.booleans(),
    later=st.booleans(),
)
def test_any_object_with_or_without_the_nonce(
    watched: Watched, message: dict[str, Any], *, with_nonce: bool, later: bool
) -> None:
    turn = watched.a_turn(later=later)
    if with_nonce:
        message = {**message, "nonce": turn.nonce}
    text = json.dumps(message)
    outcome = watched.submit(turn, text)
    assert with_nonce or not outcome.ok


@pytest.mark.promise("record.one-outcome")
@settings(max_examples=size(150, 10_000))
@given(name=st.text(max_size=20), args=JSON, known=st.booleans())
def test_any_native_call(watched: Watched, name: str, args: Any, *, known: bool) -> None:
    before = watched.gate.ledger.size()
    watched.ran.clear()
    outcome = asyncio.run(watched.a_turn().propose("look" if known else name, args))
    assert watched.gate.ledger.size() == before + 1
    assert len(watched.ran) == int(outcome.ok)


# -- mutated envelopes ---------------------------------------------------------------------------------------------------

Mutation = Callable[[random.Random, str], str | bytes]
INTERESTING = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\x00",
    "\ud800",
    "\ufeff",
    "é",
    "1e999",
    "NaN",
    " ",
    "\n",
    "<think>",
]


def flip_a_bit(rng: random.Random, text: str) -> bytes:
    data = bytearray(text.encode())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def drop(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text))
    return text[:start] + text[start + rng.randrange(1, 12) :]


def insert(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(INTERESTING) + text[at:]


def repeat(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text))
    piece = text[start : start + rng.randrange(1, 40)]
    return text[:start] + piece * rng.randrange(2, 5) + text[start:]


def swap(rng: random.Random, text: str) -> str:
    one, other = sorted(rng.randrange(len(text)) for _ in range(2))
    return text[:one] + text[other:] + text[one:other]


def wrap(rng: random.Random, text: str) -> str:
    before, after = rng.choice([("```json\n", "\n```"), ("[", "]"), ("Sure! ", ""), ("", " done"), ("<think>a</think>", ""),
                                ("\ufeff", ""), ('{"a":', "}"), ("", "{}"), (" \n", "\t"), ("[thinking]", "[/thinking]")])  # fmt: skip
    return before + text + after


def another_nonce(rng: random.Random, text: str) -> str:
    message = json.loads(text)
    message["nonce"] = rng.choice(
        [rng.randbytes(16).hex(), message["nonce"].upper(), message["nonce"][:-1], "", None, 0]
    )
    return json.dumps(message)


def another_field(rng: random.Random, text: str) -> str:
    message = json.loads(text)
    message[rng.choice(["role", "tool", "action", "args", "nonce2"])] = rng.choice([None, "look", {}, [], 7, "final"])
    return json.dumps(message)


MUTATIONS: list[Mutation] = [flip_a_bit, drop, insert, repeat, swap, wrap, another_nonce, another_field]


@pytest.mark.promise("record.one-outcome", "admit.no-crash")
def test_mutated_envelopes_run_nothing_without_the_right_nonce(tmp_path: Path) -> None:
    rng = random.Random(20_260_101)  # the same envelopes on every run
    watched = Watched(tmp_path)
    counts = {"accepted": 0, "rejected": 0, "transformed": 0}

    async def one() -> None:
        turn = watched.gate.turn(session="s1", agent="chief")
        args = rng.choice([{}, {"file_path": "Story/x.md"}, {"n": 7}, {"deep": {"a": [1, {"b": "c"}]}}])
        text: str | bytes = json.dumps({"tool": "look", "args": args, "nonce": turn.nonce})
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if isinstance(text, str):
                text = changed(rng, text)
        nonce = turn.nonce
        watched.ran.clear()
        outcome = await turn.submit(text)
        counts[outcome.status] += 1
        assert len(watched.ran) == int(outcome.ok)
        if outcome.ok:
            assert carries(text, nonce)

    async def all_of_them() -> None:
        for _ in range(total):
            await one()

    total = size(3_000, 1_000_000)
    asyncio.run(all_of_them())
    assert watched.gate.ledger.size() == total
    assert sum(counts.values()) == total
    # The mutations are worth something: most are refused, and some still say the same.
    assert counts["rejected"] > total // 2
    assert counts["accepted"] + counts["transformed"] > 0
    watched.gate.close()
    assert verify(tmp_path).ok


def changed(rng: random.Random, text: str) -> str | bytes:
    mutation = rng.choice(MUTATIONS)
    try:
        return mutation(rng, text)
    except (ValueError, TypeError, KeyError, AttributeError):
        # What an earlier mutation broke has no fields to change any more.
        return insert(rng, text or "{}")


def test_the_log_of_all_this_is_whole(watched: Watched) -> None:
    assert len(outcomes(watched.gate)) == watched.gate.ledger.size()
