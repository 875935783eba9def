"""`/api/gate/…`: the gate for other programs' loops."""

from typing import Any

from fastapi import APIRouter, Request, Response

from tallystick.doors.http import gate_calls
from tallystick.doors.http.answers import json_answer, listing, outcome_answer
from tallystick.doors.http.desk import FrontDesk, page
from tallystick.gate.tool import Card

_CALL = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tool"],
    "properties": {
        "tool": {"type": "string", "description": "The tool's id."},
        "args": {"type": "object", "description": "Its arguments."},
        "dry_run": {"type": "boolean", "default": False},
        "session": {"type": "string", "description": "The session the receipt belongs to."},
        "agent": {"type": "string"},
    },
    "example": {"tool": "word_count", "args": {"path": "Story/one.md"}, "session": "s1"},
}
_TURN = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "session": {"type": "string"},
        "agent": {"type": "string"},
        "toolPolicy": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "allowedTools": {"type": "array", "items": {"type": "string"}},
                "requireTool": {"type": "boolean"},
                "maxSteps": {"type": "integer", "minimum": 0},
            },
        },
        **{name: {"type": "string"} for name in ("conference_id", "round_id", "task_id", "run_id", "ticket_id")},
    },
    "example": {"session": "s1", "agent": "chief", "toolPolicy": {"allowedTools": ["word_count"]}},
}
_SUBMIT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "description": "What the model said, unchanged."}},
    "example": {"text": '{"tool":"word_count","args":{"path":"Story/one.md"},"nonce":"<TOOL_NONCE>"}'},
}


def gate_routes(desk: FrontDesk) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/gate", tags=["gate"])

    @router.post("/call", openapi_extra=_body(_CALL), responses=_STATUSES, summary="Propose one call")
    async def call(request: Request) -> Response:
        body = await request.body()
        return outcome_answer(await gate_calls.call(desk, body, desk.caller(request.scope)))

    @router.post("/turns", openapi_extra=_body(_TURN), status_code=201, summary="Begin an agent turn")
    async def begin(request: Request) -> Response:
        turn = gate_calls.begin(desk, await request.body(), desk.require(request))
        return json_answer({"turn_id": turn.turn_id, "nonce": turn.nonce, "schema": turn.schema}, 201)

    @router.post(
        "/turns/{turn_id}/submit", openapi_extra=_body(_SUBMIT), responses=_STATUSES, summary="Submit the model's text"
    )
    async def submit(turn_id: str, request: Request) -> Response:
        outcome, turn = await gate_calls.submit(desk, turn_id, await request.body(), desk.require(request))
        return outcome_answer(outcome, gate_calls.after(turn, outcome))

    @router.get("/tools", summary="The tools there are")
    async def tools(request: Request) -> Response:
        desk.require(request)
        limit, offset = page(request)
        cards = desk.gate.tools()
        return listing(
            [_card(card) for card in cards[offset : offset + limit]], total=len(cards), limit=limit, offset=offset
        )

    return router


def _card(card: Card) -> dict[str, Any]:
    keys = (
        "name",
        "description",
        "effect",
        "roles",
        "audited",
        "idempotent",
        "dry_run",
        "input_schema",
        "output_schema",
    )
    definition = card.definition()
    return {key: definition[key] for key in keys} | {"version": card.version}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


_STATUSES: dict[int | str, dict[str, Any]] = {
    202: {"description": "Held for a person: `held` names the approval."},
    400: {"description": "Rejected: `rejection` says why; nothing ran."},
    401: {"description": "No valid token."},
    403: {"description": "The role is missing."},
    409: {"description": "The room's snapshot is stale, or the tool said so."},
    422: {"description": "An optional part of the tool is missing."},
    429: {"description": "A budget or rate is spent."},
    502: {"description": "The tool failed, or its result broke its schema."},
    503: {"description": "The ledger cannot write: nothing ran."},
    504: {"description": "The tool took too long."},
}
