"""How the server speaks HTTP/1.1: uvicorn's parser with bounds it does not have.

uvicorn with httptools reads a head of any size and waits for it without end, and leaves a connection that says nothing
open for ever. Here a head has a size and a time, and every error is a problem payload. An answer that is ready as a
whole leaves in one write, with header lines made once: that pays for the security headers and more.
"""

import asyncio
import contextlib
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from tallystick.doors.http.asgi import BODY_READY, App, Header, Message, Receive, Scope, Send
from tallystick.doors.http.guard import Refusal, with_security
from tallystick.gate.codes import Category
from tallystick.settings import ServerSettings

MAX_HEAD_BYTES = 32 * 1024
"""Request line and headers; a token of 16 KiB fits."""
HEAD_TIMEOUT_S = 10.0
"""From connecting, or from the first byte of a later request, to the end of the head."""
KEEP_ALIVE_S = 5
REMEMBERED_LINES = 512

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
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, and look afterwards whether a head is still under way."""
        began_before = self._in_head
        super().data_received(data)
        if not self._in_head:
            self._stop_timer()
            return
        # Of data that ends one request and begins the next, how much is head is not known: count from the next piece.
        self._head_bytes += len(data) if began_before else 1
        if self._head_bytes > MAX_HEAD_BYTES:
            self._answer(HEAD_TOO_LARGE)
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._too_slow)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete; one that came in a single piece is measured here."""
        self._in_head = False
        self._head_bytes = 0
        size = len(self.url)
        for name, value in self.headers:
            size += len(name) + len(value) + 4
        app = self.app
        if size > MAX_HEAD_BYTES:
            self.app = _head_too_large
        before = self.cycle
        super().on_headers_complete()
        self.app = app
        if self.cycle is not before:
            self.cycle.send = WholeAnswer(self.cycle).send  # type: ignore[method-assign]

    def on_message_complete(self) -> None:
        """Nearly every body comes with its head; then no one need watch over it."""
        self.scope[BODY_READY] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What the parser does not understand is answered like everything else."""
        del msg
        self._in_head = False
        self._answer(NOT_HTTP)

    def _too_slow(self) -> None:
        self._head_timer = None
        if self._head_bytes:
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

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class WholeAnswer:
    """Stands before a request's `send`: holds the head back until the body comes, as ASGI asks.

    Head and whole body together are one write. Anything else (a stream, HEAD, a connection that ends or is slow)
    goes the server's own way.
    """

    __slots__ = ("_cycle", "_send", "_start")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._send = cycle.send
        self._start: Any = None

    async def send(self, message: Any) -> None:
        """Take one message of the answer."""
        if message["type"] == "http.response.start" and not self._cycle.response_started:
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            if self._whole(start, message):
                return
            await self._send(start)
        await self._send(message)

    def _whole(self, start: Message, message: Message) -> bool:
        """Write the answer if it is whole and nothing about the connection is out of the ordinary."""
        cycle = self._cycle
        body: bytes = message.get("body", b"")
        headers = dict(start.get("headers", ()))
        if (
            headers.get(b"content-length") != b"%d" % len(body)
            or message.get("more_body")
            or b"connection" in headers
            or b"transfer-encoding" in headers
            or not _ordinary(cycle)
        ):
            return False
        known = _lines.get
        lines = [STATUS_LINE[start["status"]]]
        lines += [known(header) or _new_line(header) for header in cycle.default_headers]
        lines += [known(header) or _new_line(header) for header in start["headers"]]
        lines += (b"\r\n", body)
        cycle.transport.write(b"".join(lines))
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        cycle.message_event.set()
        cycle.on_response()
        return True


def _ordinary(cycle: RequestResponseCycle) -> bool:
    return (
        cycle.keep_alive
        and not cycle.disconnected
        and not cycle.flow.write_paused
        and not cycle.access_log
        and cycle.scope["method"] != "HEAD"
    )


def _new_line(header: Header) -> bytes:
    """One line of a head; nearly all are the same each time."""
    name, value = header
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise ValueError("a header's name or value holds a character that would end it")
    line = name.lower() + b": " + value + b"\r\n"
    if len(_lines) >= REMEMBERED_LINES:
        _lines.clear()
    _lines[header] = line
    return line


_lines: dict[Header, bytes] = {}


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
    del scope, receive
    await HEAD_TOO_LARGE.send(send)
