"""The interfaces between the relay and its gate side."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from tallystick.doors.mcp import answers
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.lines import OnLine, OnLong


@dataclass(kw_only=True, slots=True)
class RelayedCall:
    """One `tools/call` in flight."""

    key: Key
    line: bytes
    """The line as the client sent it."""
    message: Message
    decided: bool = False
    """The gate has taken the call and records its outcome."""
    forwarded: bool = False
    """The call was sent to the server; a response before that is not genuine."""
    cancelled: bool = False
    """The client cancelled the call."""
    waiting: bool = False
    """The call is waiting for approval."""
    answered: "asyncio.Future[tuple[bytes, Message]] | None" = None
    answer: bytes | None = None
    """The server's response, byte for byte."""
    server_error: bool = False
    """The response is a JSON-RPC error, not a result."""
    task: "asyncio.Task[None] | None" = None

    @property
    def params(self) -> Message:
        """The parameters of the call."""
        return answers.params_of(self.message)


SERVED: ContextVar[RelayedCall] = ContextVar("tallystick_relayed")
"""The call that a relayed tool's handler is running for."""


SHARED_CLIENT = "tallystick/client"
"""Key in the `_meta` of a request, set by a gateway over HTTP alone: which of its clients makes the request."""


@dataclass(kw_only=True)
class CallCounters:
    """Counters for the summary at the end."""

    calls: int = 0
    held: int = 0
    refused: int = 0
    failed: int = 0


class TooLongError(Exception):
    """The server's response exceeded the maximum line length."""


class UnreadableError(Exception):
    """Parsers disagree about the server's response."""


class ServerGoneError(Exception):
    """The server ended before it responded."""


class Wires(Protocol):
    """What the gate side needs from the relay."""

    client_name: str | None
    client_elicits: bool
    instructions: str | None
    """The server's `instructions`; None until it has answered `initialize`."""

    def note(self, text: str, *, always: bool = False) -> None:
        """Write a note to stderr, a limited number of times unless `always` is set."""
        ...

    async def ask_server(self, method: str, params: Message) -> Message:
        """Send the relay's own request to the server."""
        ...

    async def ask_client(self, method: str, params: Message) -> Message:
        """Send the relay's own request to the client."""
        ...

    async def forward(self, asked: RelayedCall, line: bytes) -> tuple[bytes, Message]:
        """Forward a call to the server and wait for its response."""
        ...


class Keeper(Protocol):
    """The gate side of the relay."""

    tally: CallCounters

    async def answer(self, asked: RelayedCall) -> bytes:
        """Send one call through the gate and return the response line."""
        ...

    async def listed(self, line: bytes, message: Message, request: Message) -> bytes:
        """Check a tool list for the client that requested it and return the line to forward."""
        ...

    async def refused(self, text: bytes, reason: str) -> None:
        """Record a message that was refused before it became a call."""
        ...

    def changed(self) -> None:
        """Note that the server announced a change of its tools."""
        ...


class Upstream(Protocol):
    """The connection to the server."""

    @property
    def full(self) -> bool:
        """Whether the server does not accept more data at the moment."""
        ...

    @property
    def failed(self) -> bool:
        """Whether the server ended with an error."""
        ...

    @property
    def unreached(self) -> str | None:
        """Why the server could not be reached; None if it responded."""
        ...

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Start to forward the server's messages."""
        ...

    def send(self, line: bytes) -> None:
        """Send a message to the server."""
        ...

    def pause(self) -> None:
        """Stop reading from the server."""
        ...

    def resume(self) -> None:
        """Continue reading from the server."""
        ...

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this when the server accepts data again."""
        ...

    async def end(self) -> None:
        """End the server process, or the session with it."""
        ...

    def how_it_ended(self) -> str:
        """Describe for people how the connection ended."""
        ...
