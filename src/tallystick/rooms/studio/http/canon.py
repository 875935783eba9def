"""`/api/canon/index…`: the status of the canon index, and rebuilding it.

By rules it is made at once. By a model it is long work: a worker makes it, and the request is answered with its run;
or, to a client that takes server-sent events, with every card as it is done.
"""

import asyncio
import secrets
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.problem import Problem
from tallystick.doors.http.kit import (
    NAME,
    Emit,
    EventStream,
    Form,
    HttpContext,
    RequestRefused,
    error_answer,
    event,
    json_answer,
    open_to,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.rooms.studio.services.canon import CanonService, run_dict

LOOK_S = 0.3
"""Polling interval of the stream; each poll is a query."""
INDEX = Form(
    properties={
        "agent": {**NAME, "description": "The agent whose model reads the cards. Default: rules."},
        "fresh": {"type": "boolean", "default": False, "description": "Read again also what has not changed."},
    },
    example={"agent": "continuity"},
)
_STREAM = "text/event-stream"


def canon_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/canon", tags=["studio"])

    @router.get("/index/status", summary="Whether Canon.md is that of the cards")
    @open_to(EVERY_ROLE)
    async def status() -> Response:
        return json_answer(await run_in_threadpool(lambda: CanonService(context.gate).status()))

    @router.post("/index", openapi_extra=INDEX.documented, responses=_MADE, summary="Compile Canon.md from the cards")
    @open_to(WORK_ROLES)
    async def index(request: Request) -> Response:
        caller = context.require(request)
        asked = INDEX.demand(await request.body())
        canon = CanonService(context.gate)
        streaming = _STREAM in request.headers.get("accept", "")
        if asked.get("agent") is None:
            if streaming:
                return _stream(partial(_by_rules, canon, caller))
            return json_answer(_good(await run_in_threadpool(lambda: canon.build(caller))))
        run_id = await run_in_threadpool(partial(_start, canon, caller, asked))
        if streaming:
            return _stream(partial(_by_model, canon, run_id))
        return json_answer({"run_id": run_id, "state": "waiting", "agent": asked["agent"]}, 202)

    return router


def _stream(work: Any) -> EventStream:
    return EventStream(work, translate=error_answer, late=lambda body: event("error", body))


async def _by_rules(canon: CanonService, caller: Caller, emit: Emit) -> None:
    loop = asyncio.get_running_loop()

    def tell(told: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(emit, event("card", told))

    made = await run_in_threadpool(lambda: canon.build(caller, tell=tell))
    emit(event("result", _good(made)))


async def _by_model(canon: CanonService, run_id: str, emit: Emit) -> None:
    """The run continues when the client disconnects."""
    after = -1
    while True:
        # Read the state first, so that events before the end are in the events read after it.
        run = await run_in_threadpool(canon.run, run_id)
        for told in await run_in_threadpool(partial(canon.told, run_id, after=after)):
            after = told.seq
            emit(b"id: %d\n" % told.seq + event("card", told.data))
        if run is None or run.ended:
            break
        await asyncio.sleep(LOOK_S)
    if run is not None and run.state == "done":
        emit(event("result", run.result))
    else:
        emit(event("error", {"run": None if run is None else run_dict(run, [])}))


def _start(canon: CanonService, caller: Caller, asked: dict[str, Any]) -> str:
    run_id = f"canon_{secrets.token_hex(8)}"
    begun = canon.start(caller, agent=asked["agent"], fresh=asked.get("fresh", False), run_id=run_id)
    if isinstance(begun, Problem):
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, begun.code, hint=begun.message)
    return begun


def _good(made: dict[str, Any] | Problem) -> dict[str, Any]:
    if isinstance(made, Problem):
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, made.code, hint=made.message)
    return made


_MADE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The status after it. With `Accept: text/event-stream`: events `card`, and in the end `result` "
        "or `error`."
    },
    202: {"description": "With `agent`: the run. `GET /api/canon/index/status` shows how far it is."},
    404: {"description": "`agent_unknown`: the hint names the agents there are."},
    503: {"description": "The studio or the durable part is not installed, or a file cannot be written."},
}
