"""Where this process believes the journal stands, and how it finds that out when it opens it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tallystick.gate.record.journal import ZERO, JustWritten, Notary, SignedRecord
from tallystick.gate.record.tree import Frontier, leaf_hash, root_at
from tallystick.storage.journal.recovery import Found, Walk
from tallystick.storage.journal.segments import Segments
from tallystick.storage.journal.tiles import BLOCK, Tiles

RECENT = 1_024
"""Of its own last records a process holds so many in memory: some rounds of many callers. Who follows the log reads
each just after it is there."""
HANDY = 1 << 14
"""Bytes of arguments up to which a record is held: with all of them as large, sixteen megabytes."""
FLUSH = 1 << 16
"""Records kept in memory before they go to the tiles, when a whole log is read again."""


@dataclass(slots=True)
class Stand:
    """The end of the log as this process knows it, with the leaves that are not in the tiles yet."""

    size: int = 0
    leaf: bytes = ZERO
    end: int = 0
    tiled: int = 0
    pending: list[tuple[bytes, int]] = field(default_factory=list)
    """Leaf hash and position of the records from `tiled` on."""
    frontier: Frontier = field(default_factory=Frontier)
    """Over complete blocks; brought up to date when a root is asked for."""
    recent: deque[JustWritten] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last records, as far as this process wrote them and nobody else has written since: then nobody
    can have erased anything of them either, since the order to do so is a record."""

    def since(self, seq: int) -> Sequence[JustWritten] | None:
        """The records from one on; None: they must be read from the log."""
        behind = self.size - seq
        if behind > len(self.recent):
            return None
        return [self.recent[at] for at in range(-behind, 0)] if behind > 0 else ()

    def follow(self, leaf: bytes, position: int, end: int, record: SignedRecord | None = None) -> None:
        """One more record; it itself, if this process wrote it."""
        self.pending.append((leaf, position))
        if record is None or len(record.inputs) > HANDY:
            self.recent.clear()
        else:
            self.recent.append((record.header, record.inputs, record.receipt_id, record.told))
        self.size += 1
        self.leaf = leaf
        self.end = end

    def settle(self, size: int) -> None:
        """The tiles hold the first `size` records now, whoever wrote them."""
        done = size - self.tiled
        if done > 0:
            del self.pending[:done]
            self.tiled = size

    def flush(self, tiles: Tiles) -> None:
        """Write what is pending to the tiles."""
        tiles.extend(self.tiled, self.pending)
        self.settle(self.size)

    def root(self, tiles: Tiles) -> bytes:
        """The root over all records; they must be in the tiles."""
        blocks = self.size // BLOCK
        if blocks > self.frontier.size:
            self.frontier.add(tiles.blocks(self.frontier.size, blocks))
        return self.frontier.root(tiles.leaves(blocks * BLOCK, self.size))

    def leaf_at(self, seq: int, tiles: Tiles) -> bytes:
        """The leaf hash of a record."""
        return self.pending[seq - self.tiled][0] if seq >= self.tiled else tiles.leaf(seq)

    def position_of(self, seq: int, tiles: Tiles) -> int:
        """Where a record stands."""
        return self.pending[seq - self.tiled][1] if seq >= self.tiled else tiles.position(seq)


def starting_stand(segments: Segments, tiles: Tiles, signed: tuple[int, bytes] | None) -> Stand:
    """Where to read on from: the latest checkpoint if the tiles bear it out, else the very beginning.

    Args:
        segments: The log.
        tiles: The tree, as it was found.
        signed: Size and root of the latest checkpoint that holds.
    """
    if signed is None or signed[0] == 0 or tiles.count() < signed[0]:
        return Stand()
    size, root = signed
    if root_at(size, tiles.node) != root:
        return Stand()
    position = tiles.position(size - 1)
    line = segments.line_at(position)
    # The root vouches for the leaf hashes; the offsets are only a hint until the line is seen to hash to its leaf.
    if line is None or leaf_of(line) != tiles.leaf(size - 1):
        return Stand()
    end = position + len(line) + 1
    return Stand(size=size, leaf=tiles.leaf(size - 1), end=end, tiled=size, frontier=tiles.frontier(size // BLOCK))


def follow(stand: Stand, found: Found, tiles: Tiles, checkpoint: tuple[int, bytes] | None) -> bool:
    """Take a record that was read; False if the tree it makes is not the one that the log signed."""
    stand.follow(found.leaf, found.position, found.end)
    if checkpoint is not None and stand.size == checkpoint[0]:
        stand.flush(tiles)
        return stand.root(tiles) == checkpoint[1]
    if len(stand.pending) >= FLUSH:
        stand.flush(tiles)
    return True


def rebuilt(segments: Segments, tiles: Tiles, notary: Notary, trusted: int) -> Stand:
    """Read the log from its beginning and write the tiles anew."""
    stand = Stand()
    walk = Walk(segments, notary, trusted=trusted, seq=0, leaf=ZERO, end=0)
    for found in walk.records():
        follow(stand, found, tiles, None)
    stand.flush(tiles)
    return stand


def leaf_of(line: bytes) -> bytes:
    """The leaf hash of a record's line."""
    return leaf_hash(line.partition(b"\t")[0])
