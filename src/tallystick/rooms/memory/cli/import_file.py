"""`tally memory import`: proposals from a file, one a line."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Here, command, open_lines
from tallystick.rooms.memory.cli.queries import SESSION, memory_in

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.doors.cli.kit import Advance
    from tallystick.gate.execute.outcome import Outcome

SHOWN = 20
"""Refusals that are told one by one; `--json` has all of them."""
MAX_LINE_BYTES = 1024 * 1024
FIELDS = {"tool_name", "payload"}


def add_import_command(memory: typer.Typer) -> None:
    """Add this command to the group."""
    command(memory, "import")(import_)


def import_(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines: {tool_name, payload}; - reads stdin.")],
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="The agent whose word it is. Default: yours.")
    ] = None,
) -> Exit:
    """Propose what a file holds, one proposal a line, in order.

    What is refused is told with its line, and the rest is taken. A proposition may cite observations of earlier lines.
    The same file again changes nothing.
    """
    import asyncio

    with open_lines(file) as lines, here.gate(plugins=True, make=True) as gate:
        memory_in(gate)
        with here.screen.progress("proposing", None) as advance:
            counts, refused = asyncio.run(_propose(gate, lines, agent, advance))
    here.screen.data({**counts, "refused": refused})
    here.screen.line(", ".join(f"{number} {what}" for what, number in counts.items()))
    for one in refused[:SHOWN]:
        where = f" at {one['pointer']}" if one["pointer"] else ""
        here.screen.line(f"line {one['line']}: {one['code']}: {one['reason']}{where}")
    if len(refused) > SHOWN:
        here.screen.note(f"and {len(refused) - SHOWN} more; --json has all of them")
    return Exit.REFUSED if refused else Exit.OK


async def _propose(
    gate: "Gate", lines: Iterable[bytes], agent: str | None, advance: "Advance"
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many came to what, and those that were refused."""
    from tallystick.gate.session import LOCAL_OWNER, Session
    from tallystick.rooms.memory.flows.propose_all import propose_all

    session = Session(session_id=SESSION, caller=replace(LOCAL_OWNER, channel="cli"), agent_id=agent)

    async def call_many(some: list[Any]) -> list["Outcome"]:
        if some[0][0] is not None:
            return await gate.call_many(some, session=session)
        return [await gate.refuse(rejection, line, session=session) for _, (rejection, line) in some]

    counts, refused = {"accepted": 0, "transformed": 0, "rejected": 0}, list[dict[str, Any]]()
    numbers: deque[int] = deque()
    async for outcome in propose_all(call_many, _proposals(lines, numbers)):
        counts[outcome.status] += 1
        number, rejection = numbers.popleft(), outcome.rejection
        if rejection is not None:
            code = str(rejection.fault.boundary_code)
            refused.append(_refusal(number, code, rejection.reason, rejection.pointer))
        elif outcome.failure is not None:
            refused.append(_refusal(number, outcome.failure.fault.name, outcome.failure.message, None))
        advance(number)
    return counts, refused


def _proposals(lines: Iterable[bytes], numbers: "deque[int]") -> Iterator[tuple[Any, Any]]:
    """What the lines propose, tool and payload; of one that proposes nothing why not, for the ledger."""
    from tallystick.gate.admit.proposal import Rejection
    from tallystick.gate.admit.strictjson import parse_json_object
    from tallystick.gate.codes import BAD_ARGS, UNKNOWN_TOOL
    from tallystick.rooms.memory.project.fold import HANDLERS

    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        numbers.append(number)
        asked = parse_json_object(line, MAX_LINE_BYTES)
        if isinstance(asked, Rejection):
            yield None, (asked, line)
        elif asked.keys() != FIELDS or not isinstance(asked["payload"], dict):
            yield None, (Rejection(fault=BAD_ARGS, reason="not {tool_name, payload}"), line)
        elif asked["tool_name"] not in HANDLERS:
            unknown = Rejection(fault=UNKNOWN_TOOL, reason="not one of memory's proposals", pointer="/tool_name")
            yield None, (unknown, line)
        else:
            yield asked["tool_name"], asked["payload"]


def _refusal(line: int, code: str, reason: str, pointer: str | None) -> dict[str, Any]:
    return {"line": line, "code": code, "reason": reason, "pointer": pointer}
