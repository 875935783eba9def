"""The Merkle tree in tables: leaves in `tally_records`, subtree roots per 256 and 65,536 records in `tally_nodes`."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tallystick.gate.record.tree import Frontier, subtree_root

_STEP, _TOP = 8, 16
BLOCK = 1 << _STEP
_KEPT = 64
Query = Callable[[str, tuple[int, ...]], list[tuple[Any, ...]]]
"""Runs a statement and returns its rows."""


class TreeRows:
    """Reads and extends the stored hashes; `query` runs on the connection that the caller holds."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[int, int], list[bytes]] = OrderedDict()
        """Complete blocks of hashes, the latest used last."""
        self._frontier = Frontier()
        """Over complete blocks of records."""

    def forget(self) -> None:
        """Drop what is cached, because the stored hashes were made anew."""
        self._rows.clear()
        self._frontier = Frontier()

    def node(self, level: int, index: int, query: Query) -> bytes:
        """Return the hash of a complete subtree."""
        stored = min(level // _STEP * _STEP, _TOP)
        width = 1 << (level - stored)
        first = index * width
        if width > BLOCK:
            return subtree_root(_hashes(stored, first, width, query))
        row = self._row(stored, first >> _STEP, query)
        return subtree_root(row[first % BLOCK : first % BLOCK + width])

    def extend(self, start: int, end: int, query: Query) -> None:
        """Store the subtree roots that the records from `start` to `end` complete."""
        for block in range(start >> _STEP, end >> _STEP):
            self._put(_STEP, block, _hashes(0, block << _STEP, BLOCK, query), query)
        for block in range(start >> _TOP, end >> _TOP):
            self._put(_TOP, block, _hashes(_STEP, block << _STEP, BLOCK, query), query)

    def root(self, size: int, query: Query) -> bytes:
        """Return the root over the first `size` records, whose complete blocks are stored."""
        blocks = size // BLOCK
        if blocks < self._frontier.size:
            self._frontier = Frontier()
        if blocks > self._frontier.size:
            at = self._frontier.size
            self._frontier.add(_hashes(_STEP, at, blocks - at, query))
        return self._frontier.root(_hashes(0, blocks * BLOCK, size - blocks * BLOCK, query))

    @staticmethod
    def _put(level: int, place: int, hashes: list[bytes], query: Query) -> None:
        query(
            "INSERT INTO tally_nodes VALUES (%s, %s, %s) "
            "ON CONFLICT (level, place) DO UPDATE SET hash = EXCLUDED.hash RETURNING 1",
            (level, place, subtree_root(hashes)),  # type: ignore[arg-type]
        )

    def _row(self, level: int, block: int, query: Query) -> list[bytes]:
        key = level, block
        row = self._rows.get(key)
        if row is None:
            row = _hashes(level, block << _STEP, BLOCK, query)
            if len(row) == BLOCK:
                self._rows[key] = row
                if len(self._rows) > _KEPT:
                    self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(key)
        return row


def _hashes(level: int, first: int, number: int, query: Query) -> list[bytes]:
    if number <= 0:
        return []
    if level == 0:
        text = "SELECT leaf FROM tally_records WHERE seq >= %s AND seq < %s ORDER BY seq"
        return [bytes(row[0]) for row in query(text, (first, first + number))]
    text = "SELECT hash FROM tally_nodes WHERE level = %s AND place >= %s AND place < %s ORDER BY place"
    return [bytes(row[0]) for row in query(text, (level, first, first + number))]
