"""A courier takes checkpoints to one witness, in a thread of its own, so that nobody ever waits for a witness.

It keeps what was not taken yet, tries again after a pause that grows, and says once that its witness is away: again
only after the witness had been there in between.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from tallystick.gate.record.journal import Incident
from tallystick.storage.journal.forks import tell_children
from tallystick.storage.journal.posting import Undelivered

TRY_S = 5.0
"""One try takes no longer."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""Pauses double up to this; a new checkpoint does not shorten them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """Somebody outside who is told of every checkpoint."""

    number: int
    """Its place in `ledger.witnesses`, from 1."""
    shown: str
    """What records may say of where it is."""
    deliver: Callable[[bytes, float], None]
    """Give it a note within so many seconds; raises Undelivered."""
    kept: int = 1
    """How many notes wait for it at most. The newest says all that the earlier ones do, so for most it is one."""


class Courier:
    """The way to one witness."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._begin()
        tell_children(self)

    def _begin(self) -> None:
        self._changed = Condition()
        self._notes: deque[bytes] = deque(maxlen=self._witness.kept)
        self._thread: Thread | None = None
        self._reached = True
        self._pause = FIRST_PAUSE_S
        self._not_before = 0.0
        self._found: list[Incident] = []
        self._ends: float | None = None
        """When the last try must be over; None: there is no end in sight."""

    def send(self, note: bytes) -> None:
        """Take a note along; returns at once."""
        with self._changed:
            if self._ends is not None:
                return
            self._notes.append(note)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="tally-witness", daemon=True)
                self._thread.start()
            self._changed.notify()

    def reports(self) -> list[Incident]:
        """That the witness cannot be reached, if that is new."""
        with self._changed:
            found, self._found = self._found, []
        return found

    def try_last(self, ends: float) -> None:
        """One last try for what is left, over at that time; returns at once."""
        with self._changed:
            self._ends = ends
            self._changed.notify()

    def wait(self) -> None:
        """Wait until the last try is over."""
        if self._thread is not None and self._ends is not None:
            self._thread.join(max(0.0, self._ends - monotonic()))
        with self._changed:
            if self._notes:
                self._away("timed out")

    def mark_forked(self) -> None:
        """A child has the notes but not the thread; the notes are its parent's to send."""
        self._begin()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            note, within_s, last = task
            try:
                self._witness.deliver(note, within_s)
            except Undelivered as error:
                with self._changed:
                    self._away(str(error))
                    self._not_before = monotonic() + self._pause
                    self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
                if last:
                    return
            else:
                with self._changed:
                    self._reached, self._pause, self._not_before = True, FIRST_PAUSE_S, 0.0
                    if self._notes and self._notes[0] is note:
                        self._notes.popleft()

    def _next(self) -> tuple[bytes, float, bool] | None:
        """Wait for a note and its time: the note, the seconds there are, and whether this is the last try."""
        with self._changed:
            while True:
                now = monotonic()
                if self._ends is not None:
                    return (self._notes[0], self._ends - now, True) if self._notes and now < self._ends else None
                if self._notes and now >= self._not_before:
                    return self._notes[0], TRY_S, False
                self._changed.wait(self._not_before - now if self._notes else None)

    def _away(self, reason: str) -> None:
        if self._reached:
            self._reached = False
            details = {"reason": reason, "where": self._witness.shown, "witness": self._witness.number}
            self._found.append(Incident(what="witness_unreachable", details=details))
