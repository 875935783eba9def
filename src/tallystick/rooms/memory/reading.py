"""All that can be asked of memory, on an open workspace. Nothing here changes anything."""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from tallystick.rooms.memory.cached import reviver
from tallystick.rooms.memory.catalogue import Catalogue
from tallystick.rooms.memory.diff import diff
from tallystick.rooms.memory.events import event_of
from tallystick.rooms.memory.explain import explain_proposition
from tallystick.rooms.memory.jsonld import json_ld
from tallystick.rooms.memory.known import Known, known_of
from tallystick.rooms.memory.naming import name_key, predicate_key
from tallystick.rooms.memory.nouns import Event, Proposition
from tallystick.rooms.memory.projection import Log as Ledger
from tallystick.rooms.memory.projection import Projection
from tallystick.rooms.memory.recall import Recollection, Wanted, recall
from tallystick.rooms.memory.stored import StoredState
from tallystick.rooms.memory.supports import minimal_supports
from tallystick.rooms.memory.times import seconds
from tallystick.rooms.memory.what_if import what_if

NEARBY = 16
"""Records before a place of the log among which one of memory's tells the log time; else the record's own."""

MOST_KNOWN = 1_000
"""Propositions of one subject and predicate among which one is looked for."""


class LedgerLog:
    """The ledger, as the questions about other times need it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def event(self, receipt_id: str) -> Event | None:
        """The event of a receipt; None: it was erased, or never was one."""
        found = self._ledger.find(receipt_id)
        return None if found is None else event_of(found)

    def time_at(self, seq: int) -> int | None:
        """The log time at a place; None: the log is not that long."""
        if not 0 <= seq < self._ledger.size():
            return None
        told: int | None = None
        written: int | None = None
        for receipt in self._ledger.read(max(seq - NEARBY, 0)):
            event = event_of(receipt)
            if event is not None:
                # A clock that was set back a little only stood still in the log.
                told = event.at if told is None else max(told, event.at)
            written = seconds(receipt.header["timestamp"])
            if receipt.seq >= seq:
                break
        return written if told is None else told


class Reading:
    """Answers from the projection, caught up first."""

    def __init__(
        self,
        projection: Projection,
        ledger: Ledger,
        folder: Path | None,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        """Join what is read.

        Args:
            projection: Memory.
            ledger: Its log.
            folder: Where the indexes are kept.
            clock: The present, in seconds.
        """
        self._projection = projection
        self._ledger = ledger
        self._log = LedgerLog(ledger)
        self._folder = folder
        self._clock = clock
        self._catalogue: Catalogue | None = None
        self._state: StoredState | None = None
        """The state the indexes were last compared with."""
        self._scanned = -1

    def recall(self, wanted: Wanted, *, now: int | None = None) -> Recollection:
        """What memory knows about a question."""
        moment = self._now(now)

        def answer(state: StoredState) -> Recollection:
            return recall(state, self._log, self._indexed(state), wanted, now=moment)

        return self._projection.ask(answer, written=True)

    def ask(self, *, valid_at: int | None = None, now: int | None = None, **wanted: Any) -> Recollection:
        """The same in words: `ask(query="…")`; the other words are those of `Wanted`."""
        return self.recall(Wanted(valid_at=valid_at, **wanted), now=now)

    def known(self, subject: str, predicate: str, thing: str | None = None) -> list[Known]:
        """The propositions of a subject and a predicate, whatever their valid time; only with this object, if named."""

        def find(state: StoredState) -> list[Known]:
            about = state.about(name_key(subject), predicate_key(predicate), upto=None, most=MOST_KNOWN)
            wanted = (one for one in about if thing is None or name_key(one.object) == name_key(thing))
            return sorted((known_of(state, one) for one in wanted), key=lambda one: one.id)

        return self._projection.ask(find, written=True)

    def explain(
        self, proposition_id: str, *, as_of_seq: int | None = None, now: int | None = None
    ) -> dict[str, Any] | None:
        """Why a proposition stands as it does; None: there is none (or was none then)."""
        moment = self._now(now)
        return self._projection.ask(
            lambda state: explain_proposition(state, self._log, proposition_id, now=moment, as_of_seq=as_of_seq)
        )

    def what_if(
        self, proposition_id: str, *, without: str, also: Collection[str] = (), now: int | None = None
    ) -> dict[str, Any] | None:
        """How it would stand had a source, or several, never spoken."""
        moment = self._now(now)
        return self._projection.ask(
            lambda state: what_if(state, self._log, proposition_id, without=without, also=also, now=moment)
        )

    def minimal_supports(self, proposition_id: str, *, now: int | None = None) -> dict[str, Any] | None:
        """The fewest observations its status rests on."""
        moment = self._now(now)
        return self._projection.ask(lambda state: minimal_supports(state, proposition_id, now=moment))

    def diff(self, first: int, last: int | None = None) -> dict[str, Any]:
        """What changed between two places of the log; to its end, if no second one is given."""
        end = self._ledger.size() - 1 if last is None else last
        return self._projection.ask(lambda state: diff(state, first, end), written=True)

    def json_ld(self, *, now: int | None = None) -> list[bytes]:
        """All of memory as JSON-LD, in pieces; all of one moment, so nothing is given out before the last is there."""
        moment = self._now(now)
        return self._projection.ask(lambda state: list(json_ld(state, now=moment)), written=True)

    def close(self) -> None:
        """Let go of the indexes."""
        if self._catalogue is not None:
            self._catalogue.close()
            self._catalogue = None

    def _indexed(self, state: StoredState) -> Catalogue:
        """The indexes, at the end of the log. The projection's lock is held here."""
        if self._catalogue is None:
            self._catalogue = Catalogue(self._folder)
        catalogue = self._catalogue
        if self._state is not state:
            _fill(state, catalogue)
            held = state.store.counts()
            if (catalogue.observations.size, catalogue.propositions.size) != (
                held["observations"],
                held["propositions"],
            ):
                # They hold what memory no longer does: something was erased, or it is another log.
                catalogue.clear()
                _fill(state, catalogue)
            self._state = state
        elif self._scanned != state.scanned:
            _fill(state, catalogue)
        self._scanned = state.scanned
        return catalogue

    def _now(self, now: int | None) -> int:
        return self._clock() if now is None else now


def _fill(state: StoredState, catalogue: Catalogue) -> None:
    catalogue.fill(
        state.observations_after(catalogue.observations.last_seq),
        map(_proposition, state.store.bodies("propositions", "seq", between=(catalogue.propositions.last_seq, None))),
    )


_proposition = reviver(Proposition)
