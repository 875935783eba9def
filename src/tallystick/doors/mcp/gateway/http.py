"""The gateway over streamable HTTP: all clients share one relay and one set of servers.

Each HTTP request is one line to the relay, under an id of its own, and its answer goes back under the client's id. A
client with a session has a stream for what no request has asked for. Only programs on this machine are answered.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from itertools import count
from typing import Any

from tallystick.doors.identity.loopback import is_local, is_loopback_host, split_host
from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.jsonrpc import Ambiguous, Message
from tallystick.doors.mcp.lines import LineReader, LineWriter
from tallystick.doors.mcp.relay.messages import SHARED_CLIENT

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
PATH = "/mcp"
SESSION = "mcp-session-id"
STREAMS = frozenset({jsonrpc.CALL, "subscriptions/listen"})
"""Requests that are answered with a stream of events, since more than one message may come."""
MOST_SESSIONS = 1024
OK, ACCEPTED, BAD, FORBIDDEN, NOT_FOUND, NOT_ALLOWED, TOO_LARGE = 200, 202, 400, 403, 404, 405, 413
JSON, EVENTS = b"application/json", b"text/event-stream"
Queue = asyncio.Queue[bytes | None]


class Pending:
    """A request of an HTTP client that the relay has not answered yet."""

    def __init__(self, ident: Any, token: Any) -> None:
        self.ident, self.token = ident, token
        self.queue: Queue = asyncio.Queue()


class GatewayDoor:
    """An ASGI application in front of a relay that speaks lines."""

    def __init__(self, read_fd: int, write_fd: int, *, longest: int) -> None:
        """Connect to the relay.

        Args:
            read_fd: Lines from the relay.
            write_fd: Lines to the relay.
            longest: Maximum bytes of a message.
        """
        self._longest = longest
        self._relay = LineWriter(write_fd, on_gone=lambda: None)
        self._reader = LineReader(
            read_fd, longest=2 * longest, on_line=self._take, on_long=lambda *_: None, on_end=self._gone
        )
        self._pending: dict[str, Pending] = {}
        self._sessions: dict[str, str] = {}
        """Session → the client's name."""
        self._listening: dict[str, Queue] = {}
        self._numbers = count(1)
        self._reader.start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in scope["headers"]}
        session = headers.get(SESSION)
        if not _is_allowed(scope, headers):
            await _answer(send, FORBIDDEN, _error("requests of other machines and of web pages are refused"))
        elif scope["path"] != PATH or (session is not None and session not in self._sessions):
            await _answer(send, NOT_FOUND, _error("there is no such path or session; initialize again"))
        elif scope["method"] == "POST":
            await self._post(headers, session, receive, send)
        elif scope["method"] == "GET" and session is not None:
            await self._listen(session, receive, send)
        elif scope["method"] == "DELETE" and session is not None:
            self._leave(session)
            await _answer(send, OK, b"")
        else:
            await _answer(send, NOT_ALLOWED, _error("use POST, or GET with a session"))

    # -- from the client -----------------------------------------------------------------------------------------------

    async def _post(self, headers: dict[str, str], session: str | None, receive: Receive, send: Send) -> None:
        body = await _whole(receive, self._longest)
        if body is None:
            await _answer(send, TOO_LARGE, _error("the message is too large"))
            return
        message = jsonrpc.read_strict(body)
        if isinstance(message, Ambiguous) or not isinstance(message, dict):
            await _answer(send, BAD, _error("not one JSON message with each key once", code=jsonrpc.PARSE_ERROR))
            return
        wrong = _wrong_with(message, headers, session)
        if wrong is not None:
            await _answer(send, BAD, wrong)
        elif "id" not in message or not isinstance(message.get("method"), str):
            # Notifications other than a cancellation, and answers, have nobody to go to: servers cannot ask here.
            if message.get("method") == jsonrpc.CANCELLED:
                self._cancel(answers.params_of(message).get("requestId"))
            await _answer(send, ACCEPTED, b"")
        else:
            await self._ask(message, session, receive, send)

    async def _ask(self, message: Message, session: str | None, receive: Receive, send: Send) -> None:
        more: list[tuple[bytes, bytes]] = []
        if message["method"] == jsonrpc.INITIALIZE:
            session = self._enter(message)
            more = [(SESSION.encode(), session.encode())]
        own = f"http-{next(self._numbers)}"
        line, pending = self._prepared(own, message, session)
        self._pending[own] = pending
        self._relay.send(line)
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await self._reply(message, pending, gone, send, more)
        finally:
            gone.cancel()
            if self._pending.pop(own, None) is not None:
                # The client left before the answer came.
                self._relay.send(jsonrpc.notification(jsonrpc.CANCELLED, {"requestId": own}))

    async def _reply(
        self,
        message: Message,
        pending: Pending,
        gone: "asyncio.Future[None]",
        send: Send,
        more: list[tuple[bytes, bytes]],
    ) -> None:
        streams = message["method"] in STREAMS
        if streams:
            await _start(send, OK, EVENTS, more)
        async for line in _lines(pending.queue, gone):
            if not streams:
                await _answer(send, OK, line, *more)
                return
            await send({"type": "http.response.body", "body": b"data: " + line + b"\n\n", "more_body": True})
        if streams:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _prepared(self, own: str, message: Message, session: str | None) -> tuple[bytes, Pending]:
        """Return a request under an id of its own, and with the name of its client for the receipts."""
        params, meta = answers.params_of(message), dict(answers.meta_of(message))
        token = meta.get("progressToken")
        if token is not None:
            meta["progressToken"] = own
        info = meta.get(answers.CLIENT)
        name = info.get("name") if isinstance(info, dict) else self._sessions.get(session or "")
        meta[SHARED_CLIENT] = {"session": (session or "")[:8], "name": name if isinstance(name, str) else ""}
        if message["method"] == jsonrpc.INITIALIZE:
            # The servers are shared, so none can ask one of the clients.
            params = {**params, "capabilities": {}}
        line = jsonrpc.written({**message, "id": own, "params": {**params, "_meta": meta}})
        return line, Pending(message["id"], token)

    def _cancel(self, ident: Any) -> None:
        # Ids of different clients may be equal: a request is cancelled by closing it, and this only hastens it.
        found = [own for own, one in self._pending.items() if one.ident == ident]
        if len(found) == 1:
            self._relay.send(jsonrpc.notification(jsonrpc.CANCELLED, {"requestId": found[0]}))
            self._pending.pop(found[0]).queue.put_nowait(None)

    def _enter(self, message: Message) -> str:
        info = answers.params_of(message).get("clientInfo")
        session = secrets.token_hex(16)
        self._sessions[session] = str(info.get("name", "")) if isinstance(info, dict) else ""
        while len(self._sessions) > MOST_SESSIONS:
            self._leave(next(iter(self._sessions)))
        return session

    def _leave(self, session: str) -> None:
        self._sessions.pop(session, None)
        if (queue := self._listening.pop(session, None)) is not None:
            queue.put_nowait(None)

    async def _listen(self, session: str, receive: Receive, send: Send) -> None:
        queue: Queue = asyncio.Queue()
        self._listening[session] = queue
        gone = asyncio.ensure_future(_disconnected(receive))
        await _start(send, OK, EVENTS)
        # The server holds the head back until a body follows.
        await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
        try:
            async for line in _lines(queue, gone):
                await send({"type": "http.response.body", "body": b"data: " + line + b"\n\n", "more_body": True})
        finally:
            gone.cancel()
            if self._listening.get(session) is queue:
                del self._listening[session]
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    # -- from the relay ------------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        message = jsonrpc.read(line) or jsonrpc.read_anyhow(line)
        if not isinstance(message, dict):
            return
        if jsonrpc.is_answer(message):
            pending = self._pending.pop(str(message.get("id")), None)
            if pending is not None:
                pending.queue.put_nowait(_with_id(line, message, pending.ident))
                pending.queue.put_nowait(None)
        elif message.get("method") == "notifications/progress":
            self._progress(message)
        elif isinstance(subscribed := answers.meta_of(message).get(answers.SUBSCRIPTION), str):
            self._on_stream(subscribed, message)
        elif "id" not in message:
            for queue in self._listening.values():
                queue.put_nowait(line)

    def _progress(self, message: Message) -> None:
        params = answers.params_of(message)
        pending = self._pending.get(str(params.get("progressToken")))
        if pending is not None:
            told = {**message, "params": {**params, "progressToken": pending.token}}
            pending.queue.put_nowait(jsonrpc.written(told))

    def _on_stream(self, own: str, message: Message) -> None:
        pending = self._pending.get(own)
        if pending is not None:
            params = answers.params_of(message)
            meta = {**answers.meta_of(message), answers.SUBSCRIPTION: pending.ident}
            pending.queue.put_nowait(jsonrpc.written({**message, "params": {**params, "_meta": meta}}))

    def _gone(self) -> None:
        for queue in (*(one.queue for one in self._pending.values()), *self._listening.values()):
            queue.put_nowait(None)

    def close(self) -> None:
        """Close both ends; the relay ends with its input."""
        self._gone()
        self._reader.pause()
        self._relay.close(end=True)


def _is_allowed(scope: Scope, headers: dict[str, str]) -> bool:
    """Return whether a request comes from a program on this machine and not from a page of another site."""
    origin = headers.get("origin")
    return is_local(scope) and (origin is None or is_loopback_host(split_host(origin.partition("://")[2])[0]))


def _wrong_with(message: Message, headers: dict[str, str], session: str | None) -> bytes | None:
    """Return the error for a request that is of no revision, or whose headers say something else."""
    if session is not None or message.get("method") == jsonrpc.INITIALIZE:
        return None
    if answers.sessionless_revision(message) is None:
        return _error("a request without a session names its revision in _meta", ident=message.get("id"))
    from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request  # noqa: PLC0415 - takes a second

    found = classify_inbound_request(message, headers=headers)
    if isinstance(found, InboundLadderRejection):
        return answers.error(message.get("id"), found.code, found.message, found.data)
    return None


def _with_id(line: bytes, message: Message, ident: Any) -> bytes:
    """Return an answer under the client's own id; the result's bytes stay as they are."""
    if "result" not in message:
        return jsonrpc.written({**message, "id": ident})
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (jsonrpc.dumped(ident), jsonrpc.result_bytes(line, message))


def _error(text: str, *, code: int = jsonrpc.INVALID_REQUEST, ident: Any = None) -> bytes:
    return answers.error(ident, code, f"tallystick: {text}")


async def _lines(queue: Queue, gone: "asyncio.Future[None]") -> AsyncIterator[bytes]:
    """Yield what is put into a queue until its end, or until the client has left."""
    while not gone.done():
        line = asyncio.ensure_future(queue.get())
        waited: set[asyncio.Future[Any]] = {line, gone}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not line.done():
            line.cancel()
            return
        said = line.result()
        if said is None:
            return
        yield said


async def _whole(receive: Receive, longest: int) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > longest:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(send: Send, status: int, kind: bytes, more: list[tuple[bytes, bytes]] | None = None) -> None:
    headers = [(b"content-type", kind), (b"cache-control", b"no-store"), *(more or ())]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _answer(send: Send, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    await _start(send, status, JSON, [(b"content-length", str(len(body)).encode()), *more])
    await send({"type": "http.response.body", "body": body})


async def serve_http(read_fd: int, write_fd: int, *, longest: int, port: int, told: Callable[[str], None]) -> None:
    """Serve on this machine until cancelled or stopped by a signal."""
    import socket  # noqa: PLC0415 - only over HTTP

    import mcp.shared.inbound  # noqa: F401, PLC0415 - loads before the first request
    import uvicorn  # noqa: PLC0415 - only over HTTP

    door = GatewayDoor(read_fd, write_fd, longest=longest)
    listening = socket.create_server(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(door, log_level="error", lifespan="off", ws="none"))
    # The relay handles the signals of this process.
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
    told(f"MCP clients: http://127.0.0.1:{listening.getsockname()[1]}{PATH}")
    try:
        await server.serve(sockets=[listening])
    finally:
        door.close()
        with contextlib.suppress(OSError):
            os.close(read_fd)
