"""The projection: memory as it stands at the end of the log.

Before anything is read or judged, it catches up: it reads the receipts it has not seen and folds them in. There is no
other way into it, so what is live and what is rebuilt cannot differ, and what other processes proposed is seen too.
"""

import logging
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Protocol, TypeVar

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.memory.cached import Overtaken
from tallystick.rooms.memory.events import erased_by, event_of
from tallystick.rooms.memory.fold import HANDLERS, fold
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.stored import FORM, StoredState

if TYPE_CHECKING:
    from tallystick.rooms.memory.store import Store

T = TypeVar("T")
BATCH = 4_000
"""Rows that are written together. What waits is lost with the process, and read from the log again."""
_TRIES = 20
"""How often another process may be quicker before that is taken for a fault."""
_DISTURBED = "memory's tables are being changed by something that does not follow the log"
_log = logging.getLogger(__name__)


class Log(Protocol):
    """What the projection asks of the ledger."""

    def size(self) -> int:
        """How many records there are."""
        ...

    def read(self, start: int = 0) -> Iterator[Receipt]:
        """Receipts from a sequence number on."""
        ...

    def follow(self, start: int) -> Iterator[Receipt]:
        """The same for who takes in each as it comes: what this process just wrote comes from memory."""
        ...

    def find(self, receipt_id: str) -> Receipt | None:
        """One receipt."""
        ...


class _Erased(Exception):  # noqa: N818 - a signal inside this module
    """Something that was folded in has been erased since."""


class Projection:
    """Keeps a stored state at the end of the log. Threads may share it."""

    def __init__(self, log: Log, open_store: Callable[[], "Store"], policy: Policy) -> None:
        """Join log and store; the store is opened when it is first needed."""
        self._log = log
        self._open_store = open_store
        self._policy = policy
        self._state: StoredState | None = None
        self._lock = RLock()
        self._erased: set[str] = set()
        """Receipts whose payload is to be taken as gone, whether or not it is yet."""

    def ask(self, question: Callable[[StoredState], T], *, written: bool = False) -> T:
        """Ask the state at the end of the log; the question may be put again if another process writes meanwhile.

        What one question reads of the tables is all of one stand: it is never answered half from what another process
        has made of them since.

        Args:
            question: Reads the state, and gives nothing on that reads it later.
            written: All of it must also lie in the tables, for a question that reads those.
        """
        with self._lock, self._store.staying():
            for _ in range(_TRIES):
                try:
                    return question(self._settled(written=written))
                except Overtaken:
                    self._state = None
        raise RuntimeError(_DISTURBED)

    def rebuild(self) -> StoredState:
        """Throw the tables away and build them again from the log, as a stream."""
        with self._lock:
            self._begin_again()
            return self._settled(written=True)

    def close(self) -> None:
        """Write what waits."""
        with self._lock:
            if self._state is not None:
                try:
                    self._state.flush()
                except Overtaken:
                    _log.debug("another process has written memory further")
                self._state = None

    def _settled(self, *, written: bool) -> StoredState:
        for _ in range(_TRIES):
            try:
                state = self._current()
                self._follow(state)
                if written:
                    state.flush()
            except Overtaken:
                self._state = None
            except _Erased:
                self._begin_again()
            else:
                return state
        raise RuntimeError(_DISTURBED)

    def _current(self) -> StoredState:
        """The state at hand, if it is one of this log under this policy; else a fresh one."""
        state = self._state
        if state is None:
            state = self._state = StoredState(self._policy, self._store)
            other_policy = state.written_under not in {None, (self._policy.digest, FORM)}
            first = next(iter(self._log.read(0)), None) if state.log else None
            other_log = bool(state.log) and (first is None or first.receipt_id != state.log)
            if other_policy or other_log or state.scanned >= self._log.size():
                state = self._begin_again()
        return state

    def _begin_again(self) -> StoredState:
        self._store.wipe()
        self._state = StoredState(self._policy, self._store)
        return self._state

    @cached_property
    def _store(self) -> "Store":
        return self._open_store()

    def _follow(self, state: StoredState) -> None:
        """Fold in what was recorded since."""
        for receipt in self._log.follow(state.scanned + 1):
            self._take(state, receipt)
            state.scanned = receipt.seq
            if state.unwritten() >= BATCH:
                state.flush()

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
        """Whether something of memory's was folded in that must be gone; then all is built again without it."""
        if receipt_id in self._erased:
            return False
        self._erased.add(receipt_id)
        found = self._log.find(receipt_id)
        return found is not None and found.header["kind"] == "outcome" and found.header.get("tool_id") in HANDLERS
