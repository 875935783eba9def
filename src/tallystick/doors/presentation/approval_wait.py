"""Wait for the answer to a held call, which may be given in another process."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tallystick.app.gate import Gate
from tallystick.gate.decide.approvals import State
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller

WAIT_S = 45.0
"""MCP clients time out after a minute; the response with the approve command must reach them earlier."""
LOOK_S = 0.25
"""Polling interval in seconds: short enough to react at once, with little load on the database."""
SAID_NO = "a person refused this call"


async def settled(
    gate: Gate,
    outcome: Outcome,
    *,
    caller: Caller,
    wait_s: float = WAIT_S,
    tell: Callable[[Outcome], Awaitable[None]] | None = None,
) -> Outcome:
    """Return the outcome of a call; if it is held, wait for the answer first.

    Args:
        gate: The gate that holds the call.
        outcome: The outcome so far.
        caller: The call's caller, with current roles.
        wait_s: The maximum wait in seconds.
        tell: Called once when the wait starts.
    """
    held = outcome.held
    if held is None or wait_s <= 0:
        return outcome
    if tell is not None:
        await tell(outcome)
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    while (left := until - loop.time()) > 0:
        hold = await asyncio.to_thread(gate.approvals.get, held.approval_id)
        state = None if hold is None else hold.state
        if state in {State.GRANTED, State.EDITED}:
            return await gate.resume(held.approval_id, caller=caller)
        if state is State.REFUSED and outcome.rejection is not None:
            return replace(outcome, held=None, rejection=replace(outcome.rejection, reason=SAID_NO))
        if state is not State.HELD:
            # Expired, or the approval was used by the same call made elsewhere.
            return outcome
        await asyncio.sleep(min(LOOK_S, left))
    return outcome
