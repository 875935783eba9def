"""`/api/approvals…`: held calls. Reading requires a role, answering requires a person."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.answers import json_answer, listing, outcome_answer
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import NOTHING, Form
from tallystick.doors.http.gate_calls import after
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.doors.presentation.requests import shown_request
from tallystick.doors.presentation.visible import visible_json
from tallystick.gate.codes import BAD_ARGS, Category
from tallystick.gate.decide.approvals import Hold, State, Unmoved
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE, OWNER_ROLE
from tallystick.gate.session import Caller

CHANNEL = "token"
"""How the person is authenticated: with the start-up token."""

REJECT = Form(
    # The reason is stored in the receipt's header, so it must be short.
    properties={"reason": {"type": "string", "maxLength": 1000, "pattern": r"\S", "description": "Why not."}},
    required=("reason",),
    example={"reason": "wrong address"},
)
EDIT = Form(
    properties={"args": {"type": "object", "description": "All arguments of the call to allow instead."}},
    required=("args",),
    example={"args": {"to": "team@example.org", "body": "shorter"}},
)
REVEAL = Form(
    properties={
        "field": {"type": "string", "maxLength": 4096, "description": "A pointer out of the request's `masked`."}
    },
    required=("field",),
    example={"field": "/body"},
)
_STATUS = {
    "not_found": 404,
    "not_waiting": 409,
    "expired": 409,
    "same_call_waits": 409,
    "record_mismatch": 409,
    "bad_arguments": 400,
    "not_masked": 400,
}


def approval_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/approvals", tags=["approvals"])
    _look(router, context)
    _answer_yes_or_no(router, context)
    _answer_otherwise(router, context)
    _reveal(router, context)
    return router


def _look(router: APIRouter, context: HttpContext) -> None:
    approvals = context.gate.approvals

    @router.get("", openapi_extra=documented(state=f"One of {', '.join(State)}."), summary="Held calls, newest first")
    @open_to(AUDIT_ROLES)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        state = request.query_params.get("state")
        if state is not None and state not in set(State):
            raise RequestRefused(400, Category.VALIDATION_ERROR, f"state is one of {', '.join(State)}")
        found = await run_in_threadpool(approvals.list, state=state, limit=limit, offset=offset)
        total = await run_in_threadpool(approvals.count, state=state)
        return listing([hold.as_dict() for hold in found], total=total, limit=limit, offset=offset)

    @router.get("/{approval_id}", summary="One held call")
    @open_to(AUDIT_ROLES)
    async def one(approval_id: str) -> Response:
        found = await run_in_threadpool(approvals.get, approval_id)
        return _standing(Unmoved(why="not_found") if found is None else found)


def _answer_yes_or_no(router: APIRouter, context: HttpContext) -> None:
    approvals = context.gate.approvals

    @router.post(
        "/{approval_id}/approve",
        openapi_extra=NOTHING.documented,
        summary="Say yes to exactly this call (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def approve(approval_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally approvals").subject
        NOTHING.demand(await request.body())
        return _standing(await run_in_threadpool(approvals.approve, approval_id, person=person, channel=CHANNEL))

    @router.post("/{approval_id}/reject", openapi_extra=REJECT.documented, summary="Say no, and why (start-up token)")
    @open_to(EVERY_ROLE)
    async def reject(approval_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally approvals").subject
        reason = REJECT.demand(await request.body())["reason"]
        return _standing(
            await run_in_threadpool(approvals.reject, approval_id, person=person, channel=CHANNEL, reason=reason)
        )


def _answer_otherwise(router: APIRouter, context: HttpContext) -> None:
    approvals = context.gate.approvals

    @router.post(
        "/{approval_id}/edit", openapi_extra=EDIT.documented, summary="Say yes to other arguments (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def edit(approval_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally approvals").subject
        args = EDIT.demand(await request.body())["args"]
        return _standing(await run_in_threadpool(approvals.edit, approval_id, args, person=person, channel=CHANNEL))

    @router.post(
        "/{approval_id}/resume",
        openapi_extra=NOTHING.documented,
        summary="Run a call that was let through, once; the turn it was held in goes on",
    )
    @open_to(EVERY_ROLE, proposers=True)
    async def resume(approval_id: str, request: Request) -> Response:
        caller = context.require(request)
        NOTHING.demand(await request.body())
        hold = await run_in_threadpool(approvals.get, approval_id)
        if hold is None or not _may_resume(hold, caller):
            return _standing(Unmoved(why="not_found"))
        # Use the caller's current roles, not those at the time the call was held.
        mine = caller if caller.subject == hold.caller else None
        outcome = await context.gate.resume(approval_id, caller=mine)
        turn = context.turn(hold.session.turn_id or "", caller)
        return outcome_answer(outcome, None if turn is None else after(turn, outcome))


def _reveal(router: APIRouter, context: HttpContext) -> None:
    @router.post(
        "/{approval_id}/reveal",
        openapi_extra=REVEAL.documented,
        summary="Show a masked argument to a person, which is recorded (start-up token)",
    )
    @open_to(AUDIT_ROLES)
    async def reveal(approval_id: str, request: Request) -> Response:
        person = context.require_person(request, "tally approvals").subject
        field = REVEAL.demand(await request.body())["field"]
        shown = await run_in_threadpool(
            context.gate.approvals.reveal, approval_id, field, person=person, channel=CHANNEL
        )
        if isinstance(shown, Unmoved):
            return _standing(shown)
        answer = json_answer(
            {"approval_id": approval_id, "field": field, "value": shown.value, "value_text": visible_json(shown.value)}
        )
        answer.headers["cache-control"] = "no-store"
        return answer


def _may_resume(hold: Hold, caller: Caller) -> bool:
    """Return whether the caller made the held call or is the local owner."""
    return hold.caller == caller.subject or OWNER_ROLE in caller.roles


def _standing(result: Hold | Unmoved) -> Response:
    if isinstance(result, Hold):
        return json_answer(shown_request(result))
    status = _STATUS[result.why]
    category = Category.VALIDATION_ERROR if status == BAD_ARGS.http else Category.DOWNSTREAM_ERROR
    raise RequestRefused(status, category, result.why)
