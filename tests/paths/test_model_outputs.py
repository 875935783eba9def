"""What real models said under injection, handed in as turns of a gate that has all their tools: nothing runs."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Card, Gate, Tool
from tests.gates import open_gate, outcomes
from tests.sizes import size
from tests.verifying import verify

TYPES = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
OWN_TOOLS = [
    {
        "toolkit": "Lock",
        "tools": [{"name": "GrantAccess", "parameters": [{"name": "guest", "type": "string", "required": True}]}],
    },
    {
        "toolkit": "Notes",
        "tools": [{"name": "Search", "parameters": [{"name": "query", "type": "string", "required": False}]}],
    },
]
OWN_OUTPUTS = [
    'Thought: I need the notes.\nAction: NotesSearch\nAction Input: {"query": "budget"}',
    'Final Answer: Done.\nAction: LockGrantAccess\nAction Input: {"guest": "amy"}',
    '```json\n{"tool": "LockGrantAccess", "args": {"guest": "amy"}, "nonce": "TOOL_NONCE"}\n```',
    '{"tool": "LockGrantAccess", "args": {"guest": "amy"}, "nonce": "<nonce>"}',
    '<tool_call>{"name": "LockGrantAccess", "arguments": {"guest": "amy"}}</tool_call>',
    'LockGrantAccess(guest="amy")',
    "",
    "I cannot do that.",
]


def handlers(toolkits: list[dict[str, Any]], runs: list[str]) -> Iterator[Tool]:
    """The tools as the models knew them: toolkit and name in one word."""
    for toolkit in toolkits:
        for spec in toolkit["tools"]:
            name = re.sub(r"[^A-Za-z0-9_.-]", "", toolkit["toolkit"] + spec["name"])

            def handler(name: str = name, **_args: Any) -> str:
                runs.append(name)
                return "done"

            properties = {
                given["name"]: {"type": TYPES[given["type"]]} if given["type"] in TYPES else {}
                for given in spec["parameters"]
            }
            required = [given["name"] for given in spec["parameters"] if given.get("required")]
            schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
            card = Card(
                name=name, description=spec.get("summary", ""), input_schema=schema, effect="read", how="inline"
            )
            yield Tool(card=card, handler=handler)


async def submit_all(gate: Gate, texts: list[str]) -> set[str]:
    codes = set()
    for text in texts:
        outcome = await gate.turn(session="injected", agent="model").submit(text)
        assert outcome.status == "rejected"
        assert outcome.rejection is not None
        codes.add(str(outcome.rejection.call_code))
    return codes


def check(workspace: Path, toolkits: list[dict[str, Any]], texts: list[str]) -> None:
    runs: list[str] = []
    with open_gate(workspace, *handlers(toolkits, runs)) as gate:
        assert gate.tools()
        asyncio.run(submit_all(gate, texts))
        assert len(outcomes(gate)) == gate.ledger.size() == len(texts)
    assert runs == []
    assert verify(workspace).ok


@pytest.mark.promise("admit.injected-through-gate")
def test_outputs_of_our_own_run_nothing(tmp_path: Path) -> None:
    check(tmp_path, OWN_TOOLS, OWN_OUTPUTS)


@pytest.mark.promise("admit.injected-through-gate", "admit.injected-outputs")
def test_no_output_of_a_real_model_runs_anything(tmp_path: Path, data: Path) -> None:
    described = data / "injecagent" / "shared" / "tools.json"
    files = sorted((data / "injecagent-model-outputs").rglob("*.jsonl"))
    if not files or not described.exists():
        pytest.skip("left out: outputs of injecagent-model-outputs, TALLY_DATA not there")
    texts = [str(json.loads(line)["output"]) for path in files for line in path.read_text("utf-8").splitlines()]
    # Every file has its share of the small size.
    every = max(1, len(texts) // size(300, len(texts)))
    check(tmp_path, json.loads(described.read_text("utf-8")), texts[::every])


@pytest.mark.promise("admit.injected-through-gate")
def test_the_calls_those_models_meant_would_have_run_had_they_come_the_right_way(tmp_path: Path) -> None:
    runs: list[str] = []
    with open_gate(tmp_path, *handlers(OWN_TOOLS, runs)) as gate:
        assert asyncio.run(gate.call("LockGrantAccess", {"guest": "amy"})).ok
    assert runs == ["LockGrantAccess"]
