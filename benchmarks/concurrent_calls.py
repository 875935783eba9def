"""64 callers at once, each in its own session, with fsync: what group commit makes of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from benchmarks.call import echo
from benchmarks.harness import Suite, table
from tallystick import Gate
from tallystick.settings import Settings

PROMISES = ("speed.group-commit",)
CALLERS = 64
EACH = 8
GOAL = 10.0


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    gate = Gate.open(folder / "ws", settings=Settings(), plugins=False)
    gate.register(echo)
    suite = Suite(folder)

    async def caller(number: int) -> None:
        for _ in range(EACH):
            outcome = await gate.call("echo", {"text": "hello world", "n": 7}, session=f"s{number}")
            if not outcome.ok:
                raise RuntimeError(outcome.as_dict())

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(CALLERS):
                group.create_task(caller(number))

    suite.add(f"{CALLERS} callers in {CALLERS} sessions, fsync", together, per_run=CALLERS * EACH)

    async def alone() -> None:
        await gate.call("echo", {"text": "hello world", "n": 7}, session="alone")

    suite.add("1 caller, fsync", alone)
    rows = suite.measure(rounds=9 if full else 5, milliseconds=250)
    gate.close()
    return {
        "markdown": table(rows),
        "rows": [vars(row) for row in rows],
        "goal": f"{CALLERS} callers ≤ {GOAL} × floor a call",
    }
