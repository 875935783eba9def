"""`/api/agents…`: the agents and their model endpoints.

Any caller with a role may read. A change requires a person (the start-up token), because an agent is a program that
calls as the owner.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.administration import AgentAdministration
from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster, unknown_agent
from tallystick.agents.wire import (
    AGENT_FIELDS,
    AGENT_REQUIRED,
    ENDPOINT_FIELDS,
    ENDPOINT_REQUIRED,
    agent_from,
    agent_wire,
    endpoint_from,
    endpoint_wire,
)
from tallystick.app.agents import administration_of
from tallystick.doors.http.answers import json_answer, listing
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import NOTHING, Form
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.gate.codes import Category
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.turns.agent import Agent

_EXAMPLE = {"name": "Archivist", "role": "archivist", "purpose": "Finds where something was said before."}
NEW_AGENT = Form(properties=AGENT_FIELDS, required=AGENT_REQUIRED, example={"agent_id": "archivist", **_EXAMPLE})
AGENT = Form(
    properties={name: field for name, field in AGENT_FIELDS.items() if name != "agent_id"},
    required=tuple(name for name in AGENT_REQUIRED if name != "agent_id"),
    example=_EXAMPLE,
)
ENDPOINT = Form(
    properties={name: field for name, field in ENDPOINT_FIELDS.items() if name != "agent_id"},
    required=tuple(name for name in ENDPOINT_REQUIRED if name != "agent_id"),
    example={"provider": "lmstudio", "model": "qwen3-4b", "base_url": "http://127.0.0.1:1234"},
)
T = TypeVar("T")
_STATUS = {
    "agent_unknown": 404,
    "agent_exists": 409,
    "agents_too_many": 409,
    "chief_mandatory": 409,
    "chief_exactly_one": 409,
}


def agents_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api")
    administration = administration_of(context.gate)
    _look_at_agents(router, administration)
    _change_agents(router, context, administration)
    _change_endpoints(router, context, administration)
    return router


def _look_at_agents(router: APIRouter, administration: AgentAdministration) -> None:
    @router.get("/agents", tags=["agents"], openapi_extra=documented(), summary="The agents, the Chief of Staff first")
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        roster = await run_in_threadpool(administration.registry.load)
        agents = [_shown(agent, roster) for agent in roster.list()]
        return listing(agents[offset : offset + limit], total=len(agents), limit=limit, offset=offset)

    @router.get("/agents/{agent_id}", tags=["agents"], summary="One agent")
    @open_to(EVERY_ROLE)
    async def one(agent_id: str) -> Response:
        roster = await run_in_threadpool(administration.registry.load)
        return json_answer(_shown(known(roster, agent_id), roster))

    @router.get("/agents/{agent_id}/endpoint", tags=["agents"], summary="Where an agent's model is")
    @open_to(AUDIT_ROLES)
    async def endpoint(agent_id: str) -> Response:
        # Restricted to audit roles, because it shows server addresses and key names.
        roster = await run_in_threadpool(administration.registry.load)
        return json_answer(endpoint_wire(roster.endpoint(known(roster, agent_id).agent_id)))


def _change_agents(router: APIRouter, context: HttpContext, administration: AgentAdministration) -> None:
    change_with = partial(_changed, context, administration)
    new = NEW_AGENT.documented

    @router.post(
        "/agents", tags=["agents"], openapi_extra=new, status_code=201, summary="Add an agent (start-up token)"
    )
    @open_to(EVERY_ROLE)
    async def add(request: Request) -> Response:
        agent = good(agent_from(await asked(request, context, NEW_AGENT)))
        roster = await change_with(request, lambda roster: roster.add(agent), "agent.add", agent.agent_id)
        return json_answer(_shown(agent, roster), 201)

    @router.put(
        "/agents/{agent_id}",
        tags=["agents"],
        openapi_extra=AGENT.documented,
        summary="Change an agent (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def change(agent_id: str, request: Request) -> Response:
        wanted = {**await asked(request, context, AGENT), "agent_id": agent_id}
        known(await run_in_threadpool(administration.registry.load), agent_id)
        agent = good(agent_from(wanted))
        roster = await change_with(request, lambda roster: roster.change(agent), "agent.change", agent_id)
        return json_answer(_shown(agent, roster))

    @router.delete(
        "/agents/{agent_id}",
        tags=["agents"],
        openapi_extra=NOTHING.documented,
        summary="Remove an agent (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def remove(agent_id: str, request: Request) -> Response:
        await asked(request, context, NOTHING)
        await change_with(request, lambda roster: roster.remove(agent_id), "agent.remove", agent_id)
        return json_answer({"removed": agent_id})


def _change_endpoints(router: APIRouter, context: HttpContext, administration: AgentAdministration) -> None:
    @router.put(
        "/agents/{agent_id}/endpoint",
        tags=["agents"],
        openapi_extra=ENDPOINT.documented,
        summary="Give an agent another model (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def give(agent_id: str, request: Request) -> Response:
        wanted = await asked(request, context, ENDPOINT, "tally agents set-endpoint")
        known(await run_in_threadpool(administration.registry.load), agent_id)
        endpoint = good(endpoint_from({**wanted, "agent_id": agent_id}))
        await _changed(
            context,
            administration,
            request,
            lambda roster: roster.set_endpoint(endpoint),
            "agent.set_endpoint",
            agent_id,
        )
        return json_answer(endpoint_wire(endpoint))

    @router.delete(
        "/agents/{agent_id}/endpoint",
        tags=["agents"],
        openapi_extra=NOTHING.documented,
        summary="Back to the offline agent (start-up token)",
    )
    @open_to(EVERY_ROLE)
    async def clear(agent_id: str, request: Request) -> Response:
        await asked(request, context, NOTHING, "tally agents clear-endpoint")
        roster = await _changed(
            context,
            administration,
            request,
            lambda roster: roster.clear_endpoint(agent_id),
            "agent.clear_endpoint",
            agent_id,
        )
        return json_answer(endpoint_wire(roster.endpoint(agent_id)))


async def asked(request: Request, context: HttpContext, form: Form, command: str | None = None) -> dict[str, Any]:
    """Read the body of a request that requires a person; without the start-up token, refuse before reading it."""
    context.require_person(request, command)
    return form.demand(await request.body())


async def _changed(
    context: HttpContext,
    administration: AgentAdministration,
    request: Request,
    how: Callable[[Roster], Roster | Problem],
    action: str,
    agent_id: str,
) -> Roster:
    caller = context.require_person(request)
    return good(await run_in_threadpool(administration.change, how, caller=caller, action=action, agent_id=agent_id))


def good(value: T | Problem) -> T:
    """Return the value, or raise `RequestRefused` if it is a problem."""
    if isinstance(value, Problem):
        status = _STATUS.get(value.code, 400)
        category = Category.DOWNSTREAM_ERROR if value.code in _STATUS else Category.VALIDATION_ERROR
        raise RequestRefused(status, category, value.message, hint=" ".join(filter(None, (value.code, value.pointer))))
    return value


def known(roster: Roster, agent_id: str) -> Agent:
    """Return an existing agent, or raise `RequestRefused`."""
    return good(roster.get(agent_id) or unknown_agent(roster.agents))


def _shown(agent: Agent, roster: Roster) -> dict[str, Any]:
    endpoint = roster.endpoint(agent.agent_id)
    return {**agent_wire(agent), "endpoint": {"provider": endpoint.provider, "model": endpoint.model}}
