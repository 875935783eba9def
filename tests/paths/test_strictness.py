"""The calls that others let run: refused at every entrance, with the same code."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Outcome, tool
from tests.gates import open_gate, outcomes, said, then_said

RUNS: list[dict[str, Any]] = []


@tool(effect="read")
async def measure(n: int, unit: str) -> int:
    RUNS.append({"n": n, "unit": unit})
    return n


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    RUNS.clear()
    with open_gate(tmp_path, measure) as opened:
        yield opened


def by_submit(gate: Gate, name: str, args: Any) -> Outcome:
    turn = gate.turn(session="s1")
    return asyncio.run(turn.submit(json.dumps({"tool": name, "args": args, "nonce": turn.nonce})))


def by_submit_sync(gate: Gate, name: str, args: Any) -> Outcome:
    turn = gate.turn(session="s1")
    return turn.submit_sync(said(name, args, turn.nonce).encode())


def by_a_later_step(gate: Gate, name: str, args: Any) -> Outcome:
    turn = gate.turn(session="s1")
    assert asyncio.run(turn.propose("measure", {"n": 1, "unit": "m"})).ok
    RUNS.clear()
    return asyncio.run(turn.submit(then_said(name, args, turn.nonce)))


def by_propose(gate: Gate, name: str, args: Any) -> Outcome:
    return asyncio.run(gate.turn(session="s1").propose(name, args))


def by_call(gate: Gate, name: str, args: Any) -> Outcome:
    return asyncio.run(gate.call(name, args, session="s1"))


def by_call_sync(gate: Gate, name: str, args: Any) -> Outcome:
    return gate.call_sync(name, args, session="s1")


ENTRANCES: list[Callable[[Gate, str, Any], Outcome]] = [
    by_submit, by_submit_sync, by_a_later_step, by_propose, by_call, by_call_sync
]  # fmt: skip

WRONG: dict[str, tuple[str, Any, str]] = {
    "extra key": ("measure", {"n": 7, "unit": "m", "more": 1}, "bad_args"),
    "text for an integer": ("measure", {"n": "7", "unit": "m"}, "bad_args"),
    "true for 1": ("measure", {"n": True, "unit": "m"}, "bad_args"),
    "a fraction for an integer": ("measure", {"n": 7.5, "unit": "m"}, "bad_args"),
    "null for a required one": ("measure", {"n": None, "unit": "m"}, "bad_args"),
    "a list for an integer": ("measure", {"n": [7], "unit": "m"}, "bad_args"),
    "a number for a text": ("measure", {"n": 7, "unit": 7}, "bad_args"),
    "missing key": ("measure", {"n": 7}, "bad_args"),
    "no keys": ("measure", {}, "bad_args"),
    "two keys that mean one": ("measure", {"N": 7, "n ": 7, "unit": "m"}, "bad_args"),
    "unknown tool": ("weigh", {"n": 7, "unit": "m"}, "unknown_tool"),
    "another case": ("Measure", {"n": 7, "unit": "m"}, "unknown_tool"),
    "a space in the name": (" measure", {"n": 7, "unit": "m"}, "unknown_tool"),
}


@pytest.mark.promise("admit.strict-everywhere")
@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.__name__)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_call_is_refused_at_every_entrance(gate: Gate, entrance: Callable[..., Outcome], what: str) -> None:
    name, args, fault = WRONG[what]
    outcome = entrance(gate, name, args)
    assert outcome.fault is not None
    assert (outcome.status, outcome.fault.name) == ("rejected", fault)
    assert outcomes(gate)[-1].receipt_id == outcome.receipt_id
    assert RUNS == []


@pytest.mark.promise("admit.strict-everywhere")
@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.__name__)
@pytest.mark.parametrize("args", [{"n": 7, "unit": "m"}, {"n": 7.0, "unit": "m"}, {"unit": "", "n": -1}])
def test_a_right_call_runs_at_every_entrance(gate: Gate, entrance: Callable[..., Outcome], args: Any) -> None:
    outcome = entrance(gate, "measure", args)
    assert outcome.ok
    assert [{"n": int(args["n"]), "unit": args["unit"]}] == RUNS
    assert type(RUNS[0]["n"]) is int


@pytest.mark.promise("admit.strict-everywhere")
@pytest.mark.parametrize(
    "text",
    [
        '{"tool":"measure","args":{"n":7,"n":7,"unit":"m"},"nonce":"N"}',
        '{"tool":"measure","args":{"n":7,"\\u006e":8,"unit":"m"},"nonce":"N"}',
        '{"tool":"measure","tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N"}',
        '{"tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N","nonce":"N"}',
        '{"tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N","role":"admin"}',
        '{"tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N"} done',
        '```json\n{"tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N"}\n```',
        '[{"tool":"measure","args":{"n":7,"unit":"m"},"nonce":"N"}]',
        '{"tool":"measure","args":"{\\"n\\":7,\\"unit\\":\\"m\\"}","nonce":"N"}',
        '{"tool":"measure","args":{"n":9007199254740993,"unit":"m"},"nonce":"N"}',
        '{"tool":"measure","args":{"n":NaN,"unit":"m"},"nonce":"N"}',
        '{"tool":"measure","args":{"n":7,"unit":"\\ud800"},"nonce":"N"}',
    ],
)
def test_a_duplicate_key_and_other_loose_json_is_refused(gate: Gate, text: str) -> None:
    for as_bytes in (False, True):
        turn = gate.turn(session="s1")
        message = text.replace('"N"', f'"{turn.nonce}"')
        outcome = asyncio.run(turn.submit(message.encode() if as_bytes else message))
        assert outcome.rejection is not None
        assert outcome.rejection.call_code == "tool_call_invalid_format"
    assert RUNS == []
