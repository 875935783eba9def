"""State that both directions of the relay share: pending requests and the connections to both sides."""

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Literal

from tallystick.doors.mcp import jsonrpc
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.lines import LineReader, LineWriter
from tallystick.doors.mcp.relay.messages import RelayedCall, ServerGoneError, Upstream
from tallystick.errors import ConfigError, TallyError

OWN_S = 30.0
"""Timeout for a request that the relay itself sends to the server."""
REMEMBERED = 1024
"""Number of abandoned call ids to remember; late responses to them are dropped."""
Side = Literal["server", "client"]
NOTES = 5
"""Maximum log lines about a server's protocol errors, to keep the log from filling up."""


class Switch:
    """The state of one relay and its connections to client and server."""

    def __init__(self, upstream: Upstream, client: LineWriter, *, token: str) -> None:
        """Connect the two sides.

        Args:
            upstream: The connection to the server.
            client: The connection to the client.
            token: An unguessable text; ids of the relay's own requests to the server start with it.
        """
        self.client_name: str | None = None
        self.client_elicits = False
        self.instructions: str | None = None
        self.upstream = upstream
        self.client = client
        self.reader: LineReader | None = None
        """Reads the client's lines."""
        self.crowded: Callable[[], bool] = bool
        """Whether to pause the client because earlier refusals are still being recorded."""
        self.calls: dict[Key, RelayedCall] = {}
        """Calls in flight."""
        self.lists: dict[Key, Message] = {}
        """The client's pending `tools/list` requests."""
        self.hellos: set[Key] = set()
        """The client's pending `initialize` and `server/discover` requests."""
        self.requests: set[Key] = set()
        """All other pending requests of the client; a response to anything else is dropped."""
        self.given_up: deque[Key] = deque(maxlen=REMEMBERED)
        # Ids sent to the client use another prefix, because the server sees its own and must not forge the client's
        # answers.
        self._ids = {"server": f"tallystick-{token}-", "client": f"tallystick-{os.urandom(9).hex()}-"}
        self.stopping = asyncio.Event()
        self.fatal: TallyError | None = None
        self._own: dict[str, asyncio.Future[Message]] = {}
        self._numbers = count(1)
        self._notes = 0

    def forget(self, key: Key) -> None:
        """Stop expecting a response to this request; calls are not affected."""
        self.requests.discard(key)
        self.lists.pop(key, None)

    def in_use(self, key: Key) -> bool:
        """Return whether the client is already waiting for a response with this id."""
        return key in self.calls or key in self.lists or key in self.requests or key in self.hellos

    def fail(self, error: TallyError) -> None:
        """Stop the relay because of an error that it cannot recover from."""
        self.fatal = self.fatal or error
        self.stopping.set()

    # -- to the two ends -----------------------------------------------------------------------------------------------

    def to_server(self, line: bytes) -> None:
        """Forward a line to the server; if its buffer is full, pause the client."""
        self.upstream.send(line)
        if self.upstream.full and self.reader is not None:
            self.reader.pause()
            self.upstream.when_room(self.hear_client)

    def hear_client(self) -> None:
        """Resume reading the client unless refusals are pending, the server is full or the relay stops."""
        if self.reader is None or self.crowded() or self.stopping.is_set():
            return
        if self.upstream.full:
            self.upstream.when_room(self.hear_client)
        else:
            self.reader.resume()

    def to_client(self, line: bytes) -> None:
        """Forward a line to the client; if its buffer is full, pause the server."""
        self.client.send(line)
        if self.client.full:
            self.upstream.pause()
            self.client.when_room(self.upstream.resume)

    async def forward(self, asked: RelayedCall, line: bytes) -> tuple[bytes, Message]:
        """Forward a call to the server and wait for its response."""
        asked.answered = asyncio.get_running_loop().create_future()
        asked.forwarded = True
        self.to_server(jsonrpc.one_line(line))
        try:
            return await asked.answered
        except asyncio.CancelledError:
            if not asked.cancelled:
                # Timeout or shutdown: the client did not cancel, so the relay notifies the server.
                why = {"requestId": asked.message["id"], "reason": "no answer in time"}
                self.upstream.send(jsonrpc.notification(jsonrpc.CANCELLED, why))
            raise

    # -- the relay's own requests --------------------------------------------------------------------------------------

    async def ask_server(self, method: str, params: Message) -> Message:
        """Send the relay's own request to the server; the client does not see it."""
        try:
            return await asyncio.wait_for(self._ask("server", self.upstream.send, method, params), OWN_S)
        except TimeoutError:
            message = f"The server did not answer `{method}` within {OWN_S:g} s. Run its command by itself to see why."
            raise ConfigError(message, code="server_silent") from None

    async def ask_client(self, method: str, params: Message) -> Message:
        """Send the relay's own request to the client; the server does not see it."""
        return await self._ask("client", self.client.send, method, params)

    async def _ask(self, side: Side, send: Callable[[bytes], None], method: str, params: Message) -> Message:
        ident = f"{self._ids[side]}{next(self._numbers)}"
        self._own[ident] = asyncio.get_running_loop().create_future()
        try:
            send(jsonrpc.request(ident, method, params))
            return await self._own[ident]
        finally:
            del self._own[ident]

    def key_meant(self, message: Message) -> Key | None:
        """Return the id of the request that a response answers: an exact match, or one a lenient client would see."""
        key = jsonrpc.key_of(message)
        if key is not None and (self.in_use(key) or key in self.given_up):
            return key
        read = jsonrpc.lenient(message.get("id"))
        awaited = (*self.calls, *self.lists, *self.requests, *self.hellos, *self.given_up)
        if read is None:
            return key
        return next((other for other in awaited if jsonrpc.lenient(other[1]) == read), key)

    def is_own(self, key: Key | None, side: Side) -> bool:
        """Return whether an id belongs to one of the relay's own requests to this side."""
        return key is not None and isinstance(key[1], str) and key[1].startswith(self._ids[side])

    def is_own_in(self, line: bytes, side: Side) -> bool:
        """Return whether an unparseable line contains such an id in plain text."""
        return self._ids[side].encode() in line

    def settle(self, key: Key, message: Message) -> None:
        """Deliver the response to one of the relay's own requests."""
        waiting = self._own.get(str(key[1]))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    # -- shutdown ------------------------------------------------------------------------------------------------------

    def lose_all(self) -> None:
        """Fail every pending call and own request, because the server is gone."""
        for asked in self.calls.values():
            if asked.answered is not None and not asked.answered.done():
                asked.answered.set_exception(ServerGoneError())
        for own in self._own.values():
            if not own.done():
                own.set_exception(ConfigError("The server is gone.", code="server_gone"))

    def note(self, text: str, *, always: bool = False) -> None:
        """Write a note to stderr, at most `NOTES` times unless `always` is set."""
        self._notes += not always
        if always or self._notes <= NOTES:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"tallystick: {text}\n")
                sys.stderr.flush()
