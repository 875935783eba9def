"""Parser for server-sent events, as far as streamable HTTP uses them.

A line ends with CR, LF or both. Each byte is examined once, however small the chunks are, and the buffer of one event
never exceeds the maximum event size.
"""

from tallystick.records import record

FIELD = b"data: "
"""Prefix of a data line."""


@record
class SseEvent:
    """One event."""

    data: bytes
    ident: str | None = None
    """The event id to resume the stream from."""


class EventReader:
    """Splits the bytes of a stream into events."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._line = bytearray()
        """An incomplete line."""
        self._data = bytearray()
        """The data of the event so far, each line with its newline, so that empty lines count towards the limit too."""
        self._spoilt = False
        """The event exceeds the limit; none of it is kept."""
        self._half_end = False
        """The last byte was a CR: a following LF belongs to it."""
        self._ident: str | None = None
        self.dropped = 0
        """Bytes of events that exceeded the limit."""

    def feed(self, piece: bytes) -> list[SseEvent]:
        """Add bytes and return the events that they complete."""
        found: list[SseEvent] = []
        if not piece:
            return found
        fresh = piece.removeprefix(b"\n") if self._half_end else piece
        self._half_end = piece.endswith(b"\r")
        *lines, rest = fresh.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for part in lines:
            line = part
            if self._line:
                self._keep(part)
                line = bytes(self._line)
                self._line.clear()
            self._take(line, found)
        self._keep(rest)
        return found

    def _keep(self, part: bytes) -> None:
        self._line += part
        if len(self._line) > self._longest + len(FIELD):
            self._spoil(len(self._line))
            # The rest of this line is not kept either; a line that starts with a colon is a comment.
            self._line[:] = b":"

    def _spoil(self, size: int) -> None:
        self.dropped += size + len(self._data)
        self._data.clear()
        self._spoilt = True

    def _take(self, line: bytes, found: list[SseEvent]) -> None:
        if not line:
            if self._data:
                found.append(SseEvent(data=bytes(self._data[:-1]), ident=self._ident))
            self._data.clear()
            self._spoilt = False
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value.removeprefix(b" "))
        elif name == b"id" and b"\0" not in value:
            self._ident = value.removeprefix(b" ").decode(errors="replace")

    def _add(self, value: bytes) -> None:
        if self._spoilt or len(self._data) + len(value) > self._longest:
            self._spoil(len(value))
        else:
            self._data += value
            self._data += b"\n"
