"""Vectors in PostgreSQL: pgvector selects candidates, which are ranked here on the exact vectors."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import orjson

from tallystick.rooms.insight.model import Where
from tallystick.rooms.insight.search.exact import settled
from tallystick.rooms.insight.search.model import Matrix, Near, Vector
from tallystick.rooms.insight.store.vectors import MOST_NUMBERS, NearRow

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

AT_LEAST = 64
"""Candidates at least, so that the order of the very nearest is ours."""


class PostgresRows:
    """One copied state of a dataset's vectors."""

    def __init__(self, store: "Store", dataset_id: int, model_name: str, copied: tuple[int, int, bytes]) -> None:
        self._store = store
        self._set = (dataset_id, model_name)
        self.stamp, self.count, mean = copied
        self.mean: Vector = np.frombuffer(mean, dtype="<f4")

    def nearest(self, query: Vector, k: int, where: Where) -> list[Near]:
        """The nearest of those that are meant, ties by id."""
        k = min(k, self.count)
        asked = (*self._set, _written(query), max(2 * k, AT_LEAST), where)
        ids = self._store.rank(*asked, dim=len(query))
        if len(ids) < k:
            # Few pass the filters, so few have to be compared.
            ids = self._store.rank(*asked, dim=len(query), exact=True)
        if not ids:
            return []
        return settled(self.vectors(ids), np.array(ids, dtype=np.int64), query, k)

    def vectors(self, ticket_ids: list[int]) -> Matrix:
        """The vectors of some, a row each."""
        found = self._store.vectors_of(*self._set, ticket_ids)
        return np.stack([np.frombuffer(found[ticket], dtype="<f4") for ticket in ticket_ids])


def copied_rows(store: "Store", dataset_id: int, model_name: str, stamp: int) -> PostgresRows | None:
    """The copy in the database; None: there is none, or it is stale."""
    if not store.ranks:
        return None
    copied = store.near_set(dataset_id, model_name)
    return None if copied is None or copied[0] != stamp else PostgresRows(store, dataset_id, model_name, copied)


def copy_rows(store: "Store", dataset_id: int, model_name: str, stamp: int, mean: Vector) -> None:
    """Make the copy, where the database can rank."""
    if store.ranks and len(mean) <= MOST_NUMBERS:
        rows = _rows(store, dataset_id, model_name)
        packed = mean.astype("<f4").tobytes()
        store.put_near(dataset_id, model_name, rows, stamp=stamp, mean=packed, dim=len(mean))


def _rows(store: "Store", dataset_id: int, model_name: str) -> Iterator[Sequence[NearRow]]:
    for kinds in store.kinds(dataset_id, model_name):
        vectors = store.vectors_of(dataset_id, model_name, [ticket for ticket, _, _ in kinds])
        yield [
            (ticket, department, product, _written(np.frombuffer(vectors[ticket], dtype="<f4")))
            for ticket, department, product in kinds
        ]


def _written(vector: Vector) -> str:
    return orjson.dumps(vector.astype(np.float32, copy=False), option=orjson.OPT_SERIALIZE_NUMPY).decode()
