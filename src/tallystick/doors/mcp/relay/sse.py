"""Server-sent events, as far as streamable HTTP uses them.

A line ends with CR, LF or both. Each byte is looked at once, however small the pieces are that it comes in, and what is
kept of one event is never more than an event may have.
"""

from tallystick.records import record

FIELD = b"data: "
"""What stands before the data of a line."""


@record
class Event:
    """One event."""

    data: bytes
    ident: str | None = None
    """What to name when the stream breaks off here and is to go on."""


class EventReader:
    """Turns the bytes of a stream into events."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._line = bytearray()
        """Of a line whose end has not come yet."""
        self._data = bytearray()
        """The data of the event so far, each line with its end: lines without anything take room, too."""
        self._spoilt = False
        """The event is larger than it may be; nothing of it is kept."""
        self._half_end = False
        """The last byte was a CR: an LF that follows belongs to it."""
        self._ident: str | None = None
        self.dropped = 0
        """Bytes of events that were larger than they may be."""

    def feed(self, piece: bytes) -> list[Event]:
        """Take some bytes, and give the events that are complete with them."""
        found: list[Event] = []
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
            # The rest of this line is not kept either; what it begins with cannot be a field.
            self._line[:] = b":"

    def _spoil(self, size: int) -> None:
        self.dropped += size + len(self._data)
        self._data.clear()
        self._spoilt = True

    def _take(self, line: bytes, found: list[Event]) -> None:
        if not line:
            if self._data:
                found.append(Event(data=bytes(self._data[:-1]), ident=self._ident))
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
