"""One governed call: strict parse, schema, policy, a no-op tool, canonical bytes, HMAC, chain, append, no fsync."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson

from benchmarks.harness import Suite, table
from tallystick import Gate, tool
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.decide.verdict import Limits
from tallystick.settings import Settings

PROMISES = ("speed.call",)
BODY = b'{"text":"hello world","n":7}'
GOAL = 12.0
TEXT_GOAL = 18.0


@tool(effect="read", name="echo")
async def echo(text: str, n: int) -> str:
    """Echo."""
    return f"{text}:{n}"


@tool(effect="read", name="echo_inline", inline=True)
def echo_inline(text: str, n: int) -> str:
    """Echo."""
    return f"{text}:{n}"


@tool(effect="read", name="echo_thread")
def echo_thread(text: str, n: int) -> str:
    """Echo."""
    return f"{text}:{n}"


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    settings = Settings.model_validate(
        {"ledger": {"durability": "os"}, "limits": {"steps": 10**9, "bytes_per_turn": 10**12}}
    )
    gate = Gate.open(folder / "ws", settings=settings, plugins=False)
    gate.register(echo, echo_inline, echo_thread)
    suite = Suite(folder)

    def calling(name: str) -> Any:
        async def call() -> Any:
            args = parse_json_object(BODY, 65_536)
            return (await gate.call(name, args, session="bench")).result

        return call

    expected = "hello world:7"
    suite.add("async def tool", calling("echo"), check=lambda r: r == expected)
    suite.add("inline def tool", calling("echo_inline"), check=lambda r: r == expected)
    suite.add("def tool in a thread", calling("echo_thread"), check=lambda r: r == expected)
    turn = gate.turn(session="bench", agent="chief", limits=Limits(steps=10**9))
    prefix, first = (
        orjson.dumps({"action": "tool", "tool": "echo", "args": {"text": "hello world", "n": 7}})[:-1],
        [True],
    )

    async def submit() -> Any:
        # A new turn would be part of no call; the decision form is what every step but the first sends.
        text = prefix + b',"nonce":"' + str(turn.nonce).encode() + b'"}'
        if first[0]:
            first[0] = False
            text = text.replace(b'"action":"tool",', b"")
        return (await turn.submit(text)).result

    suite.add("model text with nonce, async tool", submit, check=lambda r: r == expected)
    rows = suite.measure(rounds=9 if full else 5)
    gate.close()
    return {
        "markdown": table(rows),
        "rows": [vars(row) for row in rows],
        "goal": f"async and inline tool ≤ {GOAL} × floor, model text with its nonce ≤ {TEXT_GOAL} × floor",
    }


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        print(run(Path(scratch), full=False)["markdown"])
        asyncio.set_event_loop(None)
