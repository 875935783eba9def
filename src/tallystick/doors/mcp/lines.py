"""Lines over file descriptors: read as they come, written as soon as the other side takes them.

JSON-RPC over stdio is one message a line. Nothing here looks into a line. A line that is longer than it may be is not
kept: its beginning and its end are, so that somebody can still say whose answer it was.
"""

import asyncio
import contextlib
import os
import select
import stat
import threading
from collections.abc import Callable

CHUNK = 256 * 1024
"""Bytes of one read: a pipe holds 64 KiB, a socket more."""
EDGE = 4 * 1024
"""Bytes that are kept from either end of a line that is too long."""
FULL = 8 * 1024 * 1024
"""Bytes that may wait for a reader that does not read; above this the writer says that it is full."""
STUCK_S = 10.0
"""Who has waited so long for room is looked after: it may be gone, which nobody sees who does not read."""

OnLine = Callable[[bytes], None]
OnLong = Callable[[bytes, bytes, int], None]
"""Beginning, end and size of a line that was too long."""


class LineReader:
    """Calls `on_line` for each line of a file descriptor, without its newline, and `on_end` once at the end."""

    def __init__(
        self, fd: int, *, longest: int, on_line: OnLine, on_long: OnLong, on_end: Callable[[], None],
        stuck_s: float | None = None,
    ) -> None:  # fmt: skip
        """Say who is told of what.

        Args:
            fd: Where to read.
            longest: Bytes of a line that is kept.
            on_line: Told each line.
            on_long: Told of a line that was too long.
            on_end: Told once that there is no more.
            stuck_s: Paused for so long, it ends if whoever writes is gone, and what was not read is lost.
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
        """Of the last read, what came behind the line at which somebody said pause."""
        self._pausable = True
        self._look: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to read."""
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            with contextlib.suppress(PermissionError):
                self.resume()
                return
        # The system cannot say when a plain file is ready, nor /dev/null: they always are.
        self._pausable = False
        threading.Thread(target=self._read_file, daemon=True).start()

    def pause(self) -> None:
        """Leave what comes in the pipe: whoever writes there has to wait."""
        if self._watched:
            self._watched = False
            self._loop.remove_reader(self._fd)
            self._look_later()

    def _look_later(self) -> None:
        if self._stuck_s is not None:
            self._look = self._loop.call_later(self._stuck_s, self._look_after)

    def _look_after(self) -> None:
        """End it if whoever wrote here is gone, and nobody has made room for what it said."""
        if self._watched or self._ended:
            return
        poll = select.poll()
        poll.register(self._fd, 0)
        if any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)):
            self._end()
        else:
            self._look_later()

    def resume(self) -> None:
        """Go on reading."""
        if self._look is not None:
            self._look.cancel()
        if not self._watched and not self._ended and self._pausable:
            self._loop.add_reader(self._fd, self._read)
            self._watched = True
            left, self._left = self._left, b""
            self._take(left)

    def finish(self) -> None:
        """Take what is still in the pipe, and end."""
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
            # The loop may be closed already; then nobody wants to know.
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
        # A last line without its newline was never finished; nobody can say that it is whole.
        self._pieces.clear()
        self._on_end()

    def _take(self, chunk: bytes) -> None:
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            self._close_line(chunk[begin:end])
            begin = end + 1
            if self._pausable and not self._watched:
                # One read may hold thousands of lines; whoever says pause has no room for them.
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
            # From here on only the two ends are of use.
            self._tail = (self._tail + b"".join(self._pieces[1 if self._skipping else 0 :]))[-EDGE:]
            self._pieces = [self._pieces[0][:EDGE]]
            self._skipping = True


class LineWriter:
    """Writes lines without waiting; what the other side does not take yet is kept in order."""

    def __init__(self, fd: int, *, on_gone: Callable[[], None]) -> None:
        self._fd = fd
        self._on_gone = on_gone
        self._on_room: Callable[[], None] | None = None
        self._waiting = bytearray()
        self._loop = asyncio.get_running_loop()
        self.gone = False
        kind = os.fstat(fd).st_mode
        self._polled = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)
        # Terminals and files are shared with others, who would be surprised to find them non-blocking.
        self._was_blocking = os.get_blocking(fd)
        if self._polled:
            os.set_blocking(fd, False)

    @property
    def full(self) -> bool:
        """Whether so much waits that whoever writes should stop for a while."""
        return len(self._waiting) > FULL

    def when_room(self, call: Callable[[], None]) -> None:
        """Call this once, when it is not full any more."""
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
        """Wait until all is written, but not longer than this."""
        end = self._loop.time() + timeout_s
        while self._waiting and not self.gone and self._loop.time() < end:  # noqa: ASYNC110 - only at the very end
            await asyncio.sleep(0.01)

    def close(self, *, end: bool) -> None:
        """Stop writing, and end the stream if it is ours."""
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
        """Write what can be written now, and give back the rest."""
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
