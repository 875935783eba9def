"""The server's side of the relay over stdio."""

import asyncio
import contextlib
from collections.abc import Callable

from tallystick.doors.mcp.lines import LineReader, LineWriter, OnLine, OnLong
from tallystick.doors.mcp.relay.process import ServerProcess

DRAIN_S = 0.3
"""Seconds to wait for remaining output after the process has ended."""


class StdioUpstream:
    """A server process connected by two pipes."""

    unreached: str | None = None

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._ended = False
        self._silent = False
        """The server has closed its output."""

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Start to forward the server's messages."""
        self._on_end = on_end
        self._reader = LineReader(
            self._process.output, longest=longest, on_line=on_line, on_long=on_long, on_end=self._end_once
        )
        self._writer = LineWriter(self._process.input, on_gone=lambda: None)
        self._reader.start()
        loop = asyncio.get_running_loop()

        def exited() -> None:
            # Its children may still hold the pipe, but its own output is there. The loop may already be closed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._exited)

        self._process.watch(exited)

    def send(self, line: bytes) -> None:
        """Send a message to the server."""
        self._writer.send(line)

    def pause(self) -> None:
        """Stop reading from the server."""
        self._reader.pause()

    def resume(self) -> None:
        """Continue reading from the server."""
        self._reader.resume()

    @property
    def full(self) -> bool:
        """Whether the server does not accept more data at the moment."""
        return self._writer.full

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this when the server accepts data again."""
        self._writer.when_room(call)

    async def end(self) -> None:
        """Stop the server."""
        self._ended = True
        self._writer.close(end=False)
        self._reader.pause()
        await asyncio.to_thread(self._process.end)

    def how_it_ended(self) -> str:
        """Describe for people how the process ended."""
        code = self._process.exit_code
        if code is None:
            return "it closed its output"
        return f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code}"

    @property
    def failed(self) -> bool:
        """Whether the process ended with an error."""
        return self._process.exit_code not in {None, 0}

    def _exited(self) -> None:
        if self._silent:
            self._tell()
        else:
            asyncio.get_running_loop().call_later(DRAIN_S, self._drain)

    def _drain(self) -> None:
        if not self._ended:
            self._reader.finish()

    def _end_once(self) -> None:
        self._silent = True
        if self._process.exit_code is not None:
            self._tell()
        else:
            # The output closes shortly before the process ends: wait for the exit code.
            asyncio.get_running_loop().call_later(DRAIN_S, self._tell)

    def _tell(self) -> None:
        if not self._ended:
            self._ended = True
            self._on_end()
