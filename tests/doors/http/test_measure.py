"""Requests are counted by route, method and status, never by what a client makes up."""

from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.http.guard import Guard
from tallystick.doors.http.measure import ENDPOINT, Measured
from tallystick.settings import ServerSettings
from tallystick.telemetry.metrics import Metrics
from tests.doors.http.asgi_calls import LOCAL, echo, request


def _application() -> FastAPI:
    app = FastAPI(openapi_url=None)
    inner = APIRouter(prefix="/receipts")
    outer = APIRouter(prefix="/sessions/{session_id}")

    @inner.get("/{receipt_id}")
    async def receipt(session_id: str, receipt_id: str) -> str:
        return session_id + receipt_id

    @app.get("/files/{path:path}")
    async def file(path: str) -> str:
        return path

    @app.get("/broken")
    async def broken() -> None:
        raise ZeroDivisionError

    outer.include_router(inner)
    app.include_router(outer, prefix="/api")
    return app


def counted(path: str, *, app: Any = None, method: str = "GET") -> list[tuple[str, str, int]]:
    metrics = Metrics()
    measured = Measured(Guard(app or _application(), ServerSettings()), metrics)
    request(measured, [LOCAL], path=path, method=method)
    return list(metrics.snapshot().requests)


@pytest.mark.promise("telemetry.requests")
@pytest.mark.parametrize(
    ("path", "endpoint", "status"),
    [
        ("/api/sessions/s1/receipts/r7", "/api/sessions/{session_id}/receipts/{receipt_id}", 200),
        ("/api/sessions/receipts/receipts/receipts", "/api/sessions/{session_id}/receipts/{receipt_id}", 200),
        ("/files/a/b/c.md", "/files/{path}", 200),
        ("/nowhere", "other", 404),
        ("/api/sessions/s1", "other", 404),
    ],
)
def test_a_request_counts_under_its_route_s_template(path: str, endpoint: str, status: int) -> None:
    assert counted(path) == [(endpoint, "GET", status)]


@pytest.mark.promise("telemetry.requests")
def test_refused_requests_and_strange_methods_count_too() -> None:
    metrics = Metrics()
    measured = Measured(Guard(echo, ServerSettings()), metrics)
    request(measured, [(b"host", b"evil.example")], method="BREW")
    assert list(metrics.snapshot().requests) == [("other", "other", 403)]


@pytest.mark.promise("telemetry.requests")
def test_a_request_that_ends_in_an_error_counts_as_500() -> None:
    metrics = Metrics()
    measured = Measured(Guard(_application(), ServerSettings()), metrics)
    with pytest.raises(ZeroDivisionError):
        request(measured, [LOCAL], path="/broken", method="GET")
    assert list(metrics.snapshot().requests) == [("/broken", "GET", 500)]


def test_a_handler_outside_the_router_names_its_own_template() -> None:
    async def short_way(scope: Any, receive: Any, send: Any) -> None:
        scope[ENDPOINT] = "/api/gate/call"
        await echo(scope, receive, send)

    assert counted("/api/gate/call", app=short_way, method="POST") == [("/api/gate/call", "POST", 200)]


def test_what_is_no_request_passes_uncounted() -> None:
    metrics = Metrics()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "lifespan"

    request(Measured(app, metrics), [], type="lifespan")
    assert metrics.snapshot().requests == {}


@pytest.mark.promise("telemetry.requests")
@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9), max_size=6))
def test_no_path_makes_a_label_of_its_own(parts: list[str]) -> None:
    labels = {endpoint for endpoint, _, _ in counted("/" + "/".join(parts))}
    assert labels <= {"other", "/api/sessions/{session_id}/receipts/{receipt_id}", "/files/{path}", "/broken"}
