"""How the server speaks HTTP/1.1: uvicorn's parser with bounds it does not have.

uvicorn with httptools reads a head of any size and waits for it without end, and leaves a connection that says nothing
open for ever. Here a head has a size and a time, and every error is a problem payload.
"""

import asyncio
import contextlib
import resource
from time import monotonic
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tallystick.doors.http.asgi import App, Receive, Scope, Send
from tallystick.doors.http.guard import Refusal, with_security
from tallystick.gate.codes import Category
from tallystick.settings import ServerSettings

MAX_HEAD_BYTES = 32 * 1024
"""Request line and headers; a token of 16 KiB fits."""
HEAD_TIMEOUT_S = 10.0
"""From connecting, or from the first byte of a later request, to the end of the head."""
KEEP_ALIVE_S = 5

HEAD_TOO_LARGE = Refusal.of(
    431, Category.VALIDATION_ERROR, "The request's head is too large.", "Send shorter headers and a shorter URL."
)
NOT_HTTP = Refusal.of(
    400, Category.VALIDATION_ERROR, "This is not a valid HTTP/1.1 request.", "Check Content-Length and the framing."
)
HEAD_TOO_SLOW = Refusal.of(
    408, Category.VALIDATION_ERROR, "The request's head did not arrive in time.", "Send the whole head at once."
)


class BoundedHttp(HttpToolsProtocol):
    """One connection, with one timer that looks now and then whether something is overdue."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._head_bytes = 0
        self._piece_bytes = 0
        self._due: float | None = None
        """Until when the client has to say something; None while a request is being answered."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._due = monotonic() + HEAD_TIMEOUT_S
        self._timer = self.loop.call_later(min(HEAD_TIMEOUT_S, self.timeout_keep_alive), self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        self._stop()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """The connection is another protocol's from now on."""
        self._stop()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Parse, and look afterwards whether a head is still under way."""
        began_before = self._in_head
        self._piece_bytes = len(data)
        super().data_received(data)
        if self._in_head:
            self._more_head(len(data) if began_before else 0)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete; one that came in a single large piece is measured here."""
        app = self.app
        if self._head_bytes + self._piece_bytes > MAX_HEAD_BYTES and self._head_size() > MAX_HEAD_BYTES:
            self.app = _head_too_large
        self._in_head = False
        self._head_bytes = 0
        self._due = None
        super().on_headers_complete()
        self.app = app

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is here already."""
        waits = not self.pipeline
        super().on_response_complete()
        if waits:
            self._due = monotonic() + self.timeout_keep_alive

    def send_400_response(self, msg: str) -> None:
        """What the parser does not understand is answered like everything else."""
        del msg
        self._in_head = False
        self._answer(NOT_HTTP)

    def _more_head(self, size: int) -> None:
        """A head is under way. Of data that ended another request it is not known how much was head: size is 0 then."""
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

    def _answer(self, refusal: Refusal) -> None:
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
    """Arguments for `uvicorn.Config`."""
    return {
        "app": app,
        "host": server.host,
        "port": server.port,
        "http": BoundedHttp,
        "proxy_headers": False,  # a forwarded address must never make a stranger local
        "server_header": False,
        "access_log": False,
        "log_config": None,
        "timeout_keep_alive": KEEP_ALIVE_S,
    }


def allow_many_connections() -> None:
    """Raise the limit of open files as far as this user may, so that idle connections cannot use them up soon."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _head_too_large(scope: Scope, receive: Receive, send: Send) -> None:
    del receive
    await HEAD_TOO_LARGE.answer(scope, send)
