"""What both directions of the relay share: who waits for what, and how to reach either side."""

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
from tallystick.doors.mcp.relay.messages import Asked, ServerGoneError, Upstream
from tallystick.errors import ConfigError, TallyError

OWN_S = 30.0
"""For an answer to something we asked the server ourselves."""
REMEMBERED = 1024
"""Ids of calls that were given up; an answer that still comes is dropped."""
Side = Literal["server", "client"]
NOTES = 5
"""Lines about what a server does wrong; more would fill somebody's log."""


class Switch:
    """The state of one relay, and the ways to its two ends."""

    def __init__(self, upstream: Upstream, client: LineWriter, *, token: str) -> None:
        """Join two ends.

        Args:
            upstream: The server's.
            client: The client's.
            token: Something that nobody can guess; the ids of what we ask the server begin with it.
        """
        self.client_name: str | None = None
        self.client_elicits = False
        self.instructions: str | None = None
        self.upstream = upstream
        self.client = client
        self.reader: LineReader | None = None
        """Where the client is read."""
        self.crowded: Callable[[], bool] = bool
        """Whether the client has to wait, because we have not come to what it said before."""
        self.calls: dict[Key, Asked] = {}
        """Calls on their way."""
        self.lists: dict[Key, Message] = {}
        """The client's requests for lists of tools."""
        self.hellos: set[Key] = set()
        """The client's requests that ask the server who it is: `initialize` and `server/discover`."""
        self.requests: set[Key] = set()
        """All else that the client asked the server and that is not answered: nothing but this is answered."""
        self.given_up: deque[Key] = deque(maxlen=REMEMBERED)
        # The server sees our ids, and must not be able to say what the client answered: hers are others.
        self._ids = {"server": f"tallystick-{token}-", "client": f"tallystick-{os.urandom(9).hex()}-"}
        self.stopping = asyncio.Event()
        self.fatal: TallyError | None = None
        self._own: dict[str, asyncio.Future[Message]] = {}
        self._numbers = count(1)
        self._notes = 0

    def forget(self, key: Key) -> None:
        """Nobody waits for the answer to this, if it was no call."""
        self.requests.discard(key)
        self.lists.pop(key, None)

    def in_use(self, key: Key) -> bool:
        """Whether the client waits for an answer under this id already."""
        return key in self.calls or key in self.lists or key in self.requests or key in self.hellos

    def fail(self, error: TallyError) -> None:
        """End it all, because something cannot be used as it is."""
        self.fatal = self.fatal or error
        self.stopping.set()

    # -- to the two ends -----------------------------------------------------------------------------------------------

    def to_server(self, line: bytes) -> None:
        """Pass a line on; a server that takes nothing makes the client wait."""
        self.upstream.send(line)
        if self.upstream.full and self.reader is not None:
            self.reader.pause()
            self.upstream.when_room(self.hear_client)

    def hear_client(self) -> None:
        """Go on reading the client, if there is room for what it says."""
        if self.reader is None or self.crowded() or self.stopping.is_set():
            return
        if self.upstream.full:
            self.upstream.when_room(self.hear_client)
        else:
            self.reader.resume()

    def to_client(self, line: bytes) -> None:
        """Pass a line back; a client that takes nothing makes the server wait."""
        self.client.send(line)
        if self.client.full:
            self.upstream.pause()
            self.client.when_room(self.upstream.resume)

    async def forward(self, asked: Asked, line: bytes) -> tuple[bytes, Message]:
        """Send a call on, and wait for what the server answers."""
        asked.answered = asyncio.get_running_loop().create_future()
        asked.forwarded = True
        self.to_server(jsonrpc.one_line(line))
        try:
            return await asked.answered
        except asyncio.CancelledError:
            if not asked.cancelled:
                # Out of time, or ending: the client does not know, so we say it.
                why = {"requestId": asked.message["id"], "reason": "no answer in time"}
                self.upstream.send(jsonrpc.notification(jsonrpc.CANCELLED, why))
            raise

    # -- questions of our own ------------------------------------------------------------------------------------------

    async def ask_server(self, method: str, params: Message) -> Message:
        """Ask the server something ourselves; the client sees nothing of it."""
        try:
            return await asyncio.wait_for(self._ask("server", self.upstream.send, method, params), OWN_S)
        except TimeoutError:
            message = f"The server did not answer `{method}` within {OWN_S:g} s. Run its command by itself to see why."
            raise ConfigError(message, code="server_silent") from None

    async def ask_client(self, method: str, params: Message) -> Message:
        """Ask the client something ourselves; the server sees nothing of it."""
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
        """The id that an answer of the server is to: as it stands there, or as the client may read it."""
        key = jsonrpc.key_of(message)
        if key is not None and (self.in_use(key) or key in self.given_up):
            return key
        read = jsonrpc.lenient(message.get("id"))
        awaited = (*self.calls, *self.lists, *self.requests, *self.hellos, *self.given_up)
        if read is None:
            return key
        return next((other for other in awaited if jsonrpc.lenient(other[1]) == read), key)

    def is_own(self, key: Key | None, side: Side) -> bool:
        """Whether an id is one under which we asked this side something."""
        return key is not None and isinstance(key[1], str) and key[1].startswith(self._ids[side])

    def is_own_in(self, line: bytes, side: Side) -> bool:
        """Whether such an id stands, in plain letters, in a line that cannot be read."""
        return self._ids[side].encode() in line

    def settle(self, key: Key, message: Message) -> None:
        """Take the answer to a question of our own."""
        waiting = self._own.get(str(key[1]))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    # -- ends ----------------------------------------------------------------------------------------------------------

    def lose_all(self) -> None:
        """The server is gone: nothing that was asked of it will be answered."""
        for asked in self.calls.values():
            if asked.answered is not None and not asked.answered.done():
                asked.answered.set_exception(ServerGoneError())
        for own in self._own.values():
            if not own.done():
                own.set_exception(ConfigError("The server is gone.", code="server_gone"))

    def note(self, text: str, *, always: bool = False) -> None:
        """Say something to whoever reads the log, a few times; what must not be missed, always."""
        self._notes += not always
        if always or self._notes <= NOTES:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"tallystick: {text}\n")
                sys.stderr.flush()
