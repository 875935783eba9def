"""`/api/approvals…`: held calls. Looking needs a role, answering needs a person."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.answers import json_answer, listing, outcome_answer
from tallystick.doors.http.desk import AUDIT_ROLES, FrontDesk, Refused, page
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import Category
from tallystick.gate.decide.approvals import Hold, State, Unmoved

_STATUS = {"not_found": 404, "not_waiting": 409, "expired": 409, "same_call_waits": 409, "bad_arguments": 400}
CHANNEL = "token"
"""How the person reached us: with the start-up token."""


def approval_routes(desk: FrontDesk) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/approvals", tags=["approvals"])
    approvals = desk.gate.approvals

    @router.get("", summary="Held calls, newest first")
    async def every(request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        limit, offset = page(request)
        state = request.query_params.get("state")
        if state is not None and state not in set(State):
            raise Refused(400, Category.VALIDATION_ERROR, f"state is one of {', '.join(State)}")
        found = await run_in_threadpool(approvals.list, state=state, limit=limit, offset=offset)
        total = await run_in_threadpool(approvals.count, state=state)
        return listing([hold.as_dict() for hold in found], total=total, limit=limit, offset=offset)

    @router.get("/{approval_id}", summary="One held call")
    async def one(approval_id: str, request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        found = await run_in_threadpool(approvals.get, approval_id)
        return _answer(Unmoved(why="not_found") if found is None else found)

    @router.post("/{approval_id}/approve", summary="Say yes to exactly this call (start-up token)")
    async def approve(approval_id: str, request: Request) -> Response:
        person = desk.require_person(request).subject
        return _answer(await run_in_threadpool(approvals.approve, approval_id, person=person, channel=CHANNEL))

    @router.post("/{approval_id}/reject", summary="Say no, and why (start-up token)")
    async def reject(approval_id: str, request: Request) -> Response:
        person = desk.require_person(request).subject
        reason = _read(await request.body()).get("reason")
        if not isinstance(reason, str) or not reason.strip():
            raise Refused(400, Category.VALIDATION_ERROR, "reason is missing: say why")
        return _answer(
            await run_in_threadpool(approvals.reject, approval_id, person=person, channel=CHANNEL, reason=reason)
        )

    @router.post("/{approval_id}/edit", summary="Say yes to other arguments (start-up token)")
    async def edit(approval_id: str, request: Request) -> Response:
        person = desk.require_person(request).subject
        args = _read(await request.body()).get("args")
        if not isinstance(args, dict):
            raise Refused(400, Category.VALIDATION_ERROR, "args is an object: the arguments to allow instead")
        return _answer(await run_in_threadpool(approvals.edit, approval_id, args, person=person, channel=CHANNEL))

    @router.post("/{approval_id}/resume", summary="Run a call that was let through, once")
    async def resume(approval_id: str, request: Request) -> Response:
        caller = desk.require(request)
        hold = await run_in_threadpool(approvals.get, approval_id)
        if hold is None or not _may_resume(hold, caller.subject, caller.roles):
            return _answer(Unmoved(why="not_found"))
        mine = caller if caller.subject == hold.caller else None
        return outcome_answer(await desk.gate.resume(approval_id, caller=mine))

    return router


def _may_resume(hold: Hold, subject: str, roles: frozenset[str]) -> bool:
    """The caller whose call it is, or the owner of the machine."""
    return hold.caller == subject or "owner" in roles


def _answer(result: Hold | Unmoved) -> Response:
    if isinstance(result, Hold):
        return json_answer(result.as_dict())
    status = _STATUS[result.why]
    raise Refused(status, Category.DOWNSTREAM_ERROR if status != 400 else Category.VALIDATION_ERROR, result.why)  # noqa: PLR2004


def _read(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    asked = parse_json_object(body, 65_536)
    if isinstance(asked, Rejection):
        raise Refused(400, Category.VALIDATION_ERROR, asked.reason)
    return asked
