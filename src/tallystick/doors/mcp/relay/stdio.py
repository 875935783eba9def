"""The server's side of the relay, when the server is a process: lines in, lines out."""

import asyncio
import contextlib
from collections.abc import Callable

from tallystick.doors.mcp.lines import LineReader, LineWriter, OnLine, OnLong
from tallystick.doors.mcp.relay.process import ServerProcess

DRAIN_S = 0.3
"""After the process has ended, this long for what it wrote to arrive."""


class StdioUpstream:
    """A server process at the other end of two pipes."""

    unreached: str | None = None

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._ended = False
        self._silent = False
        """Its output has ended."""

    def start(self, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None]) -> None:
        """Begin to pass on what the server says."""
        self._on_end = on_end
        self._reader = LineReader(
            self._process.output, longest=longest, on_line=on_line, on_long=on_long, on_end=self._end_once
        )
        self._writer = LineWriter(self._process.input, on_gone=lambda: None)
        self._reader.start()
        loop = asyncio.get_running_loop()

        def exited() -> None:
            # What it started may still hold the pipe; what it wrote itself is there. The loop may be gone by now.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._exited)

        self._process.watch(exited)

    def send(self, line: bytes) -> None:
        """Say something to the server."""
        self._writer.send(line)

    def pause(self) -> None:
        """Let the server wait with what it has to say."""
        self._reader.pause()

    def resume(self) -> None:
        """Go on listening."""
        self._reader.resume()

    @property
    def full(self) -> bool:
        """Whether the server does not take what it is told."""
        return self._writer.full

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this when it does again."""
        self._writer.when_room(call)

    async def end(self) -> None:
        """End the server."""
        self._ended = True
        self._writer.close(end=False)
        self._reader.pause()
        await asyncio.to_thread(self._process.end)

    def how_it_ended(self) -> str:
        """For people: what became of the process."""
        code = self._process.exit_code
        if code is None:
            return "it closed its output"
        return f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code}"

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
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
            # Its output ends a moment before it does; how it ended is worth that moment.
            asyncio.get_running_loop().call_later(DRAIN_S, self._tell)

    def _tell(self) -> None:
        if not self._ended:
            self._ended = True
            self._on_end()
