"""The operations of the gate's own routes, independent of the web framework.

A request refused here, for a missing token or an invalid body, is an outcome with a receipt like any other refusal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.context import ANONYMOUS, HttpContext
from tallystick.doors.http.forms import ID, NAME, Form
from tallystick.doors.identity.admission import ROLE_MISSING
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NONCE
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller, Session
from tallystick.turns.turn import Turn

HTTP_SESSION = "http"
"""The default session of HTTP calls."""
PLACES = ("conference_id", "round_id", "task_id", "run_id", "ticket_id")
"""Further ids that a turn may belong to."""
LONG_BODY = 65_536
"""Body size in bytes above which a turn is started in a worker thread."""

CALL = Form(
    properties={
        "tool": {"type": "string", "description": "The tool's id."},
        "args": {"type": "object", "description": "Its arguments."},
        "dry_run": {"type": "boolean", "default": False, "description": "Change nothing, where the tool offers that."},
        "session": {**ID, "description": "The session the receipt belongs to."},
        "agent": {**NAME, "description": "The agent on whose behalf."},
    },
    required=("tool",),
    example={"tool": "word_count", "args": {"path": "Story/one.md"}, "session": "s1"},
)
_TOOL_POLICY: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "allowedTools": {"type": "array", "items": {"type": "string"}, "description": "The only tools of this turn."},
        "requireTool": {"type": "boolean", "default": False, "description": "Step one must be a call, not `final`."},
        "maxSteps": {"type": "integer", "minimum": 0, "description": "Narrows the configured limit, never widens it."},
    },
}
TURN = Form(
    properties={
        "session": {**ID, "description": "The session the receipts belong to."},
        "agent": {**NAME, "description": "The agent whose turn it is."},
        "toolPolicy": _TOOL_POLICY,
        "userTexts": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What the user said. Given, a write whose arguments come from tool results alone is held.",
        },
        **dict.fromkeys(PLACES, NAME),
    },
    example={"session": "s1", "agent": "chief", "toolPolicy": {"allowedTools": ["word_count"]}},
)
SUBMIT = Form(
    properties={"text": {"type": "string", "description": "What the model said, unchanged."}},
    required=("text",),
    example={"text": '{"tool":"word_count","args":{"path":"Story/one.md"},"nonce":"<TOOL_NONCE>"}'},
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """The outcome of a submission, and its turn if the caller has it."""

    outcome: Outcome
    turn: Turn | None = None


async def call(context: HttpContext, body: bytes, caller: Caller | Rejection) -> Outcome:
    """Handle `POST /api/gate/call`."""
    if isinstance(caller, Rejection):
        return await refuse(context, caller, body, ANONYMOUS)
    if not context.may_propose(caller):
        return await refuse(context, ROLE_MISSING, body, caller)
    asked = CALL.read(body, context.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return await refuse(context, asked, body, caller)
    return await context.gate.call(
        asked["tool"],
        asked.get("args", {}),
        session=_place(asked.get("session", HTTP_SESSION), asked.get("agent"), caller),
        dry_run=asked.get("dry_run", False),
    )


async def begin(context: HttpContext, body: bytes, caller: Caller | Rejection) -> Turn | Outcome:
    """Handle `POST /api/gate/turns`."""
    if isinstance(caller, Rejection):
        return await refuse(context, caller, body, ANONYMOUS)
    if not context.may_propose(caller):
        return await refuse(context, ROLE_MISSING, body, caller)
    asked = TURN.read(body, context.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return await refuse(context, asked, body, caller)
    policy: Mapping[str, Any] = asked.get("toolPolicy", {})
    steps = policy.get("maxSteps")
    make = partial(
        context.gate.turn,
        session=Session(
            session_id=asked.get("session", HTTP_SESSION), **{name: asked[name] for name in PLACES if name in asked}
        ),
        agent=asked.get("agent"),
        caller=caller,
        allowed_tools=policy.get("allowedTools"),
        user_texts=asked.get("userTexts"),
        may_finish=not policy.get("requireTool", False),
        # JSON Schema accepts 3.0 as an integer, but the limits are stored in signed headers, which allow no floats.
        limits=None if steps is None else Limits(steps=int(steps)),
    )
    # Long user texts take too long to process on the event loop.
    turn = await run_in_threadpool(make) if len(body) > LONG_BODY else make()
    context.keep(turn)
    return turn


async def submit(context: HttpContext, turn_id: str, body: bytes, caller: Caller | Rejection) -> Submitted:
    """Handle `POST /api/gate/turns/{turn_id}/submit`; another caller's turn is answered like an unknown one."""
    if isinstance(caller, Rejection):
        return Submitted(outcome=await refuse(context, caller, body, ANONYMOUS))
    if not context.may_propose(caller):
        return Submitted(outcome=await refuse(context, ROLE_MISSING, body, caller))
    asked = SUBMIT.read(body, context.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return Submitted(outcome=await refuse(context, asked, body, caller))
    turn = context.turn(turn_id, caller)
    if turn is None:
        unknown = Rejection(fault=NONCE, reason="no open turn of this id")
        return Submitted(outcome=await refuse(context, unknown, asked["text"], caller))
    return Submitted(outcome=await turn.submit(asked["text"], caller=caller), turn=turn)


def after(turn: Turn | None, outcome: Outcome) -> dict[str, Any]:
    """Return the additional fields of a submission's response: stop hook, next nonce and schema."""
    extra: dict[str, Any] = {}
    if outcome.stop_hook is not None:
        extra["stop_hook"] = f"STOP_HOOK: {outcome.stop_hook}"
    if turn is not None and turn.nonce is not None:
        extra |= {"nonce": turn.nonce, "schema": turn.schema}
    return extra


async def refuse(context: HttpContext, rejection: Rejection, text: str | bytes, caller: Caller) -> Outcome:
    """Record a request that was refused at the door."""
    return await context.gate.refuse(rejection, text, session=HTTP_SESSION, caller=caller)


@lru_cache(maxsize=1024)
def _place(session_id: str, agent_id: str | None, caller: Caller) -> Session:
    """Return the session of a caller's calls; cached, since header templates are looked up by object identity."""
    return Session(session_id=session_id, agent_id=agent_id, caller=caller)
