"""`/api/runs…` and `/api/recipes`: pipeline runs, started, watched, cancelled and resumed.

A run belongs to whoever started it; others see it with the role of an auditor or admin. What a step may do is decided
at the gate, with the roles of whoever started the run.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.problem import Problem
from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import (
    NAME,
    NOTHING,
    Emit,
    EventStream,
    Form,
    HttpContext,
    RequestRefused,
    documented,
    error_answer,
    event,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.rooms.studio.room import Studio
from tallystick.rooms.studio.runs.service import RunService
from tallystick.rooms.studio.runs.states import ENDED, FOLLOWS, Status

T = TypeVar("T")

LOOK_S = 0.3
"""Polling interval of the stream; each poll is a query."""
MAX_DIGITS = 9
START = Form(
    properties={
        "recipe": {**NAME, "description": "As `GET /api/recipes` names it."},
        "inputs": {"type": "object", "description": "What the recipe takes."},
    },
    required=("recipe",),
    example={"recipe": "prose-review", "inputs": {"scene_path": "Story/Scenes/SCN-the-harbour.md"}},
)


def run_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api", tags=["runs"])
    _starting(router, context)
    _looking(router, context)
    _following(router, context)
    _steering(router, context)
    return router


def _starting(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/recipes", openapi_extra=documented(), summary="The recipes, with what is wrong with those that cannot run"
    )
    @open_to(EVERY_ROLE)
    async def recipes(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(lambda: [one.as_dict() for one in _runs(context).recipes.list()])
        return listing(found[offset : offset + limit], total=len(found), limit=limit, offset=offset)

    @router.post("/runs", openapi_extra=START.documented, responses=_STARTED, summary="Start a run", status_code=202)
    @open_to(WORK_ROLES)
    async def start(request: Request) -> Response:
        caller = context.require(request)
        asked = START.demand(await request.body())
        begun = await run_in_threadpool(lambda: _runs(context).start(asked["recipe"], asked.get("inputs", {}), caller))
        return json_answer(_good(begun), 202)


def _looking(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/runs", summary="Runs, the newest first", openapi_extra=documented(status=f"One of {', '.join(FOLLOWS)}.")
    )
    @open_to(EVERY_ROLE)
    async def runs(request: Request) -> Response:
        caller = context.require(request)
        limit, offset = page(request)
        status = _status(request)
        items, total = await run_in_threadpool(
            lambda: _runs(context).page(caller, limit=limit, offset=offset, status=status)
        )
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/runs/{run_id}", summary="A run with its steps")
    @open_to(EVERY_ROLE)
    async def run(run_id: str, request: Request) -> Response:
        return json_answer(await _asked(context, request, lambda runs, caller: runs.show(run_id, caller)))

    @router.get("/runs/{run_id}/steps", openapi_extra=documented(), summary="The full log of its steps")
    @open_to(EVERY_ROLE)
    async def steps(run_id: str, request: Request) -> Response:
        limit, offset = page(request)
        lines = await _asked(context, request, lambda runs, caller: runs.steps(run_id, caller))
        return listing(lines[offset : offset + limit], total=len(lines), limit=limit, offset=offset)

    @router.get("/runs/{run_id}/cache/{slot}", summary="What a slot of its cache holds, and the receipts behind it")
    @open_to(EVERY_ROLE)
    async def cache(run_id: str, slot: str, request: Request) -> Response:
        return json_answer(
            (await _asked(context, request, lambda runs, caller: runs.slot(run_id, slot, caller))).as_dict()
        )


def _following(router: APIRouter, context: HttpContext) -> None:
    @router.get("/runs/{run_id}/events", responses=_EVENTS, summary="Its progress as it happens", openapi_extra=_AFTER)
    @open_to(EVERY_ROLE)
    async def events(run_id: str, request: Request) -> Response:
        shown = await _asked(context, request, lambda runs, caller: runs.show(run_id, caller))
        after = _after(request)
        return EventStream(
            lambda emit: _streamed(_runs(context), shown["run_id"], context.require(request), after, emit),
            translate=error_answer,
            late=lambda body: event("error", body),
        )


def _steering(router: APIRouter, context: HttpContext) -> None:
    @router.post("/runs/{run_id}/cancel", openapi_extra=NOTHING.documented, summary="End a run before its next step")
    @open_to(WORK_ROLES)
    async def cancel(run_id: str, request: Request) -> Response:
        NOTHING.demand(await request.body())
        return json_answer(await _asked(context, request, lambda runs, caller: runs.cancel(run_id, caller)))

    @router.post(
        "/runs/{run_id}/resume",
        openapi_extra=NOTHING.documented,
        responses=_RESUMED,
        summary="Resume a failed, cancelled or incomplete run after its last finished step",
    )
    @open_to(WORK_ROLES)
    async def resume(run_id: str, request: Request) -> Response:
        NOTHING.demand(await request.body())
        return json_answer(_good(await _asked(context, request, lambda runs, caller: runs.resume(run_id, caller))))


async def _streamed(runs: RunService, run_id: str, caller: Caller, after: int, emit: Emit) -> None:
    """Stream events with their numbers, so that a client can resume after the last one."""
    while True:
        # Read the status first, so that events before the end are in the events read after it.
        shown = await run_in_threadpool(runs.show, run_id, caller)
        for told in await run_in_threadpool(partial(runs.events, run_id, after=after)):
            after = told.seq
            emit(b"id: %d\n" % told.seq + event(told.data.get("event", "step"), told.data))
        if shown is None or shown["status"] in ENDED:
            emit(event("end", shown))
            return
        await asyncio.sleep(LOOK_S)


async def _asked(context: HttpContext, request: Request, ask: Callable[[RunService, Caller], T | None]) -> T:
    """Call the service; a run that is missing or another caller's is 404."""
    caller = context.require(request)
    found = await run_in_threadpool(lambda: ask(_runs(context), caller))
    if found is None:
        hint = "GET /api/runs lists the runs, GET /api/runs/{id} the slots of one."
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "there is no such run or slot", hint=hint)
    return found


def _runs(context: HttpContext) -> RunService:
    """The studio's runs.

    Raises:
        RequestRefused: 503, the room has not been joined with durable work.
    """
    runs = room_in(context.gate, "studio", Studio).runs
    if runs is None:
        raise RequestRefused(
            503, Category.TOOL_UNAVAILABLE, "this server does no durable work", hint="Start `tally serve`."
        )
    return runs


def _good(made: dict[str, Any] | Problem) -> dict[str, Any]:
    if isinstance(made, Problem):
        status, category = _REFUSALS.get(made.code, (400, Category.VALIDATION_ERROR))
        where = f" (at {made.pointer})" if made.pointer else ""
        raise RequestRefused(status, category, made.code, hint=f"{made.message}{where}")
    return made


def _status(request: Request) -> Status | None:
    named = request.query_params.get("status")
    if named is None:
        return None
    found = next((status for status in FOLLOWS if status == named), None)
    if found is None:
        raise RequestRefused(400, Category.VALIDATION_ERROR, "no such status", hint=f"One of {', '.join(FOLLOWS)}.")
    return found


def _after(request: Request) -> int:
    given = request.headers.get("last-event-id") or request.query_params.get("after") or ""
    if not given:
        return -1
    if not given.isascii() or not given.isdigit() or len(given) > MAX_DIGITS:
        raise RequestRefused(
            400, Category.VALIDATION_ERROR, "after is a whole number", hint="The id of the last event."
        )
    return int(given)


_REFUSALS: dict[str, tuple[int, Category]] = {
    "recipe_unknown": (404, Category.DOWNSTREAM_ERROR),
    "run_not_resumable": (409, Category.DOWNSTREAM_ERROR),
    "tool_unknown": (409, Category.TOOL_UNAVAILABLE),
    "action_unknown": (409, Category.TOOL_UNAVAILABLE),
    "agent_unknown": (409, Category.TOOL_UNAVAILABLE),
}
"""Refusals that are not validation errors."""
_AFTER = {
    "parameters": [
        {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "Only events behind this one."}
    ]
}
_STARTED: dict[int | str, dict[str, Any]] = {
    202: {"description": "The run, `queued`: a worker (`tally serve`, `tally worker`) carries it out."},
    400: {"description": "`inputs_invalid`, or the recipe itself cannot be read: the hint says where."},
    404: {"description": "`recipe_unknown`: the hint names those there are."},
    409: {"description": "The recipe needs a tool or an agent that is not here."},
    503: {"description": "`durable_not_installed`, or the database cannot be used."},
}
_RESUMED: dict[int | str, dict[str, Any]] = {
    409: {"description": "`run_not_resumable`: it is queued, running or done."},
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Events `step` and `run` with an id each, and in the end `end` with all about the run."},
}
