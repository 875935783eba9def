"""This process's cached journal tail, and how it is determined when the journal is opened."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tallystick.gate.record.journal import ZERO, JustWritten, Notary, SignedRecord
from tallystick.gate.record.tree import Frontier, leaf_hash, root_at
from tallystick.storage.journal.log_reader import LogReader, ReadRecord
from tallystick.storage.journal.segments import Segments
from tallystick.storage.journal.tiles import BLOCK, Tiles

RECENT = 1_024
"""How many of its own latest records a process caches: a few rounds of many callers. Readers that follow the log read
each record just after it is written."""
HANDY = 1 << 14
"""Maximum bytes of arguments of a cached record; the whole cache then takes at most sixteen megabytes."""
FLUSH = 1 << 16
"""Records buffered before they are written to the tiles when a whole log is re-read."""


@dataclass(slots=True)
class JournalTail:
    """The end of the log as this process knows it, with the leaves that are not in the tiles yet."""

    size: int = 0
    leaf: bytes = ZERO
    end: int = 0
    tiled: int = 0
    pending: list[tuple[bytes, int]] = field(default_factory=list)
    """Leaf hash and position of the records from `tiled` on."""
    frontier: Frontier = field(default_factory=Frontier)
    """Frontier over complete blocks; updated when a root is requested."""
    recent: deque[JustWritten] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The latest records, as long as this process wrote them and no other process has written since. Then no other
    process can have erased any of them either, because an erasure order is itself a record."""

    def since(self, seq: int) -> Sequence[JustWritten] | None:
        """Return the cached records from `seq` on; None: they must be read from the log."""
        behind = self.size - seq
        if behind > len(self.recent):
            return None
        return [self.recent[at] for at in range(-behind, 0)] if behind > 0 else ()

    def follow(self, leaf: bytes, position: int, end: int, record: SignedRecord | None = None) -> None:
        """Advance by one record; `record` is given if this process wrote it."""
        self.pending.append((leaf, position))
        if record is None or len(record.inputs) > HANDY:
            self.recent.clear()
        else:
            self.recent.append((record.header, record.inputs, record.receipt_id, record.summary))
        self.size += 1
        self.leaf = leaf
        self.end = end

    def settle(self, size: int) -> None:
        """Note that the tiles now hold the first `size` records, written by this or another process."""
        done = size - self.tiled
        if done > 0:
            del self.pending[:done]
            self.tiled = size

    def flush(self, tiles: Tiles) -> None:
        """Write the pending leaves to the tiles."""
        tiles.extend(self.tiled, self.pending)
        self.settle(self.size)

    def root(self, tiles: Tiles) -> bytes:
        """Return the root over all records, which must already be in the tiles."""
        blocks = self.size // BLOCK
        if blocks > self.frontier.size:
            self.frontier.add(tiles.blocks(self.frontier.size, blocks))
        return self.frontier.root(tiles.leaves(blocks * BLOCK, self.size))

    def leaf_at(self, seq: int, tiles: Tiles) -> bytes:
        """Return the leaf hash of a record."""
        return self.pending[seq - self.tiled][0] if seq >= self.tiled else tiles.leaf(seq)

    def position_of(self, seq: int, tiles: Tiles) -> int:
        """Return the position of a record in the log."""
        return self.pending[seq - self.tiled][1] if seq >= self.tiled else tiles.position(seq)


def starting_tail(segments: Segments, tiles: Tiles, signed: tuple[int, bytes] | None) -> JournalTail:
    """Return the tail to resume reading from: the latest checkpoint if the tiles match it, else the start of the log.

    Args:
        segments: The log.
        tiles: The tree as found on disk.
        signed: Size and root of the latest checkpoint that verifies.
    """
    if signed is None or signed[0] == 0 or tiles.count() < signed[0]:
        return JournalTail()
    size, root = signed
    if root_at(size, tiles.node) != root:
        return JournalTail()
    position = tiles.position(size - 1)
    line = segments.line_at(position)
    # The root authenticates the leaf hashes; an offset is only a hint until its line hashes to its leaf.
    if line is None or leaf_of(line) != tiles.leaf(size - 1):
        return JournalTail()
    end = position + len(line) + 1
    return JournalTail(
        size=size, leaf=tiles.leaf(size - 1), end=end, tiled=size, frontier=tiles.frontier(size // BLOCK)
    )


def follow(tail: JournalTail, found: ReadRecord, tiles: Tiles, checkpoint: tuple[int, bytes] | None) -> bool:
    """Advance `tail` by a record read from the log; False if the tree then does not match the signed checkpoint."""
    tail.follow(found.leaf, found.position, found.end)
    if checkpoint is not None and tail.size == checkpoint[0]:
        tail.flush(tiles)
        return tail.root(tiles) == checkpoint[1]
    if len(tail.pending) >= FLUSH:
        tail.flush(tiles)
    return True


def rebuilt(segments: Segments, tiles: Tiles, notary: Notary, trusted: int) -> JournalTail:
    """Read the log from its start and rewrite the tiles."""
    tail = JournalTail()
    reader = LogReader(segments, notary, trusted=trusted, seq=0, leaf=ZERO, end=0)
    for found in reader.records():
        follow(tail, found, tiles, None)
    tail.flush(tiles)
    return tail


def leaf_of(line: bytes) -> bytes:
    """Return the leaf hash of a record's line."""
    return leaf_hash(line.partition(b"\t")[0])
