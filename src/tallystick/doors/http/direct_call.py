"""`POST /api/gate/call` without the router.

Routing, dependency injection and response models take longer than the gate itself. Behind the guard, this one path is
served directly from the ASGI messages by the same function as the documented route; every other request goes to the
application.
"""

import logging

import orjson

from tallystick.doors.http import gate_calls
from tallystick.doors.http.answers import CHALLENGE
from tallystick.doors.http.asgi import App, Header, Receive, Scope, Send
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.measure import ENDPOINT
from tallystick.doors.http.translate import error_answer
from tallystick.gate.codes import NO_TOKEN

PATH = "/api/gate/call"
_TYPE = (b"content-type", b"application/json")
_log = logging.getLogger("tallystick.http")


class DirectCall:
    """Serves one path in front of the application."""

    def __init__(self, app: App, desk: HttpContext) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the call and respond with its outcome, or pass the request on."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope[ENDPOINT] = PATH
        caller = self._desk.caller(scope)
        body = await _whole_body(receive)
        try:
            outcome = await gate_calls.call(self._desk, body, caller)
            answer, status = orjson.dumps(outcome.as_dict()), outcome.http
        except Exception as error:  # noqa: BLE001 - answered as the application would
            _log.exception("a call failed in the gate itself")
            await error_answer(error, scope)(scope, receive, send)
            return
        headers: list[Header] = [_TYPE, (b"content-length", str(len(answer)).encode())]
        if status == NO_TOKEN.http:
            headers.append(CHALLENGE)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _whole_body(receive: Receive) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)
