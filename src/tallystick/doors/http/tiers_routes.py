"""`/api/tiers…` and `/api/credits…`: the agents' tiers, caps and credits.

Any caller with a role may read. Changing the tier policy or reporting a task result requires a person (the start-up
token): an agent is a program that calls as the owner and could grade itself. No route changes credits.
"""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.administration import AgentAdministration
from tallystick.agents.roster import Roster
from tallystick.agents.tiers import POLICY_SCHEMA, Ladder, Result, TierPolicy
from tallystick.agents.wire import ENDPOINT_FIELDS
from tallystick.app.agents import administration_of
from tallystick.doors.http.agents_routes import asked, good, known
from tallystick.doors.http.answers import json_answer, listing
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import Form
from tallystick.doors.http.pagination import documented, page
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.storage.credits import Credits
from tallystick.turns.agent import Agent

POLICY = Form(properties=POLICY_SCHEMA["properties"], example={"promote_after": 5, "clamp_factor": 0.8})
TASK_RESULT = Form(
    properties={
        "result": {"enum": [str(result) for result in Result], "description": "How the task ended."},
        "model": {**ENDPOINT_FIELDS["model"], "description": "With which model; default: the agent's endpoint's."},
    },
    required=("result",),
    example={"result": "verified_at_cap"},
)


def tiers_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api")
    administration = administration_of(context.gate)
    _tier_policy(router, context, administration)
    _tiers(router, context, administration)
    _credits(router, administration, Credits(context.gate.workspace))
    return router


def _tier_policy(router: APIRouter, context: HttpContext, administration: AgentAdministration) -> None:
    @router.get("/tiers/policy", tags=["tiers"], summary="The numbers behind tiers and caps")
    @open_to(EVERY_ROLE)
    async def policy() -> Response:
        ladder = await run_in_threadpool(administration.tiers.load)
        return json_answer(ladder.policy.as_dict())

    @router.put(
        "/tiers/policy",
        tags=["tiers"],
        openapi_extra=POLICY.documented,
        summary="Put other numbers in force; what is left out is as usual (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def set_policy(request: Request) -> Response:
        policy = good(TierPolicy.from_dict(await asked(request, context, POLICY)))
        caller = context.require_person(request)
        await run_in_threadpool(administration.set_policy, policy, caller=caller)
        return json_answer(policy.as_dict())


def _tiers(router: APIRouter, context: HttpContext, administration: AgentAdministration) -> None:
    @router.get("/tiers/agents", tags=["tiers"], openapi_extra=documented(), summary="Where every agent stands")
    @open_to(EVERY_ROLE)
    async def standings(request: Request) -> Response:
        limit, offset = page(request)
        roster, ladder = await run_in_threadpool(lambda: (administration.registry.load(), administration.tiers.load()))
        agents = roster.list()
        shown = [_standing(agent, roster, ladder) for agent in agents[offset : offset + limit]]
        return listing(shown, total=len(agents), limit=limit, offset=offset)

    @router.get("/tiers/agents/{agent_id}", tags=["tiers"], summary="Where one agent stands")
    @open_to(EVERY_ROLE)
    async def standing(agent_id: str) -> Response:
        roster, ladder = await run_in_threadpool(lambda: (administration.registry.load(), administration.tiers.load()))
        return json_answer(_standing(known(roster, agent_id), roster, ladder))

    @router.get(
        "/tiers/agents/{agent_id}/caps", tags=["tiers"], openapi_extra=_MODEL, summary="What its next task may use"
    )
    @open_to(EVERY_ROLE)
    async def caps(agent_id: str, request: Request) -> Response:
        roster, ladder = await run_in_threadpool(lambda: (administration.registry.load(), administration.tiers.load()))
        model = request.query_params.get("model") or roster.endpoint(known(roster, agent_id).agent_id).model
        return json_answer(_caps(agent_id, model, ladder))

    @router.post(
        "/tiers/agents/{agent_id}/task-result",
        tags=["tiers"],
        openapi_extra=TASK_RESULT.documented,
        summary="Count how a task ended (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def task_result(agent_id: str, request: Request) -> Response:
        wanted = await asked(request, context, TASK_RESULT)
        caller = context.require_person(request)
        result, model = Result(wanted["result"]), wanted.get("model")
        standing, move = good(
            await run_in_threadpool(administration.task_result, agent_id, model, result, caller=caller)
        )
        return json_answer({**standing.as_dict(), "move": str(move)})


def _credits(router: APIRouter, administration: AgentAdministration, stored: Credits) -> None:
    @router.get("/credits", tags=["credits"], openapi_extra=documented(), summary="Balances, and events newest first")
    @open_to(EVERY_ROLE)
    async def credits_(request: Request) -> Response:
        limit, offset = page(request)
        account = await run_in_threadpool(stored.load)
        events = [event.as_dict() for event in reversed(account.events)]
        wire = {"items": events[offset : offset + limit], "total": len(events), "limit": limit, "offset": offset}
        return json_answer({"balances": account.balances(), **wire})

    @router.get("/credits/{agent_id}", tags=["credits"], openapi_extra=documented(), summary="One agent's credits")
    @open_to(EVERY_ROLE)
    async def of_agent(agent_id: str, request: Request) -> Response:
        limit, offset = page(request)
        account = await run_in_threadpool(stored.load)
        if agent_id not in account.balances():
            known(await run_in_threadpool(administration.registry.load), agent_id)
        events = [event.as_dict() for event in reversed(account.of(agent_id))]
        wire = {"items": events[offset : offset + limit], "total": len(events), "limit": limit, "offset": offset}
        return json_answer({"agent_id": agent_id, "balance": account.balances().get(agent_id, 0), **wire})


def _standing(agent: Agent, roster: Roster, ladder: Ladder) -> dict[str, Any]:
    """Return the agent's standing with its current model, and with earlier models."""
    model = roster.endpoint(agent.agent_id).model
    others = [each.model for each in ladder.standings if each.agent_id == agent.agent_id and each.model != model]
    now, *before = [
        {**ladder.standing(agent.agent_id, each).as_dict(), "caps": ladder.caps(agent.agent_id, each).as_dict()}
        for each in (model, *sorted(others))
    ]
    return {**now, "other_models": before}


def _caps(agent_id: str, model: str, ladder: Ladder) -> dict[str, Any]:
    standing = ladder.standing(agent_id, model)
    caps = ladder.caps(agent_id, model).as_dict()
    return {"agent_id": agent_id, "model": model, "tier": standing.tier, "clamped": standing.clamp_left > 0, **caps}


_MODEL = {
    "parameters": [
        {"name": "model", "in": "query", "schema": {"type": "string"}, "description": "Default: the agent's own."}
    ]
}
