"""Running a held call that a person let through: once, as a submission of its own, checked again from the top."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from tallystick.app.wiring import Parts
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import DENIED, HELD
from tallystick.gate.decide.approvals import MISMATCH, OUTDATED, Grant, Hold, resume_refusal
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.outcome import Held, Outcome
from tallystick.gate.session import Caller, Session
from tallystick.turns.turn import Turn

UNKNOWN_SESSION = "approvals"
"""Where it is recorded that somebody tried to resume what does not exist."""


async def resume(parts: Parts, turns: Mapping[str, Turn], approval_id: str, caller: Caller | None) -> Outcome:
    """Take the grant and run the call; the turn it was held in, if it is still there, gets a new nonce."""
    hold = await asyncio.to_thread(parts.book().get, approval_id, parts.now_ms())
    if hold is None:
        nothing = CallContext(session=Session(session_id=UNKNOWN_SESSION).within(caller=caller))
        return await parts.pipeline.refuse(Rejection(fault=DENIED, reason="approval_unknown"), approval_id, nothing)
    standing = CallContext(session=hold.session.within(caller=caller))
    found = await asyncio.to_thread(_take, parts, hold)
    if isinstance(found, Rejection):
        outcome = await parts.pipeline.refuse(found, approval_id, standing)
        waits = Held(approval_id=hold.approval_id, expires_at=hold.expires_at) if found.fault is HELD else None
        return replace(outcome, held=waits)

    async def run(standing: CallContext) -> Outcome:
        return await parts.pipeline.resume(hold.tool, hold.arguments(), standing, found, dry_run=hold.dry_run)

    turn = turns.get(hold.session.turn_id or "")
    return await run(standing) if turn is None or not turn.waiting else await turn.resumed(run, caller=caller)


def _take(parts: Parts, hold: Hold) -> Grant | Rejection:
    entry = parts.pipeline.catalogue.get(hold.tool)
    now = parts.now_ms()
    ended = resume_refusal(
        hold, now, policy_digest=parts.policy.digest, tool_version="" if entry is None else entry.card.version
    )
    # Where a person's yes is said to wait, what is stored is compared first: "outdated" may be what somebody made it.
    if ended in {None, OUTDATED} and not parts.proved(hold):
        ended = MISMATCH
    if ended is not None:
        return Rejection(fault=ended.fault or DENIED, reason=ended.reason, proposed_tool=hold.tool)
    grant = parts.book().take(hold.live_digest or "", now)
    # Somebody else was faster: a grant is used once.
    return grant or Rejection(fault=DENIED, reason="approval_used", proposed_tool=hold.tool)
