"""Read and write newline-delimited messages on file descriptors without blocking.

JSON-RPC over stdio sends one message per line. This module never parses a line. Of a line over the size limit it keeps
only the beginning and the end, so that the caller can still find out which request it answers.
"""

import asyncio
import contextlib
import os
import select
import stat
import threading
from collections.abc import Callable

CHUNK = 256 * 1024
"""Bytes per read: a pipe holds 64 KiB, a socket more."""
EDGE = 4 * 1024
"""Bytes kept from each end of a line that is too long."""
FULL = 8 * 1024 * 1024
"""Maximum bytes buffered for a reader that does not read; beyond this the writer reports that it is full."""
STUCK_S = 10.0
"""Seconds a reader stays paused before it checks whether the peer is gone, which it cannot see without reading."""

OnLine = Callable[[bytes], None]
OnLong = Callable[[bytes, bytes, int], None]
"""Receives the beginning, the end and the size of a line that was too long."""


class LineReader:
    """Calls `on_line` for each line of a file descriptor, without its newline, and `on_end` once at the end."""

    def __init__(
        self,
        fd: int,
        *,
        longest: int,
        on_line: OnLine,
        on_long: OnLong,
        on_end: Callable[[], None],
        stuck_s: float | None = None,
    ) -> None:
        """Set the file descriptor, the limits and the callbacks.

        Args:
            fd: The file descriptor to read.
            longest: Maximum bytes of a line that is kept whole.
            on_line: Called with each line.
            on_long: Called for each line that was too long.
            on_end: Called once at the end of the stream.
            stuck_s: After a pause of this many seconds, end if the writing process is gone; unread data is lost.
        """
        self._fd = fd
        self._stuck_s = stuck_s
        self._longest = longest
        self._on_line, self._on_long, self._on_end = on_line, on_long, on_end
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._tail = b""
        self._loop = asyncio.get_running_loop()
        self._watched = False
        self._ended = False
        self._left = b""
        """The part of the last read after the line whose callback paused the reader."""
        self._pausable = True
        self._look: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start reading."""
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            with contextlib.suppress(PermissionError):
                self.resume()
                return
        # Plain files and /dev/null cannot be polled for readiness: they are always ready.
        self._pausable = False
        threading.Thread(target=self._read_file, daemon=True).start()

    def pause(self) -> None:
        """Stop reading, so that the data stays in the pipe and the writer has to wait."""
        if self._watched:
            self._watched = False
            self._loop.remove_reader(self._fd)
            self._look_later()

    def _look_later(self) -> None:
        if self._stuck_s is not None:
            self._look = self._loop.call_later(self._stuck_s, self._look_after)

    def _look_after(self) -> None:
        """End the stream if the writer is gone and the reader is still paused."""
        if self._watched or self._ended:
            return
        poll = select.poll()
        poll.register(self._fd, 0)
        if any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)):
            self._end()
        else:
            self._look_later()

    def resume(self) -> None:
        """Continue reading."""
        if self._look is not None:
            self._look.cancel()
        if not self._watched and not self._ended and self._pausable:
            self._loop.add_reader(self._fd, self._read)
            self._watched = True
            left, self._left = self._left, b""
            self._take(left)

    def finish(self) -> None:
        """Read what is still in the pipe, then end."""
        if self._ended:
            return
        self.pause()
        self._pausable = False
        left, self._left = self._left, b""
        self._take(left)
        with contextlib.suppress(OSError):
            os.set_blocking(self._fd, False)
            while not self._ended and (chunk := os.read(self._fd, CHUNK)):
                self._take(chunk)
        self._end()

    def _read(self) -> None:
        try:
            chunk = os.read(self._fd, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if chunk:
            self._take(chunk)
        else:
            self._end()

    def _read_file(self) -> None:
        while True:
            try:
                chunk = os.read(self._fd, CHUNK)
            except OSError:
                chunk = b""
            # The loop may already be closed; the data is not needed then.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._take if chunk else self._end_after, chunk)
            if not chunk:
                return

    def _end_after(self, _nothing: bytes) -> None:
        self._end()

    def _end(self) -> None:
        if self._ended:
            return
        self.pause()
        self._ended = True
        if self._look is not None:
            self._look.cancel()
        # Drop a last line without a newline: it may be incomplete.
        self._pieces.clear()
        self._on_end()

    def _take(self, chunk: bytes) -> None:
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            self._close_line(chunk[begin:end])
            begin = end + 1
            if self._pausable and not self._watched:
                # One read may hold thousands of lines; keep the rest until the reader is resumed.
                self._left = chunk[begin:]
                return
        if begin < len(chunk):
            self._keep(chunk[begin:])

    def _close_line(self, piece: bytes) -> None:
        if self._skipping or self._size + len(piece) > self._longest:
            self._keep(piece)
            self._on_long(self._pieces[0][:EDGE], self._tail, self._size)
            self._skipping, self._tail = False, b""
            self._pieces.clear()
        elif self._pieces:
            self._pieces.append(piece)
            line = b"".join(self._pieces)
            self._pieces.clear()
            self._on_line(line)
        elif piece:
            self._on_line(piece)
        self._size = 0

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        self._pieces.append(piece)
        if self._skipping or self._size > self._longest:
            # The line is over the limit: keep only its two ends.
            self._tail = (self._tail + b"".join(self._pieces[1 if self._skipping else 0 :]))[-EDGE:]
            self._pieces = [self._pieces[0][:EDGE]]
            self._skipping = True


class LineWriter:
    """Writes lines without blocking and buffers, in order, what the peer does not accept yet."""

    def __init__(self, fd: int, *, on_gone: Callable[[], None]) -> None:
        self._fd = fd
        self._on_gone = on_gone
        self._on_room: Callable[[], None] | None = None
        self._waiting = bytearray()
        self._loop = asyncio.get_running_loop()
        self.gone = False
        kind = os.fstat(fd).st_mode
        self._polled = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
        # Terminals and files are shared with other processes, which do not expect them to be non-blocking.
        self._was_blocking = os.get_blocking(fd)
        if self._polled:
            os.set_blocking(fd, False)

    @property
    def full(self) -> bool:
        """Whether so much is buffered that the caller should stop writing for a while."""
        return len(self._waiting) > FULL

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this once, as soon as the buffer is no longer full."""
        self._on_room = call

    def send(self, line: bytes) -> None:
        """Write one line; the newline is added here."""
        if self.gone:
            return
        data = line + b"\n"
        if self._waiting:
            self._waiting += data
            return
        rest = self._write(data)
        if rest:
            self._waiting += rest
            self._loop.add_writer(self._fd, self._go_on)

    async def flush(self, timeout_s: float) -> None:
        """Wait until the buffer is empty, but at most this many seconds."""
        end = self._loop.time() + timeout_s
        while self._waiting and not self.gone and self._loop.time() < end:  # noqa: ASYNC110 - only during shutdown
            await asyncio.sleep(0.01)

    def close(self, *, end: bool) -> None:
        """Stop writing; with `end`, close the file descriptor, otherwise restore its blocking mode."""
        if self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting.clear()
        self.gone = True
        with contextlib.suppress(OSError):
            if end:
                os.close(self._fd)
            elif self._polled:
                os.set_blocking(self._fd, self._was_blocking)

    def _go_on(self) -> None:
        rest = self._write(bytes(self._waiting))
        self._waiting = bytearray(rest)
        if not self._waiting and not self.gone:
            self._loop.remove_writer(self._fd)
        if self._on_room is not None and not self.full:
            call, self._on_room = self._on_room, None
            call()

    def _write(self, data: bytes) -> bytes:
        """Write as much as possible now and return the rest."""
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except BlockingIOError:
            return data
        except OSError:
            self._lose()
        return b""

    def _lose(self) -> None:
        if self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting.clear()
        self.gone = True
        self._loop.call_soon(self._on_gone)
