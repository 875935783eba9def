"""The Merkle tree on disk: leaf hash and position of every record, and subtree roots per 256 and 65,536 records.

It is derived from the log and checked against the signed checkpoints when opened; if missing, short or wrong, it is
rebuilt. It lets one receipt out of ten million be found and proved by reading a few kilobytes.

    leaves    40 bytes per record: leaf hash (32) ‖ position (8)
    level08   32 bytes per 256 records
    level16   32 bytes per 65,536 records
"""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tallystick.gate.record.tree import HASH_SIZE, Frontier, subtree_root
from tallystick.storage.journal import disk

ENTRY = HASH_SIZE + 8
_STEP = 8
BLOCK = 1 << _STEP
"""Records per stored root."""
_TOP = 16


class Tiles:
    """Fixed-width files, written in place."""

    def __init__(self, folder: Path) -> None:
        disk.make_folder(folder)
        self._leaves = _open(folder / "leaves")
        self._levels = {_STEP: _open(folder / "level08"), _TOP: _open(folder / "level16")}
        # A block of 256 hashes covers eight levels of a Merkle path, so one proof needs a few blocks.
        self._row = lru_cache(maxsize=16)(self._read_row)

    def count(self) -> int:
        """Return the number of records in the tiles; the caller must verify them."""
        return min(os.fstat(self._leaves).st_size // ENTRY, self._covered())

    def extend(self, start: int, entries: Sequence[tuple[bytes, int]]) -> None:
        """Store leaf hash and position of the records from `start` on, and the subtree roots they complete."""
        if not entries:
            return
        data = b"".join([leaf + place.to_bytes(8) for leaf, place in entries])
        _put(self._leaves, data, start * ENTRY)
        end = start + len(entries)
        self._row.cache_clear()
        for block in range(start >> _STEP, end >> _STEP):
            first = block << _STEP
            leaves = self.leaves(first, max(first, start))
            leaves += [leaf for leaf, _ in entries[max(0, first - start) : first + BLOCK - start]]
            _put(self._levels[_STEP], subtree_root(leaves), block * HASH_SIZE)
        for block in range(start >> _TOP, end >> _TOP):
            _put(self._levels[_TOP], subtree_root(self.blocks(block << _STEP, (block + 1) << _STEP)), block * HASH_SIZE)

    def leaf(self, seq: int) -> bytes:
        """Return the leaf hash of a record."""
        return os.pread(self._leaves, HASH_SIZE, seq * ENTRY)

    def position(self, seq: int) -> int:
        """Return the position of a record in the log."""
        return int.from_bytes(os.pread(self._leaves, 8, seq * ENTRY + HASH_SIZE))

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree; 2^level · (index + 1) must not exceed `count`."""
        stored = min(level // _STEP * _STEP, _TOP)
        width = 1 << (level - stored)
        if width > BLOCK:  # beyond 2^24 records: read as many top-level roots as needed
            return subtree_root(self._hashes(stored, index * width, width))
        first = index * width
        row = self._row(stored, first >> _STEP)
        return subtree_root(row[first % BLOCK : first % BLOCK + width])

    def frontier(self, blocks: int) -> Frontier:
        """Return the frontier over the first `blocks` blocks."""
        return Frontier(blocks, lambda level, index: self.node(level + _STEP, index))

    def blocks(self, first: int, end: int) -> list[bytes]:
        """Return the roots of a range of blocks."""
        return self._hashes(_STEP, first, end - first)

    def leaves(self, first: int, end: int) -> list[bytes]:
        """Return the leaf hashes of a range of records."""
        return self._hashes(0, first, end - first)

    def close(self) -> None:
        """Close the files."""
        for fd in (self._leaves, *self._levels.values()):
            os.close(fd)

    def _covered(self) -> int:
        """Return how many records the higher levels cover (one further block of leaves may be incomplete)."""
        blocks = os.fstat(self._levels[_STEP]).st_size // HASH_SIZE
        tops = os.fstat(self._levels[_TOP]).st_size // HASH_SIZE
        return min(((blocks + 1) << _STEP) - 1, ((tops + 1) << _TOP) - 1)

    def _read_row(self, level: int, block: int) -> list[bytes]:
        return self._hashes(level, block << _STEP, BLOCK)

    def _hashes(self, level: int, first: int, number: int) -> list[bytes]:
        if level:
            return _split(os.pread(self._levels[level], number * HASH_SIZE, first * HASH_SIZE))
        data = os.pread(self._leaves, number * ENTRY, first * ENTRY)
        return [data[at : at + HASH_SIZE] for at in range(0, len(data), ENTRY)]


def _split(data: bytes) -> list[bytes]:
    return [data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE)]


def _open(path: Path) -> int:
    return disk.open_file(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)


def _put(fd: int, data: bytes, at: int) -> None:
    if disk.pwrite(fd, data, at) != len(data):
        raise OSError("short write to the tree")
