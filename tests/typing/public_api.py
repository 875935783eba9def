"""What a type checker knows of the public names; `test_typing.py` has mypy read this file, nothing runs it."""

from collections.abc import Callable
from datetime import date
from typing import Any, assert_type

from tallystick import Findings, Gate, Outcome, Tool, tool


@tool
def word_count(path: str, limit: int = 10) -> int:
    """Count words."""
    return len(path) + limit


@tool(effect="read", timeout_s=1.5, roles={"reader"})
async def due(day: date) -> date:
    """When it is due."""
    return day


def plain(text: str) -> list[str]:
    """Split."""
    return text.split()


assert_type(word_count("a", limit=3), int)


def calls(gate: Gate) -> None:
    gate.register(word_count, due, plain)
    assert_type(gate.call_sync(word_count, {"path": "a"}), Outcome[int])
    assert_type(gate.call_sync(word_count, {"path": "a"}).unwrap(), int)
    assert_type(gate.call_sync(due, {"day": "2026-01-01"}, session="s", dry_run=True).unwrap(), date)
    assert_type(gate.call_sync(plain, {"text": "a b"}).unwrap(), list[str])
    assert_type(gate.call_sync("word_count", {"path": "a"}), Outcome[Any])
    assert_type(gate.resume_sync("ap_1"), Outcome[Any])
    assert_type(gate.check_reply("It rained.", session="s", tools_ran=True), Findings)


async def awaits(gate: Gate) -> None:
    assert_type(await gate.call(word_count, {"path": "a"}), Outcome[int])
    assert_type((await gate.call(due, {"day": "2026-01-01"})).unwrap(), date)
    assert_type((await gate.call("due", {"day": "2026-01-01"})).unwrap(), Any)


def takes_any_tool(made: Tool, handler: Callable[..., Any]) -> tuple[Tool, Callable[..., Any]]:
    return made, handler


takes_any_tool(word_count, word_count)
