"""Waiting a while for a person's answer to a held call, which may be given in another process."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tallystick.app.gate import Gate
from tallystick.gate.decide.approvals import State
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller

WAIT_S = 45.0
"""MCP clients give up after a minute; the answer with the approve command must reach them before."""
LOOK_S = 0.25
"""Between two looks at the book: an answer is noticed at once, and the database hardly notices us."""
SAID_NO = "a person refused this call"


async def settled(
    gate: Gate,
    outcome: Outcome,
    *,
    caller: Caller,
    wait_s: float = WAIT_S,
    tell: Callable[[Outcome], Awaitable[None]] | None = None,
) -> Outcome:
    """The outcome, after waiting for a person if the call is held.

    Args:
        gate: Where it is held.
        outcome: What came of the call.
        caller: Whose call it is, with the roles he has now.
        wait_s: How long to wait at most.
        tell: Told once that the wait begins.
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
            # Expired, or taken by the same call made elsewhere: there is nothing left to wait for.
            return outcome
        await asyncio.sleep(min(LOOK_S, left))
    return outcome
