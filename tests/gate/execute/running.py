"""One tool in a runner, for tests of execute alone."""

import asyncio
from typing import Any

from tallystick import Tool
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.execute.call import Call
from tallystick.gate.execute.outcome import Ran
from tallystick.gate.execute.runner import Runner
from tallystick.gate.session import Caller, Session

SESSION = Session(session_id="s1", caller=Caller(subject="ann", roles=frozenset({"reader"})), agent_id="critic")


def a_call(tool: Tool, **fields: Any) -> Call:
    return Call(session=SESSION, tool=tool.card.name, **fields)


async def run(tool: Tool, call: Call | None = None, **args: Any) -> Ran:
    runner = Runner()
    runner.add(tool.card, tool.handler)
    try:
        return await runner.run(Catalogue().add(tool.card), args, call or a_call(tool))
    finally:
        runner.close()


def run_sync(tool: Tool, call: Call | None = None, **args: Any) -> Ran:
    return asyncio.run(run(tool, call, **args))


def fault_of(ran: Ran) -> str | None:
    return None if ran.failure is None else ran.failure.fault.name


def value_of(ran: Ran) -> Any:
    assert ran.output is not None, ran.failure
    return ran.output.value
