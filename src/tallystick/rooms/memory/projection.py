"""The projection: memory as it stands at the end of the log.

Before anything is read or judged, it catches up: it reads the receipts it has not seen and folds them in. There is no
other way into it, so what is live and what is rebuilt cannot differ, and what other processes proposed is seen too.

Processes do not wait for each other: who is overtaken takes over what the other wrote, and goes on from there. Only
then, and to write at all, it takes its turn, in which nobody else writes: so one is overtaken once, and not for ever.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Protocol, TypeVar

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.memory.cached import Overtaken
from tallystick.rooms.memory.events import erased_by, event_of, may_be_event
from tallystick.rooms.memory.fold import HANDLERS, fold
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.stored import FORM, StoredState
from tallystick.storage.turn import Turn

if TYPE_CHECKING:
    from tallystick.rooms.memory.store import Store

T = TypeVar("T")
BATCH = 12_000
"""Rows that are written together, in some quarter of a second. Ids are hashes, so nearly every row changes a page of
an index; of more rows some share one. What waits is lost with the process, and read from the log again."""
_TRIES = 20
"""How often one may be overtaken in one's own turn before that is taken for a fault."""
_DISTURBED = "memory's tables are being changed by something that does not follow the log"
_NO_TURN = nullcontext()
_log = logging.getLogger(__name__)


class Log(Protocol):
    """What the projection asks of the ledger."""

    def size(self) -> int:
        """How many records there are."""
        ...

    def read(self, start: int = 0) -> Iterator[Receipt]:
        """Receipts from a sequence number on."""
        ...

    def follow(self, start: int, wanted: Callable[[bytes], bool]) -> Iterable[tuple[int, Receipt | None]]:
        """The same for who takes in each as it comes, with its place; None: surely not `wanted`, by its header."""
        ...

    def find(self, receipt_id: str) -> Receipt | None:
        """One receipt."""
        ...


class _Erased(Exception):  # noqa: N818 - a signal inside this module
    """Something that was folded in has been erased since."""


class Projection:
    """Keeps a stored state at the end of the log. Threads may share it."""

    def __init__(self, log: Log, open_store: Callable[[], "Store"], policy: Policy, turn: Turn) -> None:
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
        """Receipts whose payload is to be taken as gone, whether or not it is yet: none of them is in the state."""

    def ask(self, question: Callable[[StoredState], T], *, written: bool = False) -> T:
        """Ask the state at the end of the log; the question may be put again if another process writes meanwhile.

        What one question reads of the tables is all of one stand: it is never answered half from what another process
        has made of them since.

        Args:
            question: Reads the state, and gives nothing on that reads it later.
            written: All of it must also lie in the tables, for a question that reads those.
        """
        with self._lock, self._store.sight:
            for tried in range(_TRIES + 1):
                try:
                    return question(self._settled(written=written, alone=tried > 0))
                except Overtaken:
                    self._state = None
        raise RuntimeError(_DISTURBED)

    def rebuild(self) -> StoredState:
        """Throw the tables away and build them again from the log, as a stream."""
        with self._lock, self._turn:
            self._begin_again()
            return self.ask(lambda state: state, written=True)

    def close(self) -> None:
        """Write what waits."""
        with self._lock:
            if self._state is not None:
                try:
                    self._flush(self._state)
                except Overtaken:
                    _log.debug("another process has written memory further")
                self._state = None

    def _settled(self, *, written: bool, alone: bool) -> StoredState:
        """The state at the end of the log; if `alone`, nobody writes until the tables are being looked at.

        Raises:
            Overtaken: Another process has written, or all must be built again, for which one must be alone.
        """
        with self._turn if alone else _NO_TURN:
            try:
                state = self._caught_up()
                if written:
                    self._flush(state)
                if alone:
                    self._store.sight.look()
            except BaseException:
                # It may be half way in an event.
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
        # What is being looked at must be kept by the database, and the turn may be a long time coming.
        self._store.sight.look_away()
        with self._turn:
            state.flush()

    def _current(self) -> StoredState:
        """The state at hand, if it is one of this log under this policy; else a fresh one."""
        state = self._state
        if state is None:
            state = self._state = StoredState(self._policy, self._store)
            # What others have written may hold what was left out here.
            self._erased.clear()
            other_policy = state.written_under not in {None, (self._policy.digest, FORM)}
            first = next(iter(self._log.read(0)), None) if state.log else None
            other_log = bool(state.log) and (first is None or first.receipt_id != state.log)
            if other_policy or other_log or state.scanned >= self._log.size():
                state = self._begin_again()
        return state

    def _begin_again(self) -> StoredState:
        if not self._turn.taken:
            # Others find the same reason at the same time. One of them does it, and the others take that over.
            raise Overtaken
        self._store.wipe()
        self._state = StoredState(self._policy, self._store)
        return self._state

    @cached_property
    def _store(self) -> "Store":
        return self._open_store()

    def _follow(self, state: StoredState) -> None:
        """Fold in what was recorded since."""
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
        """Whether something of memory's was folded in that must be gone; then all is built again without it."""
        if receipt_id in self._erased:
            return False
        self._erased.add(receipt_id)
        found = self._log.find(receipt_id)
        return found is not None and found.header["kind"] == "outcome" and found.header.get("tool_id") in HANDLERS
