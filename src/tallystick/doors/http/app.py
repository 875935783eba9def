"""Build the HTTP application."""

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute

import tallystick
from tallystick.app.discovery import closed_room, manifests, resolve
from tallystick.doors.http.agents_routes import agents_routes
from tallystick.doors.http.ai_routes import ai_routes
from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.approval_routes import approval_routes
from tallystick.doors.http.asgi import App
from tallystick.doors.http.audit_routes import audit_routes
from tallystick.doors.http.context import HttpContext, access_of, open_to
from tallystick.doors.http.docs_page import docs_page
from tallystick.doors.http.gate_routes import DirectCall, evidence_routes, gate_routes
from tallystick.doors.http.guard import Guard
from tallystick.doors.http.measure import Measured
from tallystick.doors.http.notification_routes import notification_routes
from tallystick.doors.http.openai_routes import openai_routes
from tallystick.doors.http.problems import PROBLEM
from tallystick.doors.http.telemetry_routes import telemetry_routes
from tallystick.doors.http.tiers_routes import tiers_routes
from tallystick.doors.http.translate import translate_errors
from tallystick.doors.identity.admission import PUBLIC_PATHS
from tallystick.errors import ConfigError
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.plugin import Manifest
from tallystick.telemetry.metrics import Metrics
from tallystick.telemetry.observer import Telemetry

_DESCRIPTION = "Every tool call is a proposal, every run leaves a receipt, every claim shows its evidence."
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def api(context: HttpContext) -> FastAPI:
    """Build the documented application: every route, without the guard."""
    app = FastAPI(
        title="Tallystick",
        version=tallystick.__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
        responses={"default": PROBLEM},
        dependencies=[Depends(context.admit)],
    )
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
        _include(app, routes(context))
    for name in context.gate.rooms():
        manifest = manifests()[name]
        for router in () if manifest.http is None else resolve(manifest, "http", manifest.http)(context):
            _include(app, router)
    for manifest in manifests().values():
        if manifest.name not in context.gate.rooms():
            _answer_for_closed_room(app, manifest)
    translate_errors(app)
    _own_routes(app, context)
    return app


def _include(app: FastAPI, router: APIRouter) -> None:
    # Before including it: afterwards the application does not list a router's routes individually.
    document_roles(router.routes)
    app.include_router(router)


def guarded(app: FastAPI, context: HttpContext, telemetry: Telemetry | None) -> App:
    """Build the application as served: metrics around the guard, then the direct call, then the routes."""
    behind_guard = Guard(DirectCall(app, context), context.gate.settings.server)
    metrics = None if telemetry is None else telemetry.metrics
    if metrics is not None:
        _metrics_route(app, context, metrics)
    document_roles(app.routes)
    return behind_guard if metrics is None else Measured(behind_guard, metrics)


def _answer_for_closed_room(app: FastAPI, manifest: Manifest) -> None:
    """Answer on the paths of a room that is off or unavailable with the command that changes it."""

    @open_to(EVERY_ROLE)
    async def closed() -> Response:
        raise closed_room(manifest)

    for path in manifest.paths:
        for shape in (path, path + "/{rest:path}"):
            app.add_api_route(shape, closed, methods=list(METHODS), include_in_schema=False)


def document_roles(routes: Iterable[BaseRoute]) -> None:
    """Write each route's roles into the API document as `x-roles`.

    Raises:
        ConfigError: A route that is not public declares no roles, so nobody could use it.
    """
    for route in routes:
        if isinstance(route, APIRoute) and route.path not in PUBLIC_PATHS:
            roles = access_of(route.endpoint).roles
            if not roles:
                message = f"{route.path} is declared open to no role: add @open_to(...) to its handler."
                raise ConfigError(message, code="route_without_roles")
            route.openapi_extra = {**(route.openapi_extra or {}), "x-roles": sorted(roles)}


def _metrics_route(app: FastAPI, context: HttpContext, metrics: Metrics) -> None:
    @app.get("/metrics", tags=["server"], summary="Prometheus metrics", response_class=PlainTextResponse)
    @open_to(EVERY_ROLE)
    async def exposition() -> Response:
        gauges = await run_in_threadpool(context.gate.gauges)
        # Importing the Prometheus client takes longer than most commands.
        from tallystick.telemetry.exposition import prometheus_text  # noqa: PLC0415 - see above

        return Response(prometheus_text(metrics, gauges), media_type=_PROMETHEUS)


def _own_routes(app: FastAPI, context: HttpContext) -> None:
    """Add the public routes: health and API documentation. They reveal nothing about the workspace."""

    @app.get("/health", tags=["server"], summary="Whether the gate takes calls", responses=_HEALTH)
    async def health() -> Response:
        obstacle = context.gate.ledger.obstacle()
        healthy = obstacle is None and context.worker_fault is None
        state: dict[str, Any] = {
            "status": "ok" if healthy else "unavailable",
            "version": tallystick.__version__,
        }
        if obstacle is not None:
            state["ledger"] = obstacle
        if context.worker_fault is not None:
            state["worker"] = context.worker_fault
        return json_answer(state, 200 if healthy else 503)

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(docs_page(app.openapi()), media_type="text/html")


_HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"description": "It does."},
    503: {"description": "It does not: `ledger` or `worker` says what stands in the way."},
}
