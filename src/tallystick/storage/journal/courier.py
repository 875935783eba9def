"""Sends checkpoints to one witness from a background thread, so that no caller ever waits for a witness.

It queues undelivered notes, retries with exponential backoff, and reports an unreachable witness once; it reports again
only after a successful delivery in between.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from tallystick.gate.record.journal import Incident
from tallystick.storage.journal.forks import tell_children

TRY_S = 5.0
"""Timeout of one attempt."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""Maximum retry delay; delays double up to it. A new checkpoint does not shorten the current delay."""


class Undelivered(Exception):  # noqa: N818 - not an internal error; the sender retries
    """A witness did not accept a checkpoint; the message gives the reason and nothing of the address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """An external receiver of every checkpoint."""

    number: int
    """Its index in `ledger.witnesses`, from 1."""
    shown: str
    """Its location as shown in records, without secrets."""
    deliver: Callable[[bytes, float], None]
    """Deliver a note within a timeout in seconds; raises Undelivered."""
    kept: int = 1
    """Maximum number of queued notes. The newest note covers all earlier ones, so one is enough for most witnesses."""


class Courier:
    """Delivery queue and sender thread of one witness."""

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
        """Deadline of the final attempt; None while not shutting down."""

    def send(self, note: bytes) -> None:
        """Queue a note for delivery; returns at once."""
        with self._changed:
            if self._ends is not None:
                return
            self._notes.append(note)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="tally-witness", daemon=True)
                self._thread.start()
            self._changed.notify()

    def reports(self) -> list[Incident]:
        """Return and clear the new incidents: the witness became unreachable."""
        with self._changed:
            found, self._found = self._found, []
        return found

    def try_last(self, ends: float) -> None:
        """Request one final attempt for the queued notes, with the deadline `ends`; returns at once."""
        with self._changed:
            self._ends = ends
            self._changed.notify()

    def wait(self) -> None:
        """Wait until the final attempt has ended or its deadline has passed."""
        if self._thread is not None and self._ends is not None:
            self._thread.join(max(0.0, self._ends - monotonic()))
        with self._changed:
            if self._notes:
                self._away("timed out")

    def mark_forked(self) -> None:
        """Reset in a forked child: it has the queued notes but not the thread, and its parent sends the notes."""
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
        """Wait until a note is due; return the note, the timeout in seconds, and whether this is the final attempt."""
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
