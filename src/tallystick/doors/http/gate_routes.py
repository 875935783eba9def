"""`/api/gate/…`: the gate for agent loops in other programs."""

from typing import Any

from fastapi import APIRouter, Request, Response

from tallystick.doors.http import gate_calls
from tallystick.doors.http.answers import json_answer, listing, outcome_answer
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.paging import documented, page
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card

_SHOWN = (
    "name", "description", "effect", "roles", "audited", "idempotent", "dry_run", "input_schema", "output_schema",
)  # fmt: skip


def gate_routes(desk: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/gate", tags=["gate"])

    @router.post("/call", openapi_extra=gate_calls.CALL.documented, responses=_OUTCOMES, summary="Propose one call")
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def call(request: Request) -> Response:
        return outcome_answer(await gate_calls.call(desk, await request.body(), desk.caller(request.scope)))

    @router.post(
        "/turns", openapi_extra=gate_calls.TURN.documented, responses=_BEGUN, status_code=201,
        summary="Begin an agent turn",
    )  # fmt: skip
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def begin(request: Request) -> Response:
        turn = await gate_calls.begin(desk, await request.body(), desk.caller(request.scope))
        if isinstance(turn, Outcome):
            return outcome_answer(turn)
        return json_answer({"turn_id": turn.turn_id, "nonce": turn.nonce, "schema": turn.schema}, 201)

    @router.post(
        "/turns/{turn_id}/submit", openapi_extra=gate_calls.SUBMIT.documented, responses=_OUTCOMES,
        summary="Submit the model's text",
    )  # fmt: skip
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def submit(turn_id: str, request: Request) -> Response:
        done = await gate_calls.submit(desk, turn_id, await request.body(), desk.caller(request.scope))
        return outcome_answer(done.outcome, gate_calls.after(done.turn, done.outcome))

    @router.get("/tools", openapi_extra=documented(), summary="The tools there are")
    @open_to(EVERY_ROLE, proposers=True)
    async def tools(request: Request) -> Response:
        limit, offset = page(request)
        cards = desk.gate.tools()
        shown = [_card(card) for card in cards[offset : offset + limit]]
        return listing(shown, total=len(cards), limit=limit, offset=offset)

    return router


def _card(card: Card) -> dict[str, Any]:
    definition = card.definition()
    return {key: definition[key] for key in _SHOWN} | {"version": card.version}


_BEGUN: dict[int | str, dict[str, Any]] = {
    201: {"description": "`turn_id`, the first `nonce`, and the `schema` of the model's next answer."},
    400: {"description": "Rejected: `rejection` says why."},
    401: {"description": "No valid token."},
}
_OUTCOMES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The tool ran: `result`, with the receipt's id; in a turn also the next `nonce`."},
    202: {"description": "Held for a person: `held` names the approval."},
    400: {"description": "Rejected: `rejection` says why; nothing ran."},
    401: {"description": "No valid token."},
    403: {"description": "The role is missing."},
    404: {"description": "The tool said that something is not there."},
    409: {"description": "The room's snapshot is stale, or the tool said so."},
    422: {"description": "An optional part of the tool is missing."},
    429: {"description": "A budget or rate is spent."},
    502: {"description": "The tool failed, or its result broke its schema."},
    503: {"description": "The ledger cannot write: nothing ran."},
    504: {"description": "The tool took too long."},
}
