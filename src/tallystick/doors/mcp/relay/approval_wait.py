"""Held calls of the relay: ask the client where it can be asked, and wait for the approval."""

import asyncio
import json
from typing import Any

from tallystick.app.gate import Gate
from tallystick.doors.mcp import answers, held_calls
from tallystick.doors.mcp.answers import sessionless_revision
from tallystick.doors.mcp.jsonrpc import Message, written
from tallystick.doors.mcp.relay.messages import RelayedCall, Wires
from tallystick.doors.mcp.relay.tools import CALLER
from tallystick.doors.presentation.refusals import approve_command
from tallystick.gate.decide.approvals import Hold, State
from tallystick.gate.execute.outcome import Held, Outcome
from tallystick.gate.session import Session

LOOK_S = 0.2
"""Seconds between two reads of the approval store: quick for a person, light on the disk."""
ELICITATION = "elicitation"
SHOWN = 2_000
"""Maximum characters of the arguments shown in the client."""


class ApprovalWait:
    """Waits for approvals of held calls."""

    def __init__(self, gate: Gate, wires: Wires, hold_s: float) -> None:
        self._gate = gate
        self._wires = wires
        self._hold_s = hold_s

    async def until_answered(
        self, asked: RelayedCall, outcome: Outcome, tool: Any, args: Any, session: Session
    ) -> Outcome:
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

    def asks_in_result(self, asked: RelayedCall) -> bool:
        """Return whether the client takes a form as the result of a call: it declares forms, and has no session."""
        return sessionless_revision(asked.message) is not None and held_calls.asks_forms(answers.meta_of(asked.message))

    async def ask(self, asked: RelayedCall, held: Held) -> bytes:
        """Return the response that asks the client's user about a held call."""
        states = await asyncio.to_thread(held_calls.RequestStates, self._gate.workspace)
        state = states.seal(held, _call(asked), held_calls.carried_in(asked.params))
        hold = await asyncio.to_thread(self._gate.approvals.get, held.approval_id)
        if hold is not None and self._gate.settings.approvals.elicitation:
            form = _question(hold)
        else:
            command = approve_command(held.approval_id, self._gate.workspace)
            form = held_calls.waiting_form(str(asked.params.get("name")), command)
        result = held_calls.input_required(form, state)
        return written({"jsonrpc": "2.0", "id": asked.message["id"], "result": result})

    async def continued(self, asked: RelayedCall) -> Outcome | None:
        """Continue a held call that the client makes again; None if its request state is not of this call."""
        state = held_calls.own_state(asked.params) or ""
        states = await asyncio.to_thread(held_calls.RequestStates, self._gate.workspace)
        held = states.read(state, _call(asked))
        if held is None:
            return None
        answer = held_calls.answer_in(asked.params)
        asked.message = {**asked.message, "params": held_calls.without_state(asked.params, held.carried)}
        asked.line = written(asked.message)
        if self._gate.settings.approvals.elicitation:
            await self._take(held.approval_id, answer)
        if answer.get("action") == "accept":
            asked.waiting = True
            try:
                await self._answered(held.approval_id)
            finally:
                asked.waiting = False
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
        await self._take(approval_id, result if isinstance(result, dict) else {})

    async def _take(self, approval_id: str, said: Message) -> None:
        """Apply the user's answer to a form; only called where the policy accepts elicitation."""
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


def _call(asked: RelayedCall) -> held_calls.Call:
    return CALLER.subject, asked.params.get("name"), asked.params.get("arguments")
