"""The short way for `POST /api/gate/call`.

Routing, dependency injection and response models cost more than the whole gate does. This one path is served straight
from the ASGI messages, by the same function the documented route calls; everything else goes to the application.
"""

import logging
from time import perf_counter

import orjson

from tallystick.doors.http import gate_calls
from tallystick.doors.http.answers import CHALLENGE
from tallystick.doors.http.asgi import BODY_READY, App, Header, Receive, Scope, Send
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.guard import FOR_API, Answer
from tallystick.doors.http.measure import CRASHED, ENDPOINT, RequestMetrics
from tallystick.doors.http.translate import error_answer
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.session import Caller

PATH = "/api/gate/call"
REMEMBERED = 256
"""Heads that are kept; a client that makes up new ones gains nothing but the longer way."""
Head = tuple[str | None, tuple[Header, ...]]
_TYPE = (b"content-type", b"application/json")
_log = logging.getLogger("tallystick.http")


class Fast:
    """Stands before the application and takes one path out of it."""

    def __init__(self, app: App, desk: HttpContext) -> None:
        self._app = app
        self._desk = desk
        self.regulars: dict[Head, Caller] = {}
        """Heads that the guard let through, and whom they made known; only while no tokens are asked for."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the call, or pass the request on."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope[ENDPOINT] = PATH
        caller = self._desk.caller(scope)
        if isinstance(caller, Caller) and BODY_READY in scope and not self._desk.identity.enabled:
            if len(self.regulars) >= REMEMBERED:
                self.regulars.clear()
            self.regulars[head_of(scope)] = caller
        await self.serve(caller, scope, receive, send)

    async def serve(
        self, caller: Caller | Rejection, scope: Scope, receive: Receive, send: Send, more: tuple[Header, ...] = ()
    ) -> int:
        """Make the call and answer with what came of it, and with more headers where nobody adds them later."""
        message = await receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            body = await _whole(body, receive)
        try:
            outcome = await gate_calls.call(self._desk, body, caller)
            answer, status = orjson.dumps(outcome.as_dict()), outcome.http
        except Exception as error:  # noqa: BLE001 - the application would have answered it too
            _log.exception("a call failed in the gate itself")
            await error_answer(error, scope)(scope, receive, Answer(scope, send).send if more else send)
            return CRASHED
        headers: list[Header] = [_TYPE, (b"content-length", str(len(answer)).encode()), *more]
        if status == NO_TOKEN.http:
            headers.append(CHALLENGE)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})
        return status


class Regulars:
    """Stands around everything, for clients that come again with the very same head.

    The guard's answer depends on nothing but the head, and so does who is calling while no tokens are asked for. What
    was let through once is served at once; whatever is new, or has a token, goes the whole way.
    """

    def __init__(self, app: App, fast: Fast, metrics: RequestMetrics | None) -> None:
        self._app = app
        self._fast = fast
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a call of somebody known, or pass the request on."""
        known = None
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST" and BODY_READY in scope:
            known = self._fast.regulars.get(head_of(scope))
        if known is None:
            await self._app(scope, receive, send)
            return
        begun, status = perf_counter(), CRASHED
        try:
            status = await self._fast.serve(known, scope, receive, send, FOR_API)
        finally:
            if self._metrics is not None:
                self._metrics.request(PATH, "POST", status, perf_counter() - begun)


def head_of(scope: Scope) -> Head:
    """Who sent a request, and with which headers."""
    client = scope.get("client")
    return client[0] if client else None, tuple(scope["headers"])


async def _whole(begun: bytes, receive: Receive) -> bytes:
    body = bytearray(begun)
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)
