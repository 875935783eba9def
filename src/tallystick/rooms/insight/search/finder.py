"""The finder: chooses the backend that holds the current vectors; a stamp in the database tells stale ones."""

from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tallystick.rooms.insight.search.files import folder_of, opened, write
from tallystick.rooms.insight.search.local import LocalRows, Progress
from tallystick.rooms.insight.search.model import Limits, Rows
from tallystick.rooms.insight.search.postgres import copied_rows, copy_rows

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

HELD = 16
"""Sets kept open. They are mapped, so what is not asked for needs no memory."""


class Finder:
    """The vectors of one workspace, ready to be searched."""

    def __init__(self, store: "Store", root: Path, limits: Limits | None = None) -> None:
        self._store = store
        self._root = root
        self._limits = limits or Limits()
        self._held: OrderedDict[tuple[int, str], Rows] = OrderedDict()
        self._lock = Lock()

    def rows(self, dataset_id: int, model_name: str, stamp: int) -> Rows:
        """The vectors at a state; written to a file first, where they are not there yet."""
        key = (dataset_id, model_name)
        with self._lock:
            held = self._held.get(key)
            if held is None or held.stamp != stamp:
                held = self._opened(dataset_id, model_name, stamp)
                self._held[key] = held
            self._held.move_to_end(key)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
            return held

    def prepare(self, dataset_id: int, model_name: str, progress: Progress = lambda _done, _total: None) -> bool:
        """Make now what a large set needs to be searched quickly; False: there are no vectors."""
        stamp = self._store.vector_stamps(dataset_id).get(model_name)
        if stamp is None:
            return False
        rows = self.rows(dataset_id, model_name, stamp)
        if rows.count <= self._limits.exact_rows or not isinstance(rows, LocalRows):
            return True
        if self._store.ranks:
            copy_rows(self._store, dataset_id, model_name, stamp, rows.mean)
        else:
            rows.prepare(progress)
        with self._lock:
            self._held.pop((dataset_id, model_name), None)
        return True

    def _opened(self, dataset_id: int, model_name: str, stamp: int) -> Rows:
        copied = copied_rows(self._store, dataset_id, model_name, stamp)
        if copied is not None:
            return copied
        mapped = opened(folder_of(self._root, dataset_id, model_name, stamp))
        if mapped is None:
            mapped = opened(write(self._store, self._root, dataset_id, model_name, stamp))
        if mapped is None:
            message = "the vectors that were just written are gone"
            raise FileNotFoundError(message)
        return LocalRows(mapped, self._limits)
