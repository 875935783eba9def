"""`/api/memory/…`: proposals to memory, and what it holds. What it knows, and why, is in `memory_reading_routes`."""

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
    Refused,
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
from tallystick.rooms.memory import account
from tallystick.rooms.memory.fold import HANDLERS
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.states import TABLE

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


def memory_routes(desk: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/memory", tags=["memory"])

    @router.post(
        "/proposals", openapi_extra=PROPOSAL.documented, responses=_OUTCOMES, summary="Propose something to memory"
    )
    @open_to(WORK_ROLES, refuses_itself=True)
    async def propose(request: Request) -> Response:
        return outcome_answer(await _propose(desk, await request.body(), desk.caller(request.scope)))

    @router.get("/status", summary="How much memory holds")
    @open_to(EVERY_ROLE)
    async def status() -> Response:
        room = memory_of(desk)
        return json_answer(await run_in_threadpool(account.status, room.projection, room.now()))

    _propositions(router, desk)
    _observations(router, desk)
    for name in account.LISTS:
        _list(router, desk, name)
    return router


def _propositions(router: APIRouter, desk: HttpContext) -> None:
    @router.get("/propositions", openapi_extra=documented(**_NARROWED), summary="The propositions, the newest first")
    @open_to(EVERY_ROLE)
    async def propositions(request: Request) -> Response:
        limit, offset = page(request)
        wanted = request.query_params.get("status")
        if wanted is not None and wanted not in _STATES:
            hint = f"One of {', '.join(_STATES)}."
            raise Refused(400, Category.VALIDATION_ERROR, "no such status", hint=hint)
        room, subject = memory_of(desk), request.query_params.get("subject")
        items, total = await run_in_threadpool(
            lambda: account.propositions(
                room.projection, status=wanted, subject=subject, limit=limit, offset=offset, now=room.now()
            )
        )
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/propositions/{proposition_id}", summary="One proposition")
    @open_to(EVERY_ROLE)
    async def proposition(proposition_id: str) -> Response:
        room = memory_of(desk)
        found = await run_in_threadpool(account.proposition, room.projection, proposition_id, room.now())
        if found is None:
            raise Refused(404, Category.VALIDATION_ERROR, "no proposition of this id", hint="Ids begin with prop_.")
        return json_answer(found)


def _observations(router: APIRouter, desk: HttpContext) -> None:
    @router.get("/observations", openapi_extra=documented(), summary="The observations, the newest first")
    @open_to(EVERY_ROLE)
    async def observations(request: Request) -> Response:
        limit, offset = page(request)
        projection = memory_of(desk).projection
        items, total = await run_in_threadpool(lambda: account.observations(projection, limit=limit, offset=offset))
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/observations/{observation_id}", summary="One observation, its text whole")
    @open_to(EVERY_ROLE)
    async def observation(observation_id: str) -> Response:
        projection = memory_of(desk).projection
        found = await run_in_threadpool(account.observation, projection, observation_id)
        if found is None:
            raise Refused(404, Category.VALIDATION_ERROR, "no observation of this id", hint="Ids begin with obs_.")
        return json_answer(found)


def _list(router: APIRouter, desk: HttpContext, name: str) -> None:
    @router.get(f"/{name}", openapi_extra=documented(), summary=f"The {name}, by id", name=f"memory_{name}")
    @open_to(EVERY_ROLE)
    async def things(request: Request) -> Response:
        limit, offset = page(request)
        projection = memory_of(desk).projection
        items, total = await run_in_threadpool(lambda: account.things(projection, name, limit=limit, offset=offset))
        return listing(items, total=total, limit=limit, offset=offset)


def memory_of(desk: HttpContext) -> Memory:
    """The memory room."""
    return room_in(desk.gate, "memory", Memory)


async def _propose(desk: HttpContext, body: bytes, caller: Caller | Rejection) -> Outcome:
    if isinstance(caller, Rejection):
        return await desk.gate.refuse(caller, body, session=HTTP_SESSION, caller=ANONYMOUS)
    if not caller.has_any(WORK_ROLES):
        return await desk.gate.refuse(ROLE_MISSING, body, session=HTTP_SESSION, caller=caller)
    asked = PROPOSAL.read(body, desk.gate.settings.server.max_body_bytes)
    if isinstance(asked, Rejection):
        return await desk.gate.refuse(asked, body, session=HTTP_SESSION, caller=caller)
    where = Session(session_id=asked.get("session", HTTP_SESSION), agent_id=asked.get("agent"), caller=caller)
    if asked["tool_name"] not in HANDLERS:
        return await desk.gate.refuse(NOT_A_PROPOSAL, body, session=where, caller=caller)
    return await desk.gate.call(asked["tool_name"], asked["payload"], session=where)


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
