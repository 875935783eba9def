"""`POST /api/evidence/check`: any text, from any system, against this workspace's files and receipts."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.desk import FrontDesk, Refused
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import Category
from tallystick.gate.session import valid_session_id

_TEXTS = ("reply", "session", "agent", "form")
_KNOWN = frozenset({*_TEXTS, "conference", "tools_ran"})
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["reply"],
    "properties": {
        "reply": {"type": "string"},
        "session": {"type": "string"},
        "agent": {"type": "string", "description": "The agent's id or role; decides where it must look."},
        "form": {"enum": ["line", "per-sentence"]},
        "conference": {"type": "boolean"},
        "tools_ran": {"type": "boolean"},
    },
    "example": {
        "reply": 'She never sails.\nEvidence: "she had never once set foot on a boat" Story/Scenes/SCN-01.md:L12',
        "session": "s1",
        "agent": "critic",
    },
}


def evidence_routes(desk: FrontDesk) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/api/evidence", tags=["evidence"])

    @router.post(
        "/check",
        summary="Check what a reply claims",
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}},
    )
    async def check(request: Request) -> Response:
        desk.require(request)
        asked = _read(await request.body(), desk.gate.settings.server.max_body_bytes)
        more = {name: asked[name] for name in ("form", "conference", "tools_ran") if name in asked}
        findings = await run_in_threadpool(
            desk.gate.check_reply,
            asked["reply"],
            session=asked.get("session", "http"),
            agent=asked.get("agent"),
            **more,
        )
        return json_answer(findings.as_dict())

    return router


def _read(body: bytes, limit: int) -> dict[str, Any]:
    asked = parse_json_object(body, limit)
    if isinstance(asked, Rejection):
        raise Refused(400, Category.VALIDATION_ERROR, asked.reason)
    if not _KNOWN.issuperset(asked) or "reply" not in asked:
        raise Refused(400, Category.VALIDATION_ERROR, "unknown field, or no reply", hint="See /api/docs.")
    wrong = [name for name in _TEXTS if name in asked and not isinstance(asked[name], str)]
    wrong += [name for name in ("conference", "tools_ran") if name in asked and not isinstance(asked[name], bool)]
    if wrong or asked.get("form", "line") not in {"line", "per-sentence"}:
        raise Refused(400, Category.VALIDATION_ERROR, f"wrong type: {', '.join(wrong) or 'form'}")
    if not valid_session_id(asked.get("session", "http")):
        raise Refused(400, Category.VALIDATION_ERROR, "session id is not of the allowed form")
    return asked
