"""The Merkle tree of the log: hashes and proofs of RFC 9162 (the same as in RFC 6962).

Leaf *i* is SHA-256(0x00 ‖ header bytes of record *i*), so one hash serves as the leaf here and as `prev` in the next
record. Proofs are made from `node(level, index)`, the hash of a complete subtree; the caller decides where these hashes
come from (tiles on disk, a list in a test). The verifiers are strict: they reject a proof with one hash too many, a
size that does not match, or a root of an empty tree that is not the empty hash.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

EMPTY_ROOT = sha256(b"").digest()
HASH_SIZE = 32

Node = Callable[[int, int], bytes]
"""(level, index) → hash of the complete subtree over leaves index·2^level … (index+1)·2^level - 1."""


def leaf_hash(data: bytes) -> bytes:
    """Return SHA-256(0x00 ‖ data)."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 ‖ left ‖ right)."""
    return sha256(b"\1" + left + right).digest()


def subtree_root(hashes: Sequence[bytes]) -> bytes:
    """Return the root over 2^k hashes of one level."""
    row = list(hashes)
    while len(row) > 1:
        # Inlined node_hash: this loop is most of the cost of a checkpoint.
        row = [sha256(b"\1" + row[i] + row[i + 1]).digest() for i in range(0, len(row), 2)]
    return row[0]


class Frontier:
    """The roots of the complete subtrees from the left: all the state needed to append, 32 bytes per level.

    Add either leaves or the roots of equal subtrees (blocks); with blocks, `root` also accepts the leaves of an
    incomplete last block.
    """

    __slots__ = ("_roots", "size")

    def __init__(self, size: int = 0, node: Node | None = None) -> None:
        self.size = size
        # From the largest subtree to the smallest, one per bit set in `size`.
        self._roots = [] if node is None else [node(level, index) for level, index in _complete(0, size)]

    def add(self, hashes: Iterable[bytes]) -> None:
        """Append leaves or blocks."""
        roots = self._roots
        for top in hashes:
            size = self.size
            while size & 1:
                top = sha256(b"\1" + roots.pop() + top).digest()  # noqa: PLW2901 - now the merged subtree's root
                size >>= 1
            roots.append(top)
            self.size += 1

    def root(self, rest: Sequence[bytes] = ()) -> bytes:
        """Return the root of the tree so far, with `rest` as the leaves of an incomplete last block."""
        if not rest:
            return _fold(self._roots)
        parts = [subtree_root(rest[index << level : (index + 1) << level]) for level, index in _complete(0, len(rest))]
        return _fold([*self._roots, *parts])


def root_at(size: int, node: Node) -> bytes:
    """Return the root of the tree over the first `size` leaves."""
    return _span(0, size, node)


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """Return the path from leaf `index` to the root of the tree of that size."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _left_size(end - start)
        if index < middle:
            path.append(_span(middle, end, node))
            end = middle
        else:
            path.append(_span(start, middle, node))
            start = middle
    return path[::-1]


def consistency_proof(first: int, second: int, node: Node) -> list[bytes]:
    """Return the path that proves that the tree of size `second` extends the tree of size `first`."""
    if not 0 <= first <= second:
        raise ValueError(f"a tree of {second} leaves cannot extend a tree of {first}")
    if first in {0, second}:
        return []
    path: list[bytes] = []
    start, end, whole = 0, second, True
    while first != end:
        middle = start + _left_size(end - start)
        if first <= middle:
            path.append(_span(middle, end, node))
            end = middle
        else:
            path.append(_span(start, middle, node))
            start, whole = middle, False
    if not whole:
        path.append(_span(start, end, node))
    return path[::-1]


def inclusion_holds(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether the path leads from this leaf, at this index, to this root."""
    return subtree_inclusion_holds(leaf, index, (0, size), path, root)


def subtree_inclusion_holds(
    leaf: bytes, index: int, subtree: tuple[int, int], path: Sequence[bytes], root: bytes
) -> bool:
    """Return whether the path leads from this leaf to the root of the subtree over leaves start … end - 1."""
    start, end = subtree
    if not _is_subtree(start, end) or not start <= index < end or not _all_hashes((leaf, root, *path)):
        return False
    place, last, top = index - start, end - start - 1, leaf
    for sibling in path:
        if last == 0:
            return False  # one hash too many
        if place & 1 or place == last:
            top = node_hash(sibling, top)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            top = node_hash(top, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and top == root


def consistency_holds(sizes: tuple[int, int], roots: tuple[bytes, bytes], path: Sequence[bytes]) -> bool:
    """Return whether the path proves that the second tree extends the first."""
    if not _all_hashes(roots) or (sizes[1] == 0 and roots[1] != EMPTY_ROOT):
        return False
    return subtree_consistency_holds((0, sizes[0]), sizes[1], roots, path)


def subtree_consistency_holds(
    subtree: tuple[int, int], size: int, roots: tuple[bytes, bytes], path: Sequence[bytes]
) -> bool:
    """Return whether the path proves that the subtree start … end - 1 (first root) is in the tree (second root)."""
    start, end = subtree
    if start == end:  # an empty subtree is in every tree, and proves nothing about it
        return 0 <= start <= size and not path and roots[0] == EMPTY_ROOT
    if not _is_subtree(start, end) or end > size or not _all_hashes(path):
        return False
    first, inner, outer = start, end - 1, size - 1
    while first != inner and (inner == outer or inner & 1):
        first, inner, outer = first >> 1, inner >> 1, outer >> 1
    if first == inner:
        seed, rest = roots[0], path
    elif path:
        seed, rest = path[0], path[1:]
    else:
        return False
    return _climb((first, inner, outer), seed, rest) == roots


def _climb(places: tuple[int, int, int], seed: bytes, path: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """Compute both roots from a consistency path; None if it is too long or too short."""
    first, inner, outer = places
    low = high = seed
    for sibling in path:
        if outer == 0:
            return None
        if inner & 1 or inner == outer:
            if first < inner:
                low = node_hash(sibling, low)
            high = node_hash(sibling, high)
            while not inner & 1 and inner:
                first, inner, outer = first >> 1, inner >> 1, outer >> 1
        else:
            high = node_hash(high, sibling)
        first, inner, outer = first >> 1, inner >> 1, outer >> 1
    return (low, high) if outer == 0 else None


def _is_subtree(start: int, end: int) -> bool:
    """Return whether the range is a subtree: it starts at a multiple of the smallest power of two that holds it."""
    return 0 <= start < end and start % (1 << (end - start - 1).bit_length()) == 0


def _all_hashes(values: Iterable[bytes]) -> bool:
    return all(len(value) == HASH_SIZE for value in values)


def _left_size(size: int) -> int:
    """Return the largest power of two below `size`, where RFC 9162 splits a tree."""
    return 1 << ((size - 1).bit_length() - 1)


def _span(start: int, end: int, node: Node) -> bytes:
    return _fold([node(level, index) for level, index in _complete(start, end)])


def _fold(roots: Sequence[bytes]) -> bytes:
    if not roots:
        return EMPTY_ROOT
    top = roots[-1]
    for left in reversed(roots[:-1]):
        top = node_hash(left, top)
    return top


def _complete(start: int, end: int) -> Iterable[tuple[int, int]]:
    """Yield the complete subtrees that make up start … end - 1, from the left; `start` must be a subtree's start."""
    while start < end:
        level = (end - start).bit_length() - 1
        yield level, start >> level
        start += 1 << level
