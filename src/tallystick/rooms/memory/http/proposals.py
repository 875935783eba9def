"""`/api/memory/…`: proposals to memory, and what it holds. What it knows, and why, is in `queries.py`."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import (
    ANONYMOUS,
    HTTP_SESSION,
    ID,
    NAME,
    ROLE_MISSING,
    Form,
    HttpContext,
    RequestRefused,
    documented,
    json_answer,
    listing,
    open_to,
    outcome_answer,
    page,
)
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import UNKNOWN_TOOL, Category
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller, Session
from tallystick.rooms.memory.flows.propose_all import Proposed, propose_all
from tallystick.rooms.memory.project.fold import HANDLERS
from tallystick.rooms.memory.recall import listings
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.weigh.status_rules import TABLE

PROPOSAL = Form(
    properties={
        "tool_name": {"type": "string", "description": f"One of {', '.join(sorted(HANDLERS))}."},
        "payload": {"type": "object", "description": "As the tool's schema says (`GET /api/gate/tools`)."},
        "session": {**ID, "description": "The session the receipt belongs to."},
        "agent": {**NAME, "description": "The agent whose word it is; it is then believed only so far."},
    },
    required=("tool_name", "payload"),
    example={
        "tool_name": "record_observation",
        "payload": {
            "text": "Ada lives in Lisbon.",
            "source": {"id": "letter-7", "class": "document", "group": "letters"},
            "observed_at": "2026-01-31T12:00:00Z",
        },
    },
)


NOT_A_PROPOSAL = Rejection(fault=UNKNOWN_TOOL, reason="not one of memory's proposals", pointer="/tool_name")
"""Other tools have a door of their own; here they are not known."""


MOST = 1_000
"""Proposals in one request."""
_EACH = ("tool_name", "payload")
PROPOSALS = Form(
    properties={
        "proposals": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST,
            "items": {
                "type": "object",
                "required": list(_EACH),
                "additionalProperties": False,
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
)


def memory_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/memory", tags=["memory"])

    @router.post(
        "/proposals", openapi_extra=PROPOSAL.documented, responses=_OUTCOMES, summary="Propose something to memory"
    )
    @open_to(WORK_ROLES, refuses_itself=True)
    async def propose(request: Request) -> Response:
        return outcome_answer(await _propose(context, await request.body(), context.caller(request.scope)))

    @router.get("/status", summary="How much memory holds")
    @open_to(EVERY_ROLE)
    async def status() -> Response:
        room = memory_of(context)
        return json_answer(await run_in_threadpool(listings.status, room.projection, room.now()))

    _propose_many(router, context)
    _propositions(router, context)
    _observations(router, context)
    for name in listings.LISTS:
        _list(router, context, name)
    return router


def _propose_many(router: APIRouter, context: HttpContext) -> None:
    @router.post(
        "/proposals/many", openapi_extra=PROPOSALS.documented, responses=_ANSWERS, summary="Propose several things"
    )
    @open_to(WORK_ROLES)
    async def propose_many(request: Request) -> Response:
        caller = context.require(request)
        memory_of(context)
        asked = PROPOSALS.demand(await request.body())
        where = Session(session_id=asked.get("session", HTTP_SESSION), agent_id=asked.get("agent"), caller=caller)

        async def call_many(some: list[Proposed]) -> list[Outcome]:
            if some[0][0] in HANDLERS:
                return await context.gate.call_many(some, session=where)
            return [await context.gate.refuse(NOT_A_PROPOSAL, "", session=where) for _ in some]

        proposals = ((one["tool_name"], one["payload"]) for one in asked["proposals"])
        return json_answer({"outcomes": [outcome.as_dict() async for outcome in propose_all(call_many, proposals)]})


def _propositions(router: APIRouter, context: HttpContext) -> None:
    @router.get("/propositions", openapi_extra=documented(**_NARROWED), summary="The propositions, the newest first")
    @open_to(EVERY_ROLE)
    async def propositions(request: Request) -> Response:
        limit, offset = page(request)
        wanted = request.query_params.get("status")
        if wanted is not None and wanted not in _STATES:
            hint = f"One of {', '.join(_STATES)}."
            raise RequestRefused(400, Category.VALIDATION_ERROR, "no such status", hint=hint)
        room, subject = memory_of(context), request.query_params.get("subject")
        items, total = await run_in_threadpool(
            lambda: listings.propositions(
                room.projection, status=wanted, subject=subject, limit=limit, offset=offset, now=room.now()
            )
        )
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/propositions/{proposition_id}", summary="One proposition")
    @open_to(EVERY_ROLE)
    async def proposition(proposition_id: str) -> Response:
        room = memory_of(context)
        found = await run_in_threadpool(listings.proposition, room.projection, proposition_id, room.now())
        if found is None:
            raise RequestRefused(
                404, Category.VALIDATION_ERROR, "no proposition of this id", hint="Ids begin with prop_."
            )
        return json_answer(found)


def _observations(router: APIRouter, context: HttpContext) -> None:
    @router.get("/observations", openapi_extra=documented(), summary="The observations, the newest first")
    @open_to(EVERY_ROLE)
    async def observations(request: Request) -> Response:
        limit, offset = page(request)
        projection = memory_of(context).projection
        items, total = await run_in_threadpool(lambda: listings.observations(projection, limit=limit, offset=offset))
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/observations/{observation_id}", summary="One observation, its text whole")
    @open_to(EVERY_ROLE)
    async def observation(observation_id: str) -> Response:
        projection = memory_of(context).projection
        found = await run_in_threadpool(listings.observation, projection, observation_id)
        if found is None:
            raise RequestRefused(
                404, Category.VALIDATION_ERROR, "no observation of this id", hint="Ids begin with obs_."
            )
        return json_answer(found)


def _list(router: APIRouter, context: HttpContext, name: str) -> None:
    @router.get(f"/{name}", openapi_extra=documented(), summary=f"The {name}, by id", name=f"memory_{name}")
    @open_to(EVERY_ROLE)
    async def records(request: Request) -> Response:
        limit, offset = page(request)
        projection = memory_of(context).projection
        items, total = await run_in_threadpool(lambda: listings.records(projection, name, limit=limit, offset=offset))
        return listing(items, total=total, limit=limit, offset=offset)


def memory_of(context: HttpContext) -> Memory:
    """The memory room."""
    return room_in(context.gate, "memory", Memory)


async def _propose(context: HttpContext, body: bytes, caller: Caller | Rejection) -> Outcome:
    if isinstance(caller, Rejection):
        return await context.gate.refuse(caller, body, session=HTTP_SESSION, caller=ANONYMOUS)
    if not caller.has_any(WORK_ROLES):
        return await context.gate.refuse(ROLE_MISSING, body, session=HTTP_SESSION, caller=caller)
    asked = PROPOSAL.read(body, context.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return await context.gate.refuse(asked, body, session=HTTP_SESSION, caller=caller)
    where = Session(session_id=asked.get("session", HTTP_SESSION), agent_id=asked.get("agent"), caller=caller)
    if asked["tool_name"] not in HANDLERS:
        return await context.gate.refuse(NOT_A_PROPOSAL, body, session=where, caller=caller)
    return await context.gate.call(asked["tool_name"], asked["payload"], session=where)


_NARROWED = {
    "status": "The state it was in when it was last weighed; how it stands now is told of each.",
    "subject": "Only about this subject.",
}
_STATES = tuple(dict.fromkeys(row.status for row in TABLE))
_OUTCOMES: dict[int | str, dict[str, Any]] = {
    200: {"description": "`status` accepted or transformed, `proposal` as it was stored, `result` with its ids."},
    400: {"description": "`status` rejected: `rejection` has one of the five codes, and the reason."},
    401: {"description": "No valid token."},
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "`outcomes`: what came of each, in order, as `POST /api/memory/proposals` answers it."},
    400: {"description": "It is no such list; nothing was proposed."},
    401: {"description": "No valid token."},
}
