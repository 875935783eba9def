"""`/api/telemetry…`: activations, tokens, cost and refusals by bucket: total, per session, agent and conference."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.counts import Count
from tallystick.app.agents import counted_of, counter_of
from tallystick.doors.http.ai_routes import answer
from tallystick.doors.http.answers import json_answer, listing
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import ID, NAME, Form
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.gate.codes import FAULTS, Bucket, Category
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Session

BUCKETS: dict[str, str] = {str(bucket): str(bucket) for bucket in Bucket} | {
    # Several faults may share a code; the first row in the table determines the code's bucket.
    str(fault.call_code): str(fault.bucket)
    for fault in reversed(FAULTS.values())
    if fault.call_code is not None and fault.bucket is not None
}
"""Bucket or call code that a client may report → bucket in which it is counted."""
MOST = 1_000_000_000
_NUMBER: Mapping[str, Any] = {"type": "integer", "minimum": 0, "maximum": MOST}
REPORT = Form(
    properties={
        "conferenceId": {**NAME, "description": "Your conference."},
        "sessionId": {**ID, "description": "Its session; the conference's id if not given."},
        "agentId": {**NAME, "description": "The agent."},
        "reason": {
            "type": "string",
            "enum": sorted(BUCKETS),
            "description": "One refusal that the client saw: a bucket, or the code of a refused call.",
        },
        "activations": {**_NUMBER, "description": "How often the agent was set to work."},
        "tokensIn": _NUMBER,
        "tokensOut": _NUMBER,
    },
    required=("conferenceId",),
    example={"conferenceId": "conf_1", "agentId": "critic", "reason": "quote_not_found"},
)


def telemetry_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/telemetry", tags=["telemetry"])
    _totals(router, context)
    _sessions(router, context)
    _conferences(router, context)
    return router


def _totals(router: APIRouter, context: HttpContext) -> None:
    @router.get("", summary="The totals of the workspace")
    @open_to(EVERY_ROLE)
    async def totals() -> Response:
        return json_answer(await run_in_threadpool(counted_of(context.gate).totals))

    @router.get("/agents", openapi_extra=documented(), summary="The counts of each agent")
    @open_to(EVERY_ROLE)
    async def agents(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(counted_of(context.gate).agents)
        return listing(found[offset : offset + limit], total=len(found), limit=limit, offset=offset)


def _sessions(router: APIRouter, context: HttpContext) -> None:
    @router.get("/sessions", openapi_extra=documented(), summary="The counts of each session, the latest first")
    @open_to(AUDIT_ROLES)
    async def sessions(request: Request) -> Response:
        limit, offset = page(request)
        found, total = await run_in_threadpool(counted_of(context.gate).sessions, limit=limit, offset=offset)
        return listing(found, total=total, limit=limit, offset=offset)

    @router.get("/sessions/{session_id}", summary="The counts of one session, by agent and conference")
    @open_to(AUDIT_ROLES)
    async def session(session_id: str) -> Response:
        found = await run_in_threadpool(counted_of(context.gate).session, session_id)
        return json_answer(_known(found))


def _conferences(router: APIRouter, context: HttpContext) -> None:
    counter = counter_of(context.gate)

    @router.get("/conferences", openapi_extra=documented(), summary="The counts of each conference")
    @open_to(EVERY_ROLE)
    async def conferences(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(counted_of(context.gate).conferences)
        return listing(found[offset : offset + limit], total=len(found), limit=limit, offset=offset)

    @router.get("/conferences/{conference_id}", summary="The counts of one conference, by agent")
    @open_to(EVERY_ROLE)
    async def conference(conference_id: str) -> Response:
        return json_answer(_known(await run_in_threadpool(counted_of(context.gate).conference, conference_id)))

    @router.post("/conference", openapi_extra=REPORT.documented, summary="Report what a client counted")
    @open_to(WORK_ROLES)
    async def report(request: Request) -> Response:
        caller = context.require(request)
        asked = REPORT.demand(await request.body())
        session_id = asked.get("sessionId") or asked["conferenceId"]
        where = Session(
            session_id=session_id, caller=caller, agent_id=asked.get("agentId"), conference_id=asked["conferenceId"]
        )
        tokens_in, tokens_out = asked.get("tokensIn", 0), asked.get("tokensOut", 0)
        count = Count(
            activations=asked.get("activations", 0),
            tokens=tokens_in + tokens_out,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
        bucket = None if "reason" not in asked else BUCKETS[asked["reason"]]
        fault = await run_in_threadpool(counter.report, where, count, bucket)
        if fault is not None:
            return answer(fault)
        return json_answer({"counted": True, "bucket": bucket})


def _known(found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "nothing was counted there", hint="See the list above it.")
    return found
