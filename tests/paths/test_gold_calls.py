"""Real tool schemas and the calls that are right for them: every one that fits runs, through the whole gate."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tallystick import Card, Gate, Tool
from tallystick.gate.admit.names import TOOL_ID
from tests.gate.admit.test_bfcl import fits, multi_turn, schema_of, single_turn
from tests.gates import open_gate
from tests.sizes import size
from tests.verifying import verify

OWN = [
    ("forecast", {"type": "dict", "properties": {"place": {"type": "string"}, "days": {"type": "integer"}}, "required": ["place"]},
     {"place": "Łódź", "days": 3}),
    ("area", {"type": "dict", "properties": {"sides": {"type": "array", "items": {"type": "float"}}}, "required": ["sides"]},
     {"sides": [1, 2.5]}),
    ("plan", {"type": "dict", "properties": {"who": {"type": "dict", "properties": {"name": {"type": "string"}}}}},
     {"who": {"name": "ann"}}),
]  # fmt: skip


def a_tool(name: str, parameters: dict[str, Any], runs: list[Any]) -> Tool:
    async def handler(**args: Any) -> None:
        runs.append(args)

    schema = {**schema_of(parameters), "type": "object"}
    return Tool(card=Card(name=name, description="", input_schema=schema, effect="read", how="async"), handler=handler)


async def call(gate: Gate, name: str, parameters: dict[str, Any], args: dict[str, Any]) -> None:
    """One call of one tool, by an envelope and without one; the tool gets exactly what was proposed."""
    runs: list[Any] = []
    made = a_tool(name, parameters, runs)
    gate.register(made)
    turn = gate.turn(session="gold")
    said = await turn.submit(json.dumps({"tool": name, "args": args, "nonce": turn.nonce}))
    given = await gate.call(name, args, session="gold")
    gate.unregister(name)
    assert said.ok, (name, said.rejection)
    assert given.ok, (name, given.rejection)
    # A null for an optional argument is how providers leave it out.
    known = {key: value for key, value in args.items() if value is not None}
    assert [{key: value for key, value in run.items() if value is not None} for run in runs] == [known, known]


@pytest.mark.promise("admit.gold-calls")
def test_calls_of_our_own_run(tmp_path: Path) -> None:
    async def all_of_them() -> None:
        for name, parameters, args in OWN:
            await call(gate, name, parameters, args)

    with open_gate(tmp_path) as gate:
        asyncio.run(all_of_them())
        assert gate.ledger.size() == 2 * len(OWN)


@pytest.mark.promise("admit.gold-calls")
def test_every_gold_call_that_fits_its_schema_runs(tmp_path: Path, data: Path) -> None:
    folder = data / "bfcl-v4"
    if not folder.exists():
        pytest.skip("left out: gold calls of bfcl-v4, TALLY_DATA not there")
    golden = []
    for _, functions, name, args in [*single_turn(folder), *multi_turn(folder)]:
        parameters = next(function for function in functions if function["name"] == name)["parameters"]
        if TOOL_ID.fullmatch(name) and fits(args, {**schema_of(parameters), "type": "object"}):
            golden.append((name, parameters, args))
    chosen = golden[:: max(1, len(golden) // size(200, len(golden)))]

    async def all_of_them() -> None:
        for name, parameters, args in chosen:
            await call(gate, name, parameters, args)

    with open_gate(tmp_path) as gate:
        asyncio.run(all_of_them())
        assert gate.ledger.size() == 2 * len(chosen) >= 400
    assert verify(tmp_path).ok
