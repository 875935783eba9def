"""`POST /api/evidence/check`: check text from any system against this workspace's files and receipts."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import ID, NAME, Form
from tallystick.doors.http.gate_calls import HTTP_SESSION
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.session import Session

CHECK = Form(
    properties={
        "reply": {"type": "string", "description": "The whole reply, with its Evidence line."},
        "session": {**ID, "description": "The session it was given in: receipts of others prove nothing."},
        "agent": {**NAME, "description": "The agent's id or role; decides where it must look."},
        "form": {"enum": ["line", "per-sentence"], "description": "Where the references stand."},
        "conference": {"type": "boolean", "description": "`ABSTAIN` is an answer, and receipts are the round's."},
        "conference_id": NAME,
        "round_id": NAME,
        "tools_ran": {"type": "boolean", "description": "The reply must then cite a receipt."},
    },
    required=("reply",),
    example={
        "reply": 'She never sails.\nEvidence: "she had never once set foot on a boat" Story/Scenes/SCN-01.md:L12',
        "session": "s1",
        "agent": "critic",
    },
)


def evidence_routes(desk: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/api/evidence", tags=["evidence"])

    @router.post("/check", openapi_extra=CHECK.documented, summary="Check what a reply claims")
    @open_to(EVERY_ROLE, proposers=True)
    async def check(request: Request) -> Response:
        caller = desk.require(request)
        asked = CHECK.demand(await request.body())
        session = Session(
            session_id=asked.pop("session", HTTP_SESSION), caller=caller,
            conference_id=asked.pop("conference_id", None), round_id=asked.pop("round_id", None),
        )  # fmt: skip
        findings = await run_in_threadpool(
            desk.gate.check_reply, asked.pop("reply"), session=session, agent=asked.pop("agent", None), **asked
        )
        return json_answer(findings.as_dict())

    return router
