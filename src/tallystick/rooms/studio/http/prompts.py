"""`/api/prompts…`: how tools are worded for models. A person changes it; an agent proposes."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.problem import text
from tallystick.doors.http.kit import (
    NAME,
    NOTHING,
    Form,
    HttpContext,
    RequestRefused,
    documented,
    granted,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.prompts.model import FIELDS, ID
from tallystick.rooms.studio.prompts.registry import UNKNOWN
from tallystick.rooms.studio.services.prompts import PromptService

_EXAMPLE = {
    "description": "Find files by name or words; use it before reading.",
    "example": {"tool": "file_locator", "args": {"search_criteria": "outline"}, "nonce": "<TOOL_NONCE>"},
}
PROMPT = Form(properties=FIELDS, example=_EXAMPLE)
PROPOSAL = Form(
    properties={
        "prompt": {**ID, "description": "Which prompt, with hyphens: `file-locator`."},
        **FIELDS,
        "agent": {**NAME, "description": "The agent that wishes it."},
        "reason": {**text(1000), "description": "Why."},
    },
    required=("prompt", "agent"),
    example={"prompt": "file-locator", "agent": "critic", "reason": "It is not clear enough.", **_EXAMPLE},
)
STATES = ("pending", "accepted", "rejected")
STATUS = {
    "agent_unknown": 404,
    "prompt_unknown": 404,
    "proposal_unknown": 404,
    "proposal_decided": 409,
    "changed_meanwhile": 409,
    "prompts_too_many": 409,
    "proposals_too_many": 429,
}


def prompt_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/prompts", tags=["prompts"])
    prompts = PromptService(context.gate)
    # First: else `proposals` would be the id of a prompt.
    _proposing(router, context, prompts)
    _looking(router, prompts)
    _wording(router, context, prompts)
    return router


def _looking(router: APIRouter, prompts: PromptService) -> None:
    @router.get("", openapi_extra=documented(), summary="The prompts of all layers merged, with warnings")
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        merged = await run_in_threadpool(prompts.registry.load)
        found = sorted(merged.prompts.values(), key=lambda prompt: prompt.id)
        shown = [prompts.shown(each) for each in found[offset : offset + limit]]
        warnings = [each.as_dict() for each in merged.cautions]
        return json_answer(
            {"items": shown, "total": len(found), "limit": limit, "offset": offset, "warnings": warnings}
        )

    @router.get("/{prompt_id}", summary="One prompt")
    @open_to(EVERY_ROLE)
    async def one(prompt_id: str) -> Response:
        merged = await run_in_threadpool(prompts.registry.load)
        found = granted(merged.prompts.get(prompt_id) or UNKNOWN, STATUS)
        warnings = [each.as_dict() for each in merged.cautions if each.id == prompt_id]
        return json_answer(prompts.shown(found) | {"warnings": warnings})


def _wording(router: APIRouter, context: HttpContext, prompts: PromptService) -> None:
    @router.put(
        "/{prompt_id}", openapi_extra=PROMPT.documented, summary="Word a tool for this project (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def change(prompt_id: str, request: Request) -> Response:
        caller = context.require_person(request)
        asked = PROMPT.demand(await request.body())
        done = granted(await run_in_threadpool(prompts.set, prompt_id, asked, caller=caller), STATUS)
        cautions = (await run_in_threadpool(prompts.registry.load)).cautions
        warnings = [each.as_dict() for each in cautions if each.id == prompt_id]
        return json_answer(prompts.shown(done) | {"warnings": warnings})

    @router.delete(
        "/{prompt_id}", openapi_extra=NOTHING.documented, summary="Back to the layers below (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def clear(prompt_id: str, request: Request) -> Response:
        caller = context.require_person(request)
        NOTHING.demand(await request.body())
        granted(await run_in_threadpool(prompts.clear, prompt_id, caller=caller), STATUS)
        return json_answer({"cleared": prompt_id})


def _proposing(router: APIRouter, context: HttpContext, prompts: PromptService) -> None:
    @router.get(
        "/proposals",
        openapi_extra=documented(state=f"One of {', '.join(STATES)}."),
        summary="What agents would like to have worded differently",
    )
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        state = request.query_params.get("state")
        if state is not None and state not in STATES:
            raise RequestRefused(400, Category.VALIDATION_ERROR, f"state is one of {', '.join(STATES)}")
        found = await run_in_threadpool(prompts.proposals.list)
        chosen = [each.as_dict() for each in found if state in {None, each.state}]
        return listing(chosen[offset : offset + limit], total=len(chosen), limit=limit, offset=offset)

    @router.post("/proposals", openapi_extra=PROPOSAL.documented, status_code=201, summary="Propose another wording")
    @open_to(WORK_ROLES)
    async def propose(request: Request) -> Response:
        asked = PROPOSAL.demand(await request.body())
        prompt_id, agent, reason = asked.pop("prompt"), asked.pop("agent"), asked.pop("reason", "")
        made = await run_in_threadpool(prompts.propose, prompt_id, asked, agent=agent, reason=reason)
        return json_answer(granted(made, STATUS).as_dict(), 201)

    for word, accept in (("accept", True), ("reject", False)):
        _deciding(router, context, prompts, word, accept=accept)


def _deciding(router: APIRouter, context: HttpContext, prompts: PromptService, word: str, *, accept: bool) -> None:
    @router.post(
        f"/proposals/{{proposal_id}}/{word}",
        openapi_extra=NOTHING.documented,
        name=f"{word}_proposal",
        summary=f"{word.capitalize()} a proposal (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def decide(proposal_id: str, request: Request) -> Response:
        caller = context.require_person(request)
        NOTHING.demand(await request.body())
        decided = await run_in_threadpool(prompts.decide, proposal_id, accept=accept, caller=caller)
        return json_answer(granted(decided, STATUS).as_dict())
