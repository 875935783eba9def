"""Wait for the approval of a call: from another terminal, on the web page, or in the client itself."""

import asyncio
import json
from typing import Any

from tallystick.app.gate import Gate
from tallystick.doors.mcp.answers import sessionless_revision
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.relay.messages import Asked, Wires
from tallystick.gate.decide.approvals import Hold, State
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session

LOOK_S = 0.2
"""Seconds between two reads of the approval store: quick for a person, light on the disk."""
ELICITATION = "elicitation"
SHOWN = 2_000
"""Maximum characters of the arguments shown in the client."""


class Waiting:
    """Waits for approvals of held calls."""

    def __init__(self, gate: Gate, wires: Wires, hold_s: float) -> None:
        self._gate = gate
        self._wires = wires
        self._hold_s = hold_s

    async def until_answered(self, asked: Asked, outcome: Outcome, tool: Any, args: Any, session: Session) -> Outcome:
        """Wait for the approval and continue accordingly; the outcome stays held if no one answers in time."""
        held = outcome.held
        if held is None or self._hold_s <= 0:
            return outcome
        asked.waiting = True
        asking: asyncio.Task[None] | None = None
        in_session = sessionless_revision(asked.message) is None
        # Revisions without a session do not let a server send requests to its client.
        if self._gate.settings.approvals.elicitation and self._wires.client_elicits and in_session:
            asking = asyncio.ensure_future(self._elicit(held.approval_id))
        try:
            hold = await self._answered(held.approval_id)
        finally:
            asked.waiting = False
            if asking is not None:
                asking.cancel()
        if hold is None:
            return outcome
        if hold.state is State.GRANTED:
            # Repeat the same call: it finds the approval and uses it.
            return await self._gate.call(tool, args, session=session)
        return await self._gate.resume(held.approval_id)

    async def _answered(self, approval_id: str) -> Hold | None:
        """Return the approval request once a person has answered it; None if no one does in time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._hold_s
        while loop.time() < end:
            hold = await asyncio.to_thread(self._gate.approvals.get, approval_id)
            if hold is None or hold.state is not State.HELD:
                return hold
            await asyncio.sleep(LOOK_S)
        return None

    async def _elicit(self, approval_id: str) -> None:
        """Ask the user in the client; only called where the policy accepts elicitation."""
        hold = await asyncio.to_thread(self._gate.approvals.get, approval_id)
        if hold is None:
            return
        answer = await self._wires.ask_client("elicitation/create", _question(hold))
        result = answer.get("result")
        said = result if isinstance(result, dict) else {}
        content = said.get("content")
        who = f"user of {self._wires.client_name or 'the client'}"[:100]
        if said.get("action") == "accept" and isinstance(content, dict) and content.get("allow") is True:
            await asyncio.to_thread(self._gate.approvals.approve, approval_id, person=who, channel=ELICITATION)
        elif said.get("action") in {"accept", "decline"}:
            await asyncio.to_thread(
                self._gate.approvals.reject,
                approval_id,
                person=who,
                channel=ELICITATION,
                reason="declined in the client",
            )


def _question(hold: Hold) -> Message:
    shown = json.dumps(hold.as_dict()["args"], ensure_ascii=True, indent=1)
    cut = "" if len(shown) <= SHOWN else f"\n… ({len(shown)} characters in all; `tally approvals show` has them)"
    allow = {"type": "boolean", "title": "Allow this call", "description": "Once, with exactly these arguments"}
    return {
        "message": f"Tallystick: '{hold.tool}' asks to run with\n{shown[:SHOWN]}{cut}\nLet exactly this call through?",
        "requestedSchema": {"type": "object", "properties": {"allow": allow}, "required": ["allow"]},
    }
