"""What the gate's own routes do, apart from how the request was read.

Bodies are read with the gate's strict parser: a duplicate key is refused on the wire as it is in an envelope.
"""

from collections.abc import Mapping
from typing import Any

from tallystick.doors.http.desk import ANONYMOUS, FrontDesk, Refused
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import FORMAT, NONCE, Category
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller, Session, valid_session_id
from tallystick.turns.turn import Turn

CALL_KEYS = frozenset({"tool", "args", "dry_run", "session", "agent"})
TURN_KEYS = frozenset({"session", "agent", "toolPolicy", "conference_id", "round_id", "task_id", "run_id", "ticket_id"})
POLICY_KEYS = frozenset({"allowedTools", "requireTool", "maxSteps"})
HTTP_SESSION = "http"
"""The session of HTTP calls that name none."""


async def call(desk: FrontDesk, body: bytes, caller: Caller | Rejection) -> Outcome:
    """`POST /api/gate/call`."""
    if isinstance(caller, Rejection):
        return await desk.gate.refuse(caller, body, session=HTTP_SESSION, caller=ANONYMOUS)
    asked = parse_json_object(body, desk.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return await desk.gate.refuse(asked, body, session=HTTP_SESSION, caller=caller)
    wrong = _wrong_call(asked)
    if wrong is not None:
        return await desk.gate.refuse(wrong, body, session=HTTP_SESSION, caller=caller)
    return await desk.gate.call(
        asked["tool"],
        asked.get("args", {}),
        session=Session(session_id=asked.get("session", HTTP_SESSION), agent_id=asked.get("agent")),
        caller=caller,
        dry_run=asked.get("dry_run", False),
    )


def begin(desk: FrontDesk, body: bytes, caller: Caller) -> Turn:
    """`POST /api/gate/turns`."""
    asked = parse_json_object(body, desk.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        raise Refused(400, Category.VALIDATION_ERROR, asked.reason)
    _only(asked, TURN_KEYS)
    policy = asked.get("toolPolicy") or {}
    if not isinstance(policy, dict):
        raise Refused(400, Category.VALIDATION_ERROR, "toolPolicy is an object")
    _only(policy, POLICY_KEYS)
    allowed = policy.get("allowedTools")
    if allowed is not None and not (isinstance(allowed, list) and all(isinstance(name, str) for name in allowed)):
        raise Refused(400, Category.VALIDATION_ERROR, "toolPolicy.allowedTools is a list of tool ids")
    steps = policy.get("maxSteps")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 0):
        raise Refused(400, Category.VALIDATION_ERROR, "toolPolicy.maxSteps is a whole number")
    turn = desk.gate.turn(
        session=_session(asked),
        agent=_text(asked, "agent"),
        caller=caller,
        allowed_tools=allowed,
        may_finish=not policy.get("requireTool", False),
        limits=None if steps is None else Limits(steps=steps),
    )
    desk.keep(turn)
    return turn


async def submit(desk: FrontDesk, turn_id: str, body: bytes, caller: Caller) -> tuple[Outcome, Turn | None]:
    """`POST /api/gate/turns/{turn_id}/submit`; a turn that is not the caller's gives the same answer as none."""
    asked = parse_json_object(body, desk.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        raise Refused(400, Category.VALIDATION_ERROR, asked.reason)
    _only(asked, frozenset({"text"}))
    text = asked.get("text")
    if not isinstance(text, str):
        raise Refused(400, Category.VALIDATION_ERROR, "text is what the model said, as a string")
    turn = desk.turn(turn_id, caller)
    if turn is None:
        unknown = Rejection(fault=NONCE, reason="no open turn of this id")
        return await desk.gate.refuse(unknown, text, session=HTTP_SESSION, caller=caller), None
    return await turn.submit(text), turn


def after(turn: Turn | None, outcome: Outcome) -> dict[str, Any]:
    """What a submission's answer says besides the outcome."""
    extra: dict[str, Any] = {}
    if outcome.stop_hook is not None:
        extra["stop_hook"] = f"STOP_HOOK: {outcome.stop_hook}"
    if turn is not None and turn.nonce is not None:
        extra |= {"nonce": turn.nonce, "schema": turn.schema}
    return extra


def _wrong_call(asked: Mapping[str, Any]) -> Rejection | None:
    if not CALL_KEYS.issuperset(asked):
        return Rejection(fault=FORMAT, reason="unknown field")
    if "tool" not in asked:
        return Rejection(fault=FORMAT, reason="field is missing", pointer="/tool")
    if not isinstance(asked.get("dry_run", False), bool):
        return Rejection(fault=FORMAT, reason="dry_run is true or false", pointer="/dry_run")
    session = asked.get("session", HTTP_SESSION)
    if not isinstance(session, str) or not valid_session_id(session):
        return Rejection(fault=FORMAT, reason="session id is not of the allowed form", pointer="/session")
    if not isinstance(asked.get("agent", ""), str):
        return Rejection(fault=FORMAT, reason="agent is a string", pointer="/agent")
    return None


def _only(given: Mapping[str, Any], known: frozenset[str]) -> None:
    if not known.issuperset(given):
        raise Refused(400, Category.VALIDATION_ERROR, "unknown field", hint=f"Known: {', '.join(sorted(known))}.")


def _session(asked: Mapping[str, Any]) -> Session:
    session = asked.get("session", HTTP_SESSION)
    if not isinstance(session, str) or not valid_session_id(session):
        raise Refused(400, Category.VALIDATION_ERROR, "session id is not of the allowed form")
    return Session(
        session_id=session,
        conference_id=_text(asked, "conference_id"),
        round_id=_text(asked, "round_id"),
        task_id=_text(asked, "task_id"),
        run_id=_text(asked, "run_id"),
        ticket_id=_text(asked, "ticket_id"),
    )


def _text(asked: Mapping[str, Any], name: str) -> str | None:
    value = asked.get(name)
    if value is not None and not isinstance(value, str):
        raise Refused(400, Category.VALIDATION_ERROR, f"{name} is a string")
    return value
