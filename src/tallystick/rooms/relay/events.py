"""Server-sent events, as far as streamable HTTP uses them."""

from tallystick.records import record


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
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._ident: str | None = None
        self.dropped = 0
        """Bytes of events that were larger than they may be."""

    def feed(self, piece: bytes) -> list[Event]:
        """Take some bytes, and give the events that are complete with them."""
        found: list[Event] = []
        lines = (self._rest + piece).replace(b"\r\n", b"\n").split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > self._longest:
            self.dropped += len(self._rest)
            # The rest of this line is not kept either; what it begins with cannot be a field.
            self._rest = b":"
        for line in lines:
            self._take(line, found)
        return found

    def _take(self, line: bytes, found: list[Event]) -> None:
        if not line:
            if self._data and self._size <= self._longest:
                found.append(Event(data=b"\n".join(self._data), ident=self._ident))
            self._data, self._size = [], 0
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value)
            if self._size <= self._longest:
                self._data.append(value)
            else:
                self.dropped += len(value)
        elif name == b"id" and b"\0" not in value:
            self._ident = value.decode(errors="replace")
