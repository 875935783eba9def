"""The short way for `POST /api/gate/call`.

Routing, dependency injection and response models cost more than the whole gate does. This one path is served straight
from the ASGI messages, by the same function the documented route calls; everything else goes to the application.
"""

import orjson

from tallystick.doors.http import gate_calls
from tallystick.doors.http.asgi import App, Receive, Scope, Send
from tallystick.doors.http.desk import FrontDesk
from tallystick.doors.http.measure import ENDPOINT

PATH = "/api/gate/call"
_TYPE = (b"content-type", b"application/json")


class Fast:
    """Stands before the application and takes one path out of it."""

    def __init__(self, app: App, desk: FrontDesk) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the call, or pass the request on."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope[ENDPOINT] = PATH
        message = await receive()
        body: bytes = message.get("body", b"")
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
        outcome = await gate_calls.call(self._desk, body, self._desk.caller(scope))
        answer = orjson.dumps(outcome.as_dict())
        headers = [_TYPE, (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": outcome.http, "headers": headers})
        await send({"type": "http.response.body", "body": answer})
