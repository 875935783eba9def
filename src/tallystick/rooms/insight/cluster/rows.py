"""Rows of a dataset: one per distinct text, in the order of the texts' digests.

A million vectors lie in a file that is mapped into memory; of the texts only digests are kept, and the few that are
shown or counted are read again.
"""

from collections.abc import Sequence
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.records import record
from tallystick.rooms.insight.embed.service import meant_by, text_of
from tallystick.rooms.insight.model import Where

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Ticket
    from tallystick.rooms.insight.store import Store

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
IN_MEMORY = 64_000_000
"""Numbers that are kept in memory (256 MB); more lie in a file of their own."""
_DIGEST = 16
_ASKED = 500
"""Tickets named in one question to the database."""


@record
class Rows:
    """Different texts with their vectors, and the tickets that say them."""

    dataset_id: int
    vectors: Matrix
    """A unit vector a row."""
    weights: Ints
    """How many tickets say it."""
    tickets: Ints
    """All tickets that have a vector."""
    row_of: Ints
    """The row of each of them."""
    speaker: Ints
    """For each row the first ticket that says it."""
    without_vector: int

    def __len__(self) -> int:
        """How many different texts there are."""
        return len(self.weights)

    def said(self, store: "Store", rows: Sequence[int]) -> "list[Ticket]":
        """The first ticket of some rows."""
        ids = [int(self.speaker[row]) for row in rows]
        found: dict[int, Ticket] = {}
        for start in range(0, len(ids), _ASKED):
            some = Where(ids=tuple(ids[start : start + _ASKED]))
            found.update((ticket.ticket_id, ticket) for ticket in store.tickets(self.dataset_id, some))
        return [found[one] for one in ids]

    def texts(self, store: "Store", rows: Sequence[int]) -> list[str]:
        """What some rows say."""
        return [text_of(ticket) for ticket in self.said(store, rows)]


def read_rows(store: "Store", dataset_id: int, model_name: str) -> Rows:
    """Read the tickets of a dataset that have a vector of a model; there is at least one."""
    ids, digests = _digests(store, dataset_id)
    # Digests of 16 bytes compare as text does: the order is the same everywhere.
    _, row_of = np.unique(digests, return_inverse=True)
    row_of = row_of.astype(np.int64)
    vectors, has = _vectors(store, dataset_id, model_name, ids, row_of)
    row_of, vectors = _without_gaps(row_of, vectors, has)
    ids = ids[has]
    weights = np.bincount(row_of, minlength=len(vectors)).astype(np.int64)
    speaker = np.full(len(vectors), np.iinfo(np.int64).max)
    np.minimum.at(speaker, row_of, ids)
    return Rows(
        dataset_id=dataset_id,
        vectors=vectors,
        weights=weights,
        tickets=ids,
        row_of=row_of,
        speaker=speaker,
        without_vector=int(len(has) - has.sum()),
    )


def normal(points: Matrix) -> Matrix:
    """Unit vectors; what has no length stays as it is."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    unit: Matrix = (points / np.maximum(lengths, np.float32(1e-9))).astype(np.float32)
    return unit


def _digests(store: "Store", dataset_id: int) -> tuple[Ints, npt.NDArray[np.void]]:
    ids: list[int] = []
    digests = bytearray()
    for ticket in store.tickets(dataset_id):
        ids.append(ticket.ticket_id)
        digests += blake2b(meant_by(ticket).encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
    return np.array(ids, dtype=np.int64), np.frombuffer(bytes(digests), dtype=np.dtype((np.void, _DIGEST)))


def _vectors(store: "Store", dataset_id: int, model_name: str, ids: Ints, row_of: Ints) -> tuple[Matrix, Mask]:
    """The vector of each row, and which tickets have one."""
    has = np.zeros(len(ids), dtype=np.bool_)
    vectors: Matrix | None = None
    filled = np.zeros(0, dtype=np.bool_)
    for chunk in store.vectors(dataset_id, model_name):
        some = np.frombuffer(b"".join(bytes(vector) for _, vector in chunk), dtype="<f4").reshape(len(chunk), -1)
        if vectors is None:
            count = int(row_of.max()) + 1
            vectors, filled = _matrix(count, some.shape[1]), np.zeros(count, dtype=np.bool_)
        places = np.searchsorted(ids, np.array([ticket_id for ticket_id, _ in chunk], dtype=np.int64))
        has[places] = True
        _fill(vectors, filled, row_of[places], normal(some))
    return (np.zeros((0, 1), dtype=np.float32) if vectors is None else vectors), has


def _fill(vectors: Matrix, filled: Mask, rows: Ints, some: Matrix) -> None:
    """Put vectors in their rows.

    A model may give one text two vectors that differ in the last bit, by what stood beside it in its batch. The smaller
    one counts, so that it does not matter which came first.
    """
    first, at = np.unique(rows, return_index=True)
    fresh = ~filled[first]
    vectors[first[fresh]] = some[at[fresh]]
    filled[first[fresh]] = True
    rest = np.ones(len(rows), dtype=np.bool_)
    rest[at[fresh]] = False
    for place in np.flatnonzero(rest):
        old, new = vectors[rows[place]], some[place]
        if not np.array_equal(old, new) and new.tolist() < old.tolist():
            vectors[rows[place]] = new


def _matrix(count: int, width: int) -> Matrix:
    if count * width <= IN_MEMORY:
        return np.zeros((count, width), dtype=np.float32)
    # The file has no name, and goes when the array does.
    with TemporaryFile(prefix="tally-rows-") as file:
        file.truncate(count * width * 4)
        return np.memmap(file, dtype=np.float32, mode="r+", shape=(count, width))


def _without_gaps(row_of: Ints, vectors: Matrix, has: Mask) -> tuple[Ints, Matrix]:
    """Leave out the rows none of whose tickets has a vector."""
    kept, row_of = np.unique(row_of[has], return_inverse=True)
    return row_of.astype(np.int64), vectors if len(kept) == len(vectors) else vectors[kept]
