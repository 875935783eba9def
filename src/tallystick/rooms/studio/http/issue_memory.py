"""`/api/issues/…/memory`: how much an agent cares about an issue, what it keeps of it, and when it comes back to it."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.answers import Unanswered
from tallystick.agents.wire import AGENT_ID
from tallystick.doors.http.kit import (
    Form,
    HttpContext,
    RequestRefused,
    answer,
    documented,
    granted,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.http.issues import STATUS, require_agent
from tallystick.rooms.studio.issues.memory import FORGOTTEN, MAX_REASON, MAX_WAKE
from tallystick.rooms.studio.issues.memory_file import View
from tallystick.rooms.studio.issues.wire import FIELDS
from tallystick.rooms.studio.services.issues import IssueService

_AGENT: Mapping[str, Any] = {**AGENT_ID, "description": "Whose memory."}
REMEMBER = Form(
    properties={
        "agent": _AGENT,
        "interest": {"type": "integer", "minimum": 1, "maximum": 5, "description": "How much it cares, 1 to 5."},
        "personalTags": {**FIELDS["tags"], "description": "The agent's own tags, in the place of those it had."},
    },
    required=("agent", "interest"),
    example={"agent": "continuity", "interest": 5, "personalTags": ["mine"]},
)
DEFER = Form(
    properties={
        "agent": _AGENT,
        "after": {"type": "integer", "minimum": 1, "maximum": MAX_WAKE, "description": "So many activations later."},
        "until": {"type": "string", "maxLength": 40, "description": "Or then: 2026-01-31T12:00:00Z."},
        "reason": {"type": "string", "maxLength": MAX_REASON, "description": "Why."},
    },
    required=("agent",),
    example={"agent": "critic", "after": 20, "reason": "Wait for the second draft."},
)
REWORD = Form(properties={"agent": _AGENT}, required=("agent",), example={"agent": "critic"})


def issue_memory_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/issues", tags=["issues"])
    issues = IssueService(context.gate)
    _looking(router, issues)
    _changing(router, context, issues)
    return router


def _looking(router: APIRouter, issues: IssueService) -> None:
    memory = issues.tracker.memory

    @router.get("/memory/{agent_id}", openapi_extra=documented(), summary="What an agent remembers of issues")
    @open_to(EVERY_ROLE)
    async def every(agent_id: str, request: Request) -> Response:
        limit, offset = page(request)
        views = await run_in_threadpool(memory.views, agent_id)
        if not views:
            # The memory of a removed agent can still be read.
            await require_agent(issues, agent_id)
        found = sorted(views.values(), key=lambda view: (-view.interest, view.issue_id))
        shown = [view.as_dict() for view in found[offset : offset + limit]]
        return listing(shown, total=len(found), limit=limit, offset=offset)

    one_agent = {"parameters": [{"name": "agent", "in": "query", "required": True, "schema": dict(AGENT_ID)}]}

    @router.get("/{issue_id}/memory", openapi_extra=one_agent, summary="What an agent remembers of an issue")
    @open_to(EVERY_ROLE)
    async def one(issue_id: str, request: Request) -> Response:
        agent = request.query_params.get("agent")
        if not agent:
            raise RequestRefused(400, Category.VALIDATION_ERROR, "whose memory?", hint="Give ?agent=…")
        words = await run_in_threadpool(memory.words, agent, issue_id)
        if words is FORGOTTEN:
            await require_agent(issues, agent)
        words = granted(words, STATUS)
        view: View = (await run_in_threadpool(memory.views, agent))[words["issue_id"]]
        return json_answer(view.as_dict() | {"text": words["text"], "made_by": words["made_by"]} | _receipts(words))


def _changing(router: APIRouter, context: HttpContext, issues: IssueService) -> None:
    memory = issues.tracker.memory

    @router.put("/{issue_id}/memory", openapi_extra=REMEMBER.documented, summary="Say how much an agent cares")
    @open_to(WORK_ROLES)
    async def remember(issue_id: str, request: Request) -> Response:
        asked = REMEMBER.demand(await request.body())
        await require_agent(issues, asked["agent"])
        cares = {"interest": asked["interest"], "personal_tags": asked.get("personalTags")}
        view = await run_in_threadpool(memory.remember, asked["agent"], issue_id, **cares)
        return json_answer(granted(view, STATUS).as_dict())

    @router.post("/{issue_id}/defer", openapi_extra=DEFER.documented, summary="Put an issue off for an agent")
    @open_to(WORK_ROLES)
    async def defer(issue_id: str, request: Request) -> Response:
        asked = DEFER.demand(await request.body())
        await require_agent(issues, asked["agent"])
        wake = {"after": asked.get("after"), "until": asked.get("until"), "reason": asked.get("reason", "")}
        view = await run_in_threadpool(memory.defer, asked["agent"], issue_id, **wake)
        return json_answer(granted(view, STATUS).as_dict())

    @router.post(
        "/{issue_id}/memory/reword",
        openapi_extra=REWORD.documented,
        summary="Let the agent's model reword its memory of an issue",
    )
    @open_to(WORK_ROLES)
    async def reword(issue_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = REWORD.demand(await request.body())
        await require_agent(issues, asked["agent"])
        words = await issues.reword(context.conversation, asked["agent"], issue_id, caller=caller)
        return answer(words) if isinstance(words, Unanswered) else json_answer(granted(words, STATUS))


def _receipts(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"receipts": words["receipts"]}
