"""Run an approved held call: once, as a new submission that is checked again from the start."""

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
"""The session that records attempts to resume an unknown approval."""


async def resume(parts: Parts, turns: Mapping[str, Turn], approval_id: str, caller: Caller | None) -> Outcome:
    """Consume the grant and run the call; if the turn that held it is still open, it gets a new nonce."""
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
    # Verify the stored row against the ledger before trusting it: tampering could also make it look outdated.
    if ended in {None, OUTDATED} and not parts.proved(hold):
        ended = MISMATCH
    if ended is not None:
        return Rejection(fault=ended.fault or DENIED, reason=ended.reason, proposed_tool=hold.tool)
    grant = parts.book().take(hold.live_digest or "", now)
    # A grant is used once; a concurrent resume may have consumed it.
    return grant or Rejection(fault=DENIED, reason="approval_used", proposed_tool=hold.tool)
