"""The room's routes: `/api/tastings`."""

import secrets
from collections.abc import Iterator

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import (
    HTTP_SESSION,
    NAME,
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
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tasting_room.flows import IMPORT
from tasting_room.room import Tastings

TASTING = Form(
    properties={"wine": {"type": "string"}, "score": {"type": "integer"}},
    required=("wine", "score"),
    example={"wine": "Baga 2019", "score": 91},
)
FILE = Form(
    properties={"file": {**NAME, "description": "A CSV file of the inbox."}},
    required=("file",),
    example={"file": "may.csv"},
)


def routers(context: HttpContext) -> Iterator[APIRouter]:
    """The room's routers."""
    yield _tastings(context)
    yield _imports(context)


def _tastings(context: HttpContext) -> APIRouter:
    router = APIRouter(prefix="/api/tastings", tags=["tastings"])

    @router.get("", openapi_extra=documented(), summary="Tastings, newest first")
    @open_to(EVERY_ROLE)
    async def tastings(request: Request) -> Response:
        limit, offset = page(request)
        store = room_in(context.gate, "tastings", Tastings).store
        items, total = await run_in_threadpool(lambda: store.page(limit=limit, offset=offset))
        return listing(items, total=total, limit=limit, offset=offset)

    @router.post("", openapi_extra=TASTING.documented, summary="Log a tasting")
    @open_to(WORK_ROLES)
    async def add(request: Request) -> Response:
        caller = context.require(request)
        args = TASTING.demand(await request.body())
        return outcome_answer(await context.gate.call("tastings.add", args, session=HTTP_SESSION, caller=caller))

    return router


def _imports(context: HttpContext) -> APIRouter:
    router = APIRouter(prefix="/api/tastings/imports", tags=["tastings"])
    durable = context.gate.durable

    @router.post("", openapi_extra=FILE.documented, summary="Import a file of the inbox")
    @open_to(WORK_ROLES)
    async def start(request: Request) -> Response:
        caller = context.require(request)
        asked = FILE.demand(await request.body())
        args = {"file": asked["file"], "caller": {"subject": caller.subject, "roles": sorted(caller.roles)}}
        run_id = await run_in_threadpool(durable.start, IMPORT, args, run_id=f"tastings-{secrets.token_hex(8)}")
        return json_answer({"run_id": run_id}, 202)

    @router.get("/{run_id}", summary="The state of an import")
    @open_to(WORK_ROLES)
    async def state(run_id: str) -> Response:
        found = await run_in_threadpool(durable.status, run_id)
        if found is None or found.flow != IMPORT:
            raise RequestRefused(404, Category.VALIDATION_ERROR, "no import of this id")
        return json_answer({"run_id": run_id, "state": found.state, "result": found.result})

    return router
