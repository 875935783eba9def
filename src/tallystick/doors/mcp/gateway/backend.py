"""One server of a gateway: its connection, its handshake, and the requests that it has not answered yet."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import tallystick
from tallystick.doors.mcp import jsonrpc
from tallystick.doors.mcp.answers import CLIENT, REVISION
from tallystick.doors.mcp.gateway.servers import GatewayServer
from tallystick.doors.mcp.held_calls import CAPABILITIES
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.relay.http import WebUpstream
from tallystick.doors.mcp.relay.messages import SHARED_CLIENT, Upstream
from tallystick.doors.mcp.relay.process import ServerProcess
from tallystick.doors.mcp.relay.stdio import StdioUpstream
from tallystick.errors import ConfigError
from tallystick.records import record
from tallystick.settings import environment_with

HANDSHAKE, SESSIONLESS = "2025-11-25", "2026-07-28"
NAME = {"name": "tallystick-gateway", "version": tallystick.__version__}
PAGES = 200
"""Maximum pages of one list."""
INSTEAD = "the server ended before it answered"


class BackendError(Exception):
    """A server did not answer one of the gateway's own requests."""


@record
class Passed:
    """A request of the client that was passed to a server."""

    ident: Any
    method: str
    sessionless: bool


class Backend:
    """One server of a gateway."""

    def __init__(
        self,
        server: GatewayServer,
        *,
        longest: int,
        timeout_s: float,
        token: str,
        on_message: Callable[["Backend", bytes, Message], None],
        on_answer: Callable[["Backend", Passed, bytes, Message], None],
        on_long: Callable[[Passed, int], None],
        on_end: Callable[["Backend"], None],
    ) -> None:
        """Prepare the connection.

        Args:
            server: How the server is reached.
            longest: Maximum bytes of a message.
            timeout_s: Seconds that the handshake and the gateway's own requests may take.
            token: An unguessable prefix for the ids of the gateway's own requests.
            on_message: Called with each request or notification of the server.
            on_answer: Called with the answer to a request of the client.
            on_long: Called with a request whose answer was too long, and the answer's size.
            on_end: Called once when the server has ended.
        """
        self.server = server
        self.name = server.name
        self.hello: Message = {}
        """The result of the handshake."""
        self.sessionless = False
        self.up: Upstream | None = None
        self._longest, self._timeout_s, self._prefix = longest, timeout_s, f"gateway-{token}-"
        self._on_message, self._on_answer, self._on_long, self._on_end = on_message, on_answer, on_long, on_end
        self._passed: dict[Any, Passed] = {}
        self._own: dict[str, asyncio.Future[Message]] = {}
        self._numbers = count(1)
        self.ended = False

    async def connect(self, capabilities: Message) -> None:
        """Start the server and do the handshake.

        Raises:
            ConfigError: The server cannot be started.
            BackendError: It does not answer.
        """
        server = self.server
        if server.url is not None:
            self.up = WebUpstream(server.url, server.headers)
        else:
            env = environment_with(dict(server.env))
            process = await asyncio.to_thread(ServerProcess, server.command, env=env, cwd=server.cwd)
            self.up = StdioUpstream(process)
        self.up.start(longest=self._longest, on_line=self._take, on_long=self._too_long, on_end=self._gone)
        said = {"protocolVersion": HANDSHAKE, "capabilities": capabilities, "clientInfo": NAME}
        answer = await self._ask(jsonrpc.INITIALIZE, said)
        if isinstance(answer.get("result"), dict):
            self.hello = answer["result"]
            self.send(jsonrpc.notification("notifications/initialized", {}))
            return
        self.sessionless = True
        answer = await self._ask(jsonrpc.DISCOVER, {})
        if not isinstance(answer.get("result"), dict):
            raise BackendError("it speaks no revision of the protocol that the gateway speaks")
        self.hello = answer["result"]

    @property
    def capabilities(self) -> Message:
        """What the server can do."""
        can = self.hello.get("capabilities")
        return can if isinstance(can, dict) else {}

    def send(self, line: bytes) -> None:
        """Send a line to the server."""
        if self.up is not None and not self.ended:
            self.up.send(line)

    def pass_on(self, message: Message, *, sessionless: bool) -> None:
        """Pass a request of the client to the server, in the server's own kind of revision."""
        passed = Passed(ident=message["id"], method=message["method"], sessionless=sessionless)
        self._passed[jsonrpc.lenient(message["id"])] = passed
        params = message.get("params")
        self.send(jsonrpc.written({**message, "params": self._in_revision(params if isinstance(params, dict) else {})}))

    def has(self, ident: Any) -> bool:
        """Return whether a request of the client with this id waits here."""
        return jsonrpc.lenient(ident) in self._passed

    async def items(self, method: str, key: str) -> list[Message]:
        """Return a whole list, page by page.

        Raises:
            BackendError: The server does not answer, or not with a list.
        """
        found: list[Message] = []
        params: Message = {}
        for _ in range(PAGES):
            result = (await self._ask(method, params)).get("result")
            items = result.get(key) if isinstance(result, dict) else None
            if not isinstance(result, dict) or not isinstance(items, list):
                raise BackendError(f"it did not answer `{method}` with a list")
            found += [item for item in items if isinstance(item, dict)]
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str):
                return found
            params = {"cursor": cursor}
        raise BackendError(f"its list (`{method}`) has more than {PAGES} pages")

    async def tell(self, method: str, params: Message) -> None:
        """Make a request whose answer does not matter."""
        with suppress(BackendError):
            await self._ask(method, params)

    async def end(self) -> None:
        """End the server, and fail what waits for it."""
        self.ended = True
        self._lose()
        if self.up is not None:
            await self.up.end()

    async def _ask(self, method: str, params: Message) -> Message:
        ident = f"{self._prefix}{next(self._numbers)}"
        self._own[ident] = asyncio.get_running_loop().create_future()
        given = params if method == jsonrpc.INITIALIZE else self._in_revision(params)
        try:
            self.send(jsonrpc.request(ident, method, given))
            return await asyncio.wait_for(self._own[ident], self._timeout_s)
        except TimeoutError:
            raise BackendError(f"it did not answer `{method}` within {self._timeout_s:g} s") from None
        finally:
            del self._own[ident]

    def _in_revision(self, params: Message) -> Message:
        """Return parameters with the `_meta` that the server's kind of revision asks for."""
        given = params.get("_meta")
        meta = {key: value for key, value in given.items() if key != SHARED_CLIENT} if isinstance(given, dict) else {}
        if self.sessionless:
            meta = {REVISION: SESSIONLESS, CLIENT: NAME, CAPABILITIES: {}, **meta}
        else:
            meta = {key: value for key, value in meta.items() if not key.startswith("io.modelcontextprotocol/")}
        rest = {key: value for key, value in params.items() if key != "_meta"}
        return {**rest, "_meta": meta} if meta else rest

    # -- from the server -----------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        message = jsonrpc.read(line)
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict):
                self._read(line if one is message else jsonrpc.written(one), one)

    def _read(self, line: bytes, message: Message) -> None:
        if not jsonrpc.is_answer(message):
            self._on_message(self, line, message)
            return
        ident = message.get("id")
        own = self._own.get(ident) if isinstance(ident, str) else None
        if own is not None:
            if not own.done():
                own.set_result(message)
            return
        # A server answers its own requests only: an id that waits elsewhere is not looked up here.
        passed = self._passed.pop(jsonrpc.lenient(ident), None)
        if passed is not None:
            self._on_answer(self, passed, line, message)

    def _too_long(self, head: bytes, tail: bytes, size: int) -> None:
        key = jsonrpc.key_in_ends(head, tail)
        passed = None if key is None else self._passed.pop(jsonrpc.lenient(key[1]), None)
        if passed is not None:
            self._on_long(passed, size)

    def _gone(self) -> None:
        if not self.ended:
            self.ended = True
            self._lose()
            self._on_end(self)

    def _lose(self) -> None:
        for own in self._own.values():
            if not own.done():
                own.set_exception(BackendError(INSTEAD))
        lost, self._passed = self._passed, {}
        for passed in lost.values():
            error = {"code": jsonrpc.SERVER_ERROR, "message": f"tallystick: {self.name}: {INSTEAD}"}
            message = {"jsonrpc": "2.0", "id": passed.ident, "error": error}
            self._on_answer(self, passed, jsonrpc.written(message), message)


def unusable(error: Exception) -> str:
    """Return why a server cannot be used."""
    return f"{error.code}: {error}" if isinstance(error, ConfigError) else str(error)
