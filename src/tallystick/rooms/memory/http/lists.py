"""`POST /api/memory/proposals/many`: several proposals in one request, each decided and recorded as one of its own."""

from typing import Any

from fastapi import APIRouter, Request, Response

from tallystick.doors.http.kit import HTTP_SESSION, ID, NAME, Form, HttpContext, json_answer, open_to
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import WORK_ROLES
from tallystick.gate.session import Session
from tallystick.rooms.memory.flows.propose_all import Proposed, propose_all
from tallystick.rooms.memory.fold import HANDLERS
from tallystick.rooms.memory.http.proposals import NOT_A_PROPOSAL, PROPOSAL, memory_of

MOST = 1_000
"""Proposals in one request."""
_EACH = ("tool_name", "payload")
PROPOSALS = Form(
    properties={
        "proposals": {
            "type": "array", "minItems": 1, "maxItems": MOST,
            "items": {
                "type": "object", "required": list(_EACH), "additionalProperties": False,
                "properties": {name: dict(PROPOSAL.properties[name]) for name in _EACH},
            },
            "description": "In order. Those of one kind that follow each other do not see each other; any other sees "
            "all before it.",
        },
        "session": {**ID, "description": "The session the receipts belong to."},
        "agent": {**NAME, "description": "The agent whose word they are; they are then believed only so far."},
    },
    required=("proposals",),
    example={"proposals": [PROPOSAL.example]},
)  # fmt: skip


def memory_list_routes(desk: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/api/memory", tags=["memory"])

    @router.post(
        "/proposals/many", openapi_extra=PROPOSALS.documented, responses=_ANSWERS, summary="Propose several things"
    )
    @open_to(WORK_ROLES)
    async def propose_many(request: Request) -> Response:
        caller = desk.require(request)
        memory_of(desk)
        asked = PROPOSALS.demand(await request.body())
        where = Session(session_id=asked.get("session", HTTP_SESSION), agent_id=asked.get("agent"), caller=caller)

        async def call_many(some: list[Proposed]) -> list[Outcome]:
            if some[0][0] in HANDLERS:
                return await desk.gate.call_many(some, session=where)
            return [await desk.gate.refuse(NOT_A_PROPOSAL, "", session=where) for _ in some]

        proposals = ((one["tool_name"], one["payload"]) for one in asked["proposals"])
        return json_answer({"outcomes": [outcome.as_dict() async for outcome in propose_all(call_many, proposals)]})

    return router


_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "`outcomes`: what came of each, in order, as `POST /api/memory/proposals` answers it."},
    400: {"description": "It is no such list; nothing was proposed."},
    401: {"description": "No valid token."},
}
