"""MCP over this process's stdin and stdout: one message per line, one session per connection."""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from tallystick.app.gate import Gate
from tallystick.doors.mcp.lines import LineReader, LineWriter
from tallystick.doors.mcp.serve.caller import OWNER
from tallystick.doors.mcp.serve.messages import Misread, read_message, refuse_message
from tallystick.doors.mcp.serve.server import Serving
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import TOO_LARGE, refuse
from tallystick.gate.codes import FORMAT
from tallystick.gate.session import Session

WAITING = 64
"""Maximum messages queued; beyond that, the client's next messages stay in the pipe."""
FLUSH_S = 2.0
NOT_JSONRPC = "not a JSON-RPC message"

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


def serve_stdio(gate: Gate, *, wait_s: float, show_receipts: bool) -> None:
    """Serve until the client closes stdin or a signal arrives."""
    session_id = f"mcp-{secrets.token_hex(12)}"
    serving = Serving(gate, session_id=session_id, wait_s=wait_s, show_receipts=show_receipts)
    with _wire() as (read_fd, write_fd):
        asyncio.run(_Wire(gate, serving, session_id, read_fd, write_fd).serve())


class _Wire:
    """Connects stdin and stdout to the SDK's server."""

    def __init__(self, gate: Gate, serving: Serving, session_id: str, read_fd: int, write_fd: int) -> None:
        self._gate = gate
        self._serving = serving
        self._session = Session(session_id=session_id, caller=OWNER)
        self._fds = read_fd, write_fd
        self._most = gate.settings.server.max_body_bytes

    async def serve(self) -> None:
        """Serve until end-of-file on stdin or a signal."""
        server = self._serving.server()
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as group:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, group.cancel_scope.cancel)
            self._lines = asyncio.Queue[bytes | Misread | None]()
            self._reader = LineReader(
                self._fds[0],
                longest=self._most,
                on_line=self._take,
                on_long=self._take_long,
                on_end=lambda: self._lines.put_nowait(None),
            )
            self._writer = LineWriter(self._fds[1], on_gone=group.cancel_scope.cancel)
            self._reader.start()
            group.start_soon(self._read, to_server)
            group.start_soon(self._write, from_server)
            await server.run(from_client, to_client, server.create_initialization_options())
        self._reader.pause()
        self._writer.close(end=False)

    def _take(self, line: bytes) -> None:
        self._lines.put_nowait(line)
        if self._lines.qsize() > WAITING:
            self._reader.pause()

    def _take_long(self, _head: bytes, _tail: bytes, _size: int) -> None:
        self._lines.put_nowait(Misread(rejection=refuse(TOO_LARGE), key=None))

    async def _read(self, to_server: Incoming) -> None:
        async with to_server:
            while (line := await self._lines.get()) is not None:
                if self._lines.empty():
                    self._reader.resume()
                message = line if isinstance(line, Misread) else _message(line, self._most)
                if isinstance(message, Misread):
                    data = line if isinstance(line, bytes) else b""
                    self._writer.send(await refuse_message(self._gate, message, data, self._session))
                    continue
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await to_server.send(SessionMessage(message))

    async def _write(self, from_server: Outgoing) -> None:
        async with from_server:
            async for sent in from_server:
                self._writer.send(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
                if self._writer.full:
                    room = asyncio.Event()
                    self._writer.when_room(room.set)
                    await room.wait()
        await self._writer.flush(FLUSH_S)


def _message(line: bytes, most: int) -> types.JSONRPCMessage | Misread:
    read = read_message(line, most)
    if isinstance(read, Misread):
        return read
    try:
        return types.jsonrpc_message_adapter.validate_python(read, by_name=False)
    except ValidationError:
        return Misread(rejection=Rejection(fault=FORMAT, reason=NOT_JSONRPC), key=None)


@contextmanager
def _wire() -> Iterator[tuple[int, int]]:
    """Reserve both streams for the protocol: tools read an empty stdin, and what they print goes to stderr."""
    sys.stdout.flush()
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield read_fd, write_fd
    finally:
        sys.stdout.flush()
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        os.close(read_fd)
        os.close(write_fd)
