"""Measure requests and their duration by route, method and status."""

from time import perf_counter
from typing import Protocol

from tallystick.doors.http.asgi import STATUS, App, Receive, Scope, Send

ENDPOINT = "tallystick.endpoint"
"""Scope key under which a handler outside the router stores its route template."""
OTHER = "other"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
CRASHED = 500
"""The status that the server sends when the application sends none."""


class RequestMetrics(Protocol):
    """The port for request metrics."""

    def request(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        ...


class Measured:
    """Middleware around the guard, so that refused requests count too; the guard stores the status in the scope."""

    def __init__(self, app: App, metrics: RequestMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count it once it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        try:
            await self._app(scope, receive, send)
        finally:
            method = scope["method"]
            status = scope.get(STATUS, CRASHED)
            self._metrics.request(
                endpoint_of(scope), method if method in METHODS else OTHER, status, perf_counter() - begun
            )


def endpoint_of(scope: Scope) -> str:
    """Return the route's template, never the raw path: client-chosen values must not become metric labels."""
    named = scope.get(ENDPOINT)
    if isinstance(named, str):
        return named
    template = getattr(scope.get("route"), "path_format", None)
    if not isinstance(template, str):
        return OTHER
    params = scope.get("path_params") or {}
    # The route of an included router has only its own part of the template; take the prefix from the path.
    depth = template.count("/") + sum(str(value).count("/") for value in params.values())
    before = scope["path"].split("/")
    before = before[: len(before) - depth]
    outer = {str(value): name for name, value in params.items() if f"{{{name}}}" not in template}
    return "/".join(f"{{{outer[part]}}}" if part in outer else part for part in before) + template
