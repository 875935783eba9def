"""`/v1/desk/metrics`: the desk in numbers; `/metrics` tells the same to Prometheus."""

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.kit import HttpContext, json_answer, open_to
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.desk.http.intake import office_of


def desk_metrics_routes(desk: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/v1/desk", tags=["desk"])

    @router.get("/metrics", summary="Verdicts, overrides, unsupported sentences, lost leases, and what waits")
    @open_to(EVERY_ROLE)
    async def metrics() -> Response:
        return json_answer(await run_in_threadpool(office_of(desk).figures))

    return router
