"""The HTTP door, put together."""

from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

import tallystick
from tallystick.app.discovery import manifests, resolve
from tallystick.doors.http.agents_routes import agents_routes
from tallystick.doors.http.ai_routes import ai_routes
from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.approval_routes import approval_routes
from tallystick.doors.http.asgi import App
from tallystick.doors.http.audit_routes import audit_routes
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.docs_page import docs_page
from tallystick.doors.http.evidence_routes import evidence_routes
from tallystick.doors.http.fast import Fast, Regulars
from tallystick.doors.http.gate_routes import gate_routes
from tallystick.doors.http.guard import Guard
from tallystick.doors.http.measure import Measured
from tallystick.doors.http.notification_routes import notification_routes
from tallystick.doors.http.openai_routes import openai_routes
from tallystick.doors.http.problems import PROBLEM
from tallystick.doors.http.telemetry_routes import telemetry_routes
from tallystick.doors.http.tiers_routes import tiers_routes
from tallystick.doors.http.translate import translate_errors
from tallystick.telemetry.observer import Telemetry

_DESCRIPTION = "Every tool call is a proposal, every run leaves a receipt, every claim shows its evidence."
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def api(desk: HttpContext) -> FastAPI:
    """The documented application: every route, without the guard."""
    app = FastAPI(
        title="Tallystick", version=tallystick.__version__, description=_DESCRIPTION, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", redirect_slashes=False, responses={"default": PROBLEM},
    )  # fmt: skip
    for routes in (
        gate_routes,
        approval_routes,
        audit_routes,
        evidence_routes,
        ai_routes,
        agents_routes,
        tiers_routes,
        openai_routes,
        notification_routes,
        telemetry_routes,
    ):
        app.include_router(routes(desk))
    for name in desk.gate.rooms():
        reference = manifests()[name].http
        for router in () if reference is None else resolve(reference)(desk):
            app.include_router(router)
    translate_errors(app)
    _own_routes(app, desk)
    return app


def guarded(app: FastAPI, desk: HttpContext, telemetry: Telemetry | None) -> App:
    """The application as it is served: regulars, metrics, then the guard, then the short way, then the routes."""
    fast = Fast(app, desk)
    behind_guard = Guard(fast, desk.gate.settings.server)
    if telemetry is None or telemetry.metrics is None:
        return Regulars(behind_guard, fast, None)
    metrics = telemetry.metrics

    @app.get("/metrics", tags=["server"], summary="Prometheus metrics", response_class=PlainTextResponse)
    async def exposition(request: Request) -> Response:
        desk.require(request)
        gauges = await run_in_threadpool(desk.gate.gauges)
        return Response(metrics.exposition(gauges), media_type=_PROMETHEUS)

    return Regulars(Measured(behind_guard, metrics), fast, metrics)


def _own_routes(app: FastAPI, desk: HttpContext) -> None:
    """What anyone may ask: whether the server lives, and how it is spoken to. Neither says anything of the work."""

    @app.get("/health", tags=["server"], summary="Whether the gate takes calls", responses=_HEALTH)
    async def health() -> Response:
        obstacle = desk.gate.ledger.obstacle()
        state: dict[str, Any] = {
            "status": "ok" if obstacle is None else "unavailable",
            "version": tallystick.__version__,
        }
        if obstacle is not None:
            state["ledger"] = obstacle
        return json_answer(state, 200 if obstacle is None else 503)

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(docs_page(app.openapi()), media_type="text/html")


_HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"description": "It does."},
    503: {"description": "It does not: `ledger` says what stands in the way."},
}
