"""HTTP/1.1 protocol: uvicorn's httptools protocol with limits on request heads and idle connections.

uvicorn with httptools accepts a head of any size, waits for it without a timeout, and never closes a connection that
sends nothing. Here heads are bounded in size and time, and every error is a problem payload.
"""

import asyncio
import contextlib
import resource
from time import monotonic
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tallystick.doors.http.asgi import App, Receive, Scope, Send
from tallystick.doors.http.guard import GuardRefusal, with_security
from tallystick.gate.codes import Category
from tallystick.settings import ServerSettings

MAX_HEAD_BYTES = 32 * 1024
"""Maximum size of request line and headers; a token of 16 KiB fits."""
HEAD_TIMEOUT_S = 10.0
"""Seconds from connecting, or from the first byte of a later request, to the end of the head."""
KEEP_ALIVE_S = 5

HEAD_TOO_LARGE = GuardRefusal.of(
    431, Category.VALIDATION_ERROR, "The request's head is too large.", "Send shorter headers and a shorter URL."
)
NOT_HTTP = GuardRefusal.of(
    400, Category.VALIDATION_ERROR, "This is not a valid HTTP/1.1 request.", "Check Content-Length and the framing."
)
HEAD_TOO_SLOW = GuardRefusal.of(
    408, Category.VALIDATION_ERROR, "The request's head did not arrive in time.", "Send the whole head at once."
)


class BoundedHttp(HttpToolsProtocol):
    """One connection, with one timer that periodically checks for timeouts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._head_bytes = 0
        self._piece_bytes = 0
        self._due: float | None = None
        """Deadline for the client's next data; None while a request is being answered."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the first head."""
        super().connection_made(transport)
        self._due = monotonic() + HEAD_TIMEOUT_S
        self._timer = self.loop.call_later(min(HEAD_TIMEOUT_S, self.timeout_keep_alive), self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Stop the timer: the WebSocket protocol takes over the connection."""
        self._stop()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Parse the data, then check whether a head is still incomplete."""
        began_before = self._in_head
        self._piece_bytes = len(data)
        super().data_received(data)
        if self._in_head:
            self._more_head(len(data) if began_before else 0)

    def on_message_begin(self) -> None:
        """Note that a head has started."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop the head timeout, and check the size of a head that arrived in a single large piece."""
        app = self.app
        if self._head_bytes + self._piece_bytes > MAX_HEAD_BYTES and self._head_size() > MAX_HEAD_BYTES:
            self.app = _head_too_large
        self._in_head = False
        self._head_bytes = 0
        self._due = None
        super().on_headers_complete()
        self.app = app

    def on_response_complete(self) -> None:
        """Start the keep-alive timeout, unless the next request has already arrived."""
        waits = not self.pipeline
        super().on_response_complete()
        if waits:
            self._due = monotonic() + self.timeout_keep_alive

    def send_400_response(self, msg: str) -> None:
        """Answer a request that the parser cannot read with a problem payload."""
        del msg
        self._in_head = False
        self._answer(NOT_HTTP)

    def _more_head(self, size: int) -> None:
        """Count bytes of an incomplete head; `size` is 0 if the data also ended another request (share unknown)."""
        if not self._head_bytes:
            self._due = monotonic() + HEAD_TIMEOUT_S
        self._head_bytes += size or 1
        if self._head_bytes > MAX_HEAD_BYTES:
            self._answer(HEAD_TOO_LARGE)

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _look(self) -> None:
        left = self.timeout_keep_alive if self._due is None else self._due - monotonic()
        if left > 0:
            self._timer = self.loop.call_later(left, self._look)
        elif self._head_bytes:
            self._answer(HEAD_TOO_SLOW)
        elif not self.transport.is_closing():
            self.transport.close()

    def _answer(self, refusal: GuardRefusal) -> None:
        if self.transport.is_closing():
            return
        length = str(len(refusal.body)).encode()
        headers = with_security(
            [(b"content-type", b"application/json"), (b"content-length", length), (b"connection", b"close")]
        )
        lines = [b": ".join(header) + b"\r\n" for header in headers]
        self.transport.write(b"".join([STATUS_LINE[refusal.status], *lines, b"\r\n", refusal.body]))
        self.transport.close()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def uvicorn_options(app: App, server: ServerSettings) -> dict[str, Any]:
    """Return the arguments for `uvicorn.Config`."""
    return {
        "app": app,
        "host": server.host,
        "port": server.port,
        "http": BoundedHttp,
        "proxy_headers": False,  # a forwarded address must never make a remote client count as local
        "server_header": False,
        "access_log": False,
        "log_config": None,
        "timeout_keep_alive": KEEP_ALIVE_S,
    }


def allow_many_connections() -> None:
    """Raise the open-file limit to the hard limit, so that idle connections do not exhaust it soon."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _head_too_large(scope: Scope, receive: Receive, send: Send) -> None:
    del receive
    await HEAD_TOO_LARGE.answer(scope, send)
