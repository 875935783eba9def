"""What the relay and the gate's side of it say to each other."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from tallystick.doors.mcp import answers
from tallystick.doors.mcp.jsonrpc import Key, Message
from tallystick.doors.mcp.lines import OnLine, OnLong


@dataclass(kw_only=True, slots=True)
class Asked:
    """One `tools/call` on its way."""

    key: Key
    line: bytes
    """As the client sent it."""
    message: Message
    decided: bool = False
    """It has come to the gate, which records whatever comes of it."""
    forwarded: bool = False
    """The server was asked; before that, no answer to it can be true."""
    cancelled: bool = False
    """The client does not want the answer any more."""
    waiting: bool = False
    """For a person."""
    answered: "asyncio.Future[tuple[bytes, Message]] | None" = None
    answer: bytes | None = None
    """The server's response, as it came."""
    server_error: bool = False
    """The response is a JSON-RPC error and no result."""
    task: "asyncio.Task[None] | None" = None

    @property
    def params(self) -> Message:
        """The parameters of the call."""
        return answers.params_of(self.message)


SERVED: ContextVar[Asked] = ContextVar("tallystick_relayed")
"""The call that a relayed tool's handler runs for."""


@dataclass(kw_only=True)
class Tally:
    """What happened, for the line at the end."""

    calls: int = 0
    held: int = 0
    refused: int = 0
    failed: int = 0


class TooLongError(Exception):
    """The server's answer was larger than a line may be."""


class UnreadableError(Exception):
    """The server's answer is not the same to every parser."""


class ServerGoneError(Exception):
    """The server ended before it answered."""


class Wires(Protocol):
    """What the gate's side needs of the relay."""

    client_name: str | None
    client_elicits: bool
    instructions: str | None
    """What the server said about itself; None: it has not said hello yet."""

    def note(self, text: str, *, always: bool = False) -> None:
        """Say something to whoever reads the log, a few times; what must not be missed, always."""
        ...

    async def ask_server(self, method: str, params: Message) -> Message:
        """Ask the server something ourselves."""
        ...

    async def ask_client(self, method: str, params: Message) -> Message:
        """Ask the client something ourselves."""
        ...

    async def forward(self, asked: Asked, line: bytes) -> tuple[bytes, Message]:
        """Send a call on, and wait for what the server answers."""
        ...


class Keeper(Protocol):
    """The gate's side of the relay."""

    tally: Tally

    async def answer(self, asked: Asked) -> bytes:
        """Put one call through the gate, and give the line that answers it."""
        ...

    async def listed(self, line: bytes, message: Message, request: Message) -> bytes:
        """Look at a list of tools on its way to the client that asked for it, and give the line to pass on."""
        ...

    async def refused(self, text: bytes, reason: str) -> None:
        """Record a message that was refused before there was a call."""
        ...

    def changed(self) -> None:
        """The server said that its tools are not what they were."""
        ...


class Upstream(Protocol):
    """The server's end."""

    @property
    def full(self) -> bool:
        """Whether the server does not take what it is told."""
        ...

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
        ...

    @property
    def unreached(self) -> str | None:
        """Why nobody ever answered, if nobody did."""
        ...

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Begin to pass on what the server says."""
        ...

    def send(self, line: bytes) -> None:
        """Say something to the server."""
        ...

    def pause(self) -> None:
        """Let the server wait."""
        ...

    def resume(self) -> None:
        """Go on listening."""
        ...

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this when the server takes more."""
        ...

    async def end(self) -> None:
        """End the server, or the session with it."""
        ...

    def how_it_ended(self) -> str:
        """For people."""
        ...
