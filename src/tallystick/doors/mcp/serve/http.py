"""MCP over streamable HTTP at `/mcp` of the HTTP application.

As on every other path, the guard checks Host, Origin, and size and time of the body, and identity authenticates the
caller. The SDK takes a second to load, so the first request loads it, not the start of the server.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from tallystick.app.gate import Gate
from tallystick.doors.identity import Identity, is_local
from tallystick.doors.identity.admission import ROLE_MISSING, may_propose
from tallystick.doors.mcp.answers import error
from tallystick.doors.mcp.serve.caller import CALLER, WITHOUT_SESSION
from tallystick.doors.mcp.serve.messages import Misread, read_message, refuse_message
from tallystick.doors.presentation.approval_wait import WAIT_S
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.session import MCP_CHANNEL, Caller, Session

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH = "/mcp"
_UNAUTHORISED = -32001
_NOTHING_YET = b": open\r\n\r\n"
"""A comment in an event stream, which every parser skips."""
_CHALLENGE = (b"www-authenticate", b"Bearer")


class McpDoor:
    """An ASGI application for one path; usable while `lifespan` is entered."""

    def __init__(self, gate: Gate, identity: Identity, *, wait_s: float = WAIT_S, show_receipts: bool = False) -> None:
        self._gate = gate
        self._identity = identity
        self._wait_s = wait_s
        self._show_receipts = show_receipts
        self._tasks: TaskGroup | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._loading = anyio.Lock()

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Run the sessions during the lifetime of the server."""
        async with anyio.create_task_group() as group:
            self._tasks = group
            yield
            self._tasks = None
            group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request."""
        caller = self._caller(scope)
        if isinstance(caller, Rejection):
            await self._refuse(caller, Caller(channel=MCP_CHANNEL), scope, send)
            return
        if not may_propose(caller, self._gate):
            await self._refuse(ROLE_MISSING, caller, scope, send)
            return
        scope[CALLER] = caller
        # HTTP allows whitespace around header values, and the parser keeps trailing whitespace.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        if self._identity.enabled:
            # The SDK lets only the user who opened a session use it; this tells it who the user is.
            scope["user"] = _known_to_the_sdk(caller)
        manager = await self._ready()
        if scope["method"] != "POST":
            await manager.handle_request(scope, receive, _at_once(send))
            return
        body = await _whole(receive)
        if body is None:
            return
        refused = await self._misread(body, caller)
        if refused is not None:
            await _answer(send, 400, refused)
            return
        await manager.handle_request(scope, _again(body, receive), _at_once(send))

    def _caller(self, scope: Scope) -> Caller | Rejection:
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        # Two headers joined by a comma are not a valid token.
        return self._identity.authenticate(",".join(given) or None, loopback=is_local(scope), channel=MCP_CHANNEL)

    async def _refuse(self, rejection: Rejection, caller: Caller, scope: Scope, send: Send) -> None:
        asked = f"{scope['method']} {PATH}"
        outcome = await self._gate.refuse(rejection, asked, session=WITHOUT_SESSION, caller=caller)
        told = {"code": str(rejection.code), "receipt_id": outcome.receipt_id}
        challenge = (_CHALLENGE,) if rejection.fault is NO_TOKEN else ()
        await _answer(send, rejection.fault.http, error(None, _UNAUTHORISED, rejection.reason, told), *challenge)

    async def _misread(self, body: bytes, caller: Caller) -> bytes | None:
        read = read_message(body, self._gate.settings.server.max_body_bytes)
        if not isinstance(read, Misread):
            return None
        return await refuse_message(self._gate, read, body, Session(session_id=WITHOUT_SESSION, caller=caller))

    async def _ready(self) -> "StreamableHTTPSessionManager":
        """Return the SDK's session manager, started by the first request."""
        async with self._loading:
            if self._manager is None:
                if self._tasks is None:
                    raise RuntimeError("the MCP door is used outside its lifespan")
                manager = await asyncio.to_thread(self._load)
                await self._tasks.start(_run, manager)
                self._manager = manager
        return self._manager

    def _load(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

        from tallystick.doors.mcp.serve.server import Serving  # noqa: PLC0415

        serving = Serving(
            self._gate, session_id=WITHOUT_SESSION, wait_s=self._wait_s, show_receipts=self._show_receipts
        )
        most = self._gate.settings.server.max_body_bytes
        return StreamableHTTPSessionManager(app=serving.server(), max_request_body_size=most)


async def _run(
    manager: "StreamableHTTPSessionManager", *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


def _known_to_the_sdk(caller: Caller) -> Any:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser  # noqa: PLC0415
    from mcp.server.auth.provider import AccessToken  # noqa: PLC0415

    return AuthenticatedUser(AccessToken(token="", client_id=caller.subject, scopes=[], subject=caller.subject))


async def _whole(receive: Receive) -> bytes | None:
    """Read the body; None if the client disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Replay the body to the next reader, which can then wait for the disconnect."""
    given = False

    async def once() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


def _at_once(send: Send) -> Send:
    """Send a comment as soon as a stream opens: the server holds response headers back until a body follows."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        await send(message)
        if message["type"] == "http.response.start" and _is_stream(message.get("headers", ())):
            await send({"type": "http.response.body", "body": _NOTHING_YET, "more_body": True})

    return sent


def _is_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)


async def _answer(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    lines = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})
