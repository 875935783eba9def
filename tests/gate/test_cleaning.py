"""A tool that says what of its arguments must not be kept: nothing of it is, wherever the call ends."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Outcome, tool
from tallystick.errors import ConfigError
from tests.gates import every_byte, open_gate, outcomes, said

SECRET = "anna.berg"


def without(args: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace(SECRET, "X"): _without(value) for key, value in args.items()}


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return without(value)
    if isinstance(value, list):
        return [_without(each) for each in value]
    return value.replace(SECRET, "X") if isinstance(value, str) else value


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    @tool(effect="write", aliases=("seek",), key_aliases={"words": "text"})
    async def look(text: str) -> str:
        return text

    with open_gate(tmp_path, replace(look, clean=without)) as opened:
        yield opened


def call(gate: Gate, name: str, args: Any) -> Outcome:
    return asyncio.run(gate.call(name, args, session="s1"))


@pytest.mark.promise("admit.cleaned")
def test_neither_tool_nor_receipt_sees_what_must_not_be_kept(gate: Gate) -> None:
    assert call(gate, "look", {"text": f"who is {SECRET}?"}).unwrap() == "who is X?"
    assert call(gate, "seek", {"words": SECRET}).unwrap() == "X"
    for unfit in ({"text": [SECRET]}, {"text": "a", SECRET: SECRET}, {"words": SECRET, "text": SECRET}):
        assert not call(gate, "look", unfit).ok
    turn = gate.turn(session="s1")
    assert asyncio.run(turn.submit(said("look", {"text": SECRET}, "wrong nonce"))).fault is not None
    assert len(outcomes(gate)) == 6
    told = json.dumps([receipt.flat() for receipt in outcomes(gate)])
    gate.close()
    assert SECRET not in told
    assert SECRET.encode() not in every_byte(gate.workspace)


@pytest.mark.promise("admit.cleaned")
def test_what_waits_for_a_person_is_kept_clean_and_its_grant_fits_the_same_call(tmp_path: Path) -> None:
    @tool(effect="external")
    async def send(text: str) -> str:
        return text

    with open_gate(tmp_path, replace(send, clean=without)) as opened:
        held = call(opened, "send", {"text": SECRET}).held
        assert held is not None
        opened.approvals.approve(held.approval_id, person="eva", channel="terminal")
        assert call(opened, "send", {"text": SECRET}).unwrap() == "X"
    assert SECRET.encode() not in every_byte(tmp_path)


@pytest.mark.promise("admit.cleaned")
@pytest.mark.parametrize("error", [ConfigError("no key"), TypeError(), RecursionError()])
def test_a_cleaner_that_fails_on_valid_arguments_lets_nothing_through(tmp_path: Path, error: Exception) -> None:
    def broken(_: Mapping[str, Any]) -> dict[str, Any]:
        raise error

    @tool(effect="read")
    async def look(text: str) -> str:
        raise AssertionError(text)

    with open_gate(tmp_path, replace(look, clean=broken)) as opened:
        outcome = call(opened, "look", {"text": SECRET})
        assert (outcome.fault.name if outcome.fault else None, outcome.http) == ("ledger", 503)
    assert SECRET.encode() not in every_byte(tmp_path)


@pytest.mark.promise("admit.cleaned")
def test_arguments_that_are_not_json_are_refused_for_that_and_not_kept(tmp_path: Path) -> None:
    def texts_only(args: Mapping[str, Any]) -> dict[str, Any]:
        return {key: "".join(value).replace(SECRET, "X") for key, value in args.items()}

    @tool(effect="read")
    async def look(text: str) -> str:
        raise AssertionError(text)

    with open_gate(tmp_path, replace(look, clean=texts_only)) as opened:
        # A date is no JSON value, but a JSON writer may know how to write it.
        outcome = call(opened, "look", {"text": SECRET, "since": date(2024, 6, 3)})
        assert outcome.fault is not None
        assert outcome.fault.name == "bad_args"
    assert SECRET.encode() not in every_byte(tmp_path)


@pytest.mark.promise("admit.cleaned")
def test_arguments_without_end_are_refused_as_any_are(gate: Gate) -> None:
    endless: dict[str, Any] = {}
    endless["text"] = endless
    outcome = call(gate, "look", endless)
    assert outcome.fault is not None
    assert outcome.fault.name == "bad_args"
