"""The projection: memory at the end of the log.

Before every query it catches up: it reads new receipts and folds them in. Nothing else changes it, so live and rebuilt
state cannot differ, and proposals of other processes are included.

Processes do not wait for each other: one whose snapshot is stale takes over what the other wrote and continues from
there. Only then, and to write, it takes a lock between processes: so a query is retried once, not for ever.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Protocol, TypeVar

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.fold import HANDLERS, fold
from tallystick.rooms.memory.project.receipts import erased_by, event_of, may_be_event
from tallystick.rooms.memory.project.stored_state import FORM, StoredState
from tallystick.rooms.memory.store import StaleSnapshot
from tallystick.storage.advisory_lock import AdvisoryLock

if TYPE_CHECKING:
    from tallystick.rooms.memory.store.rows import Store

T = TypeVar("T")
BATCH = 12_000
"""Rows written together, in about a quarter of a second. Ids are hashes, so nearly every row changes a page of an
index, and more rows share pages. Unwritten rows are lost with the process and derived from the log again."""
_TRIES = 20
"""Retries under the lock before giving up."""
_DISTURBED = "memory's tables are being changed by something that does not follow the log"
_NO_TURN = nullcontext()
_log = logging.getLogger(__name__)


class Ledger(Protocol):
    """What the projection asks of the ledger."""

    def size(self) -> int:
        """How many records there are."""
        ...

    def read(self, start: int = 0) -> Iterator[Receipt]:
        """Receipts from a sequence number on."""
        ...

    def follow(self, start: int, wanted: Callable[[bytes], bool]) -> Iterable[tuple[int, Receipt | None]]:
        """Receipts with their positions, as they come; None: by its header certainly not `wanted`."""
        ...

    def find(self, receipt_id: str) -> Receipt | None:
        """One receipt."""
        ...


class _Erased(Exception):  # noqa: N818 - a signal inside this module
    """Something that was folded in has been erased."""


class Projection:
    """Keeps a stored state at the end of the log. Threads may share it."""

    def __init__(self, log: Ledger, open_store: Callable[[], "Store"], policy: Policy, turn: AdvisoryLock) -> None:
        """Join log and store; the store is opened when it is first needed.

        Args:
            log: The ledger.
            open_store: Gives the tables.
            policy: What memory is made of the log by.
            turn: Is taken among the processes that write the tables.
        """
        self._log = log
        self._open_store = open_store
        self._policy = policy
        self._turn = turn
        self._state: StoredState | None = None
        self._lock = RLock()
        self._erased: set[str] = set()
        """Receipts whose payload counts as erased, even before it is: none of them is in the state."""

    def ask(self, question: Callable[[StoredState], T], *, written: bool = False) -> T:
        """Run a query on the state at the end of the log; it may run again if another process writes meanwhile.

        Every query reads one consistent snapshot of the tables.

        Args:
            question: Reads the state, and returns nothing that reads it later.
            written: Whether everything must be written first, for a query that reads the tables.
        """
        with self._lock, self._store.snapshot:
            for tried in range(_TRIES + 1):
                try:
                    return question(self._settled(written=written, alone=tried > 0))
                except StaleSnapshot:
                    self._state = None
        raise RuntimeError(_DISTURBED)

    def rebuild(self) -> StoredState:
        """Empty the tables and rebuild them from the log, as a stream."""
        with self._lock, self._turn:
            self._begin_again()
            return self.ask(lambda state: state, written=True)

    def close(self) -> None:
        """Write pending changes."""
        with self._lock:
            if self._state is not None:
                try:
                    self._flush(self._state)
                except StaleSnapshot:
                    _log.debug("another process has written memory further")
                self._state = None

    def _settled(self, *, written: bool, alone: bool) -> StoredState:
        """Return the state at the end of the log; if `alone`, no other process writes before the snapshot begins.

        Raises:
            StaleSnapshot: Another process has written, or a rebuild needs the lock.
        """
        with self._turn if alone else _NO_TURN:
            try:
                state = self._caught_up()
                if written:
                    self._flush(state)
                if alone:
                    self._store.snapshot.acquire()
            except BaseException:
                # The state may be halfway through an event.
                self._state = None
                raise
        return state

    def _caught_up(self) -> StoredState:
        while True:
            try:
                state = self._current()
                self._follow(state)
            except _Erased:
                self._begin_again()
            else:
                return state

    def _flush(self, state: StoredState) -> None:
        # An open snapshot costs the database, and the lock may take long.
        self._store.snapshot.release()
        with self._turn:
            state.flush()

    def _current(self) -> StoredState:
        """Return the state in memory, if it belongs to this log and policy; otherwise a fresh one."""
        state = self._state
        if state is None:
            state = self._state = StoredState(self._policy, self._store)
            # Tables written by others may include what was left out here.
            self._erased.clear()
            other_policy = state.written_under not in {None, (self._policy.digest, FORM)}
            first = next(iter(self._log.read(0)), None) if state.log else None
            other_log = bool(state.log) and (first is None or first.receipt_id != state.log)
            if other_policy or other_log or state.scanned >= self._log.size():
                state = self._begin_again()
        return state

    def _begin_again(self) -> StoredState:
        if not self._turn.taken:
            # Other processes find the same reason at the same time: one rebuilds, the others take over its result.
            raise StaleSnapshot
        self._store.wipe()
        self._state = StoredState(self._policy, self._store)
        return self._state

    @cached_property
    def _store(self) -> "Store":
        return self._open_store()

    def _follow(self, state: StoredState) -> None:
        """Fold in new receipts."""
        for seq, receipt in self._log.follow(state.scanned + 1, may_be_event):
            if receipt is None:
                state.scanned = seq
                continue
            self._take(state, receipt)
            state.scanned = seq
            if state.unwritten() >= BATCH:
                self._flush(state)

    def _take(self, state: StoredState, receipt: Receipt) -> None:
        if receipt.seq == 0:
            state.log = receipt.receipt_id
        gone = erased_by(receipt)
        if gone is not None and self._must_forget(gone):
            raise _Erased
        if receipt.erased or receipt.receipt_id in self._erased:
            self._erased.add(receipt.receipt_id)
            return
        event = event_of(receipt)
        if event is not None:
            fold(state, event)

    def _must_forget(self, receipt_id: str) -> bool:
        """Return whether an erased receipt was folded in, so that everything must be rebuilt without it."""
        if receipt_id in self._erased:
            return False
        self._erased.add(receipt_id)
        found = self._log.find(receipt_id)
        return found is not None and found.header["kind"] == "outcome" and found.header.get("tool_id") in HANDLERS
