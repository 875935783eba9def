"""A pool of HTTP/1.1 connections to one server, for the relay: only what streamable HTTP needs.

Messages are sent as POST. A response is one JSON document or a stream of events, and the server may keep a stream of
its own (GET). A request is never retried automatically: a call that may have run must not run again.

This is no second general client: a call through the pool costs a quarter of one through the client library, and the
relay adds that time to every call (docs/decisions/0024-network-clients.md).
"""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import quote, urlsplit

import h11

from tallystick.errors import ConfigError

CONNECT_S = 15.0
IDLE_S = 4.0
"""Seconds for which an idle connection is reused; most servers close theirs after five."""
MOST_IDLE = 8
CHUNK = 64 * 1024
BREATH = 128
"""Body chunks after which the loop runs other tasks: one read may hold thousands of chunks."""

SAFE = "!#$%&'()*+,/:;=?@[]~"
"""Characters that need no quoting in a URL."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")


class ConnectionPoolError(Exception):
    """The server cannot be reached, or does not speak HTTP."""


def can_be_sent(value: str, name: str = "x") -> bool:
    """Return whether a value (and a name) is valid in a header."""
    return _VALUE.fullmatch(value) is not None and _NAME.fullmatch(name) is not None


@dataclass(kw_only=True)
class StreamedResponse:
    """A response: status and headers are read, the body is streamed."""

    status: int
    headers: Mapping[str, str]
    wire: "_Wire"

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body chunk by chunk.

        Raises:
            ConnectionPoolError: The body breaks off or is not valid HTTP.
        """
        for number in count(1):
            try:
                event = await self.wire.next_event()
            except asyncio.CancelledError:
                # Closing the connection tells the server that nobody reads the response.
                self.wire.close()
                raise
            except (OSError, h11.ProtocolError) as error:
                self.wire.close()
                raise ConnectionPoolError(f"the server's answer broke off ({type(error).__name__})") from None
            if not isinstance(event, h11.Data):
                return
            yield bytes(event.data)
            if number % BREATH == 0:
                await asyncio.sleep(0)

    @property
    def kind(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(kw_only=True)
class _Wire:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    state: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))
    used: float = 0.0

    async def next_event(self) -> object:
        while True:
            event = self.state.next_event()
            if event is not h11.NEED_DATA:
                return event
            self.state.receive_data(await self.reader.read(CHUNK))

    def usable(self, now: float) -> bool:
        """Return whether the connection can be reused for another request."""
        open_still = not self.writer.is_closing() and not self.reader.at_eof()
        return open_still and self.state.our_state is h11.IDLE and now - self.used < IDLE_S

    def close(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()


class ConnectionPool:
    """Connections to one server."""

    def __init__(self, url: str, headers: Iterable[tuple[str, str]]) -> None:
        """Parse the URL.

        Raises:
            ConfigError: The URL is not valid.
        """
        try:
            parts = urlsplit(url)
            self._host = (parts.hostname or "").encode("idna").decode()
            port, named = parts.port, parts.netloc.rpartition("@")[2].encode("idna").decode()
        except ValueError:
            # The URL may contain a password, so it is not shown.
            message = "--url: its host or port cannot be used. Write it as http://HOST:PORT/PATH."
            raise ConfigError(message, code="url_unusable") from None
        self._secure = parts.scheme == "https"
        self._port = port or (443 if self._secure else 80)
        # Percent-encode characters that a URL cannot contain; existing escapes stay.
        path, query = quote(parts.path or "/", safe=SAFE), quote(parts.query, safe=SAFE)
        self._target = path + (f"?{query}" if query else "")
        self._headers = [("Host", named), *headers]
        self._idle: list[_Wire] = []

    async def ask(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> StreamedResponse:
        """Send one request and wait for the response headers.

        Raises:
            ConnectionPoolError: There is no connection, or the response is not HTTP.
        """
        wire = await self._wire()
        sent = [*self._headers, *headers.items(), ("Content-Length", str(len(body)))]
        try:
            data = wire.state.send(h11.Request(method=method, target=self._target, headers=sent)) or b""
            if body:
                data += wire.state.send(h11.Data(data=body)) or b""
            data += wire.state.send(h11.EndOfMessage()) or b""
            wire.writer.write(data)
            await wire.writer.drain()
            event = await wire.next_event()
            while isinstance(event, h11.InformationalResponse):
                event = await wire.next_event()
        except asyncio.CancelledError:
            wire.close()
            raise
        except (OSError, ValueError, h11.ProtocolError) as error:
            wire.close()
            raise ConnectionPoolError(f"no HTTP answer ({type(error).__name__})") from None
        if not isinstance(event, h11.Response):
            wire.close()
            raise ConnectionPoolError("the server closed the connection without an answer")
        found = {name.decode().lower(): value.decode(errors="replace") for name, value in event.headers}
        return StreamedResponse(status=event.status_code, headers=found, wire=wire)

    def done(self, reply: StreamedResponse) -> None:
        """Return the connection of a completely read response to the pool; close it otherwise."""
        wire = reply.wire
        if wire.state.our_state is h11.DONE and wire.state.their_state is h11.DONE and len(self._idle) < MOST_IDLE:
            wire.state.start_next_cycle()
            wire.used = time.monotonic()
            self._idle.append(wire)
        else:
            wire.close()

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().close()

    async def _wire(self) -> _Wire:
        now = time.monotonic()
        while self._idle:
            wire = self._idle.pop()
            if wire.usable(now):
                return wire
            wire.close()
        try:
            opening = asyncio.open_connection(self._host, self._port, ssl=True if self._secure else None)
            reader, writer = await asyncio.wait_for(opening, CONNECT_S)
        except TimeoutError:
            raise ConnectionPoolError(f"no connection to {self._host}:{self._port} within {CONNECT_S:g} s") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConnectionPoolError(f"no connection to {self._host}:{self._port} ({why})") from None
        return _Wire(reader=reader, writer=writer)
