"""`/v1/desk/metrics`: the desk in numbers; `/metrics` tells the same to Prometheus."""

import logging

from fastapi import APIRouter, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from tallystick.bootstrap import Gate
from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.desk import FrontDesk, open_to
from tallystick.doors.http.desk_intake_routes import office_of
from tallystick.errors import TallyError
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.desk.room import Desk

_log = logging.getLogger(__name__)


def desk_metrics_routes(desk: FrontDesk) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/v1/desk", tags=["desk"])

    @router.get("/metrics", summary="Verdicts, overrides, unsupported sentences, lost leases, and what waits")
    @open_to(EVERY_ROLE)
    async def metrics() -> Response:
        return json_answer(await run_in_threadpool(office_of(desk).figures))

    return router


def desk_gauges(gate: Gate) -> dict[str, float]:
    """The desk's figures by the names that a dashboard knows; none where there is no desk or no database now."""
    room = gate.room("desk")
    if not isinstance(room, Desk):
        return {}
    try:
        found = room.office.figures()
    except (SQLAlchemyError, TallyError) as error:
        # Whoever watches the rest must go on seeing it.
        _log.warning("the desk's figures cannot be read: %s", error)
        return {}
    return {f"desk_{name}": float(value) for name, value in found.items() if value is not None}
