"""The HTTP door, put together."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import tallystick
from tallystick.doors.http.answers import json_answer, problem_answer
from tallystick.doors.http.approval_routes import approval_routes
from tallystick.doors.http.asgi import App
from tallystick.doors.http.audit_routes import audit_routes
from tallystick.doors.http.desk import FrontDesk, Refused
from tallystick.doors.http.evidence_routes import evidence_routes
from tallystick.doors.http.fast import Fast
from tallystick.doors.http.gate_routes import gate_routes
from tallystick.doors.http.guard import Guard
from tallystick.doors.http.measure import Measured
from tallystick.errors import LedgerError, TallyError
from tallystick.gate.codes import Category
from tallystick.telemetry.observer import Telemetry

_DESCRIPTION = "Every tool call is a proposal, every run leaves a receipt, every claim shows its evidence."


def api(desk: FrontDesk) -> FastAPI:
    """The documented application: every route, without the guard."""
    app = FastAPI(
        title="Tallystick", version=tallystick.__version__, description=_DESCRIPTION, docs_url="/api/docs",
        redoc_url=None, openapi_url="/api/openapi.json",
    )  # fmt: skip
    for routes in (gate_routes, approval_routes, audit_routes, evidence_routes):
        app.include_router(routes(desk))
    _translate_errors(app)

    @app.get("/health", tags=["server"], summary="Whether the gate takes calls")
    async def health() -> Response:
        obstacle = desk.gate.ledger.obstacle()
        state: dict[str, Any] = {
            "status": "ok" if obstacle is None else "unavailable",
            "version": tallystick.__version__,
        }
        if obstacle is not None:
            state["ledger"] = obstacle
        return json_answer(state, 200 if obstacle is None else 503)

    return app


def guarded(app: FastAPI, desk: FrontDesk, telemetry: Telemetry | None) -> App:
    """The application as it is served: metrics, then the guard, then the short way, then the routes."""
    if telemetry is not None and telemetry.metrics is not None:
        metrics = telemetry.metrics

        @app.get("/metrics", tags=["server"], summary="Prometheus metrics")
        async def exposition() -> Response:
            return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

        return Measured(Guard(Fast(app, desk), desk.gate.settings.server), metrics)
    return Guard(Fast(app, desk), desk.gate.settings.server)


def _translate_errors(app: FastAPI) -> None:
    """Every error leaves as a problem payload; FastAPI's own 422 for a bad body is a 400."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)  # noqa: S101 - registered for this type alone
        return problem_answer(str(error.category), str(error), error.status, endpoint=request.url.path, hint=error.hint)

    async def bad_request(request: Request, error: Exception) -> Response:
        del error  # its text repeats what was sent
        return problem_answer(
            Category.VALIDATION_ERROR, "the request does not fit the route", 400, endpoint=request.url.path,
            hint="See /api/docs.",
        )  # fmt: skip

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        category = Category.DOWNSTREAM_ERROR if error.status_code in {404, 409} else Category.VALIDATION_ERROR
        return problem_answer(str(category), str(error.detail), error.status_code, endpoint=request.url.path)

    async def tally_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, TallyError)  # noqa: S101
        ledger = isinstance(error, LedgerError)
        category = Category.TOOL_UNAVAILABLE if ledger else Category.VALIDATION_ERROR
        return problem_answer(category, str(error), 503 if ledger else 400, endpoint=request.url.path, hint=error.code)

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(RequestValidationError, bad_request)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(TallyError, tally_error)
