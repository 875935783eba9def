"""Records of a search: request, hits and result."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.records import record
from tallystick.rooms.insight.model import EVERYWHERE, Ticket, Where

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]
Near = tuple[int, float]
"""A ticket's id, and how near it is: the cosine."""


@record
class Limits:
    """Thresholds between search strategies."""

    exact_rows: int = 100_000
    """Up to so many every vector is compared: a hundred megabytes are read in some ten milliseconds."""
    scan_rows: int = 200_000
    """With filters every vector that passes is compared up to so many; the graph knows no filters."""


@record
class SearchRequest:
    """A search request."""

    dataset_id: int
    query_text: str
    k: int = 10
    where: Where = EVERYWHERE
    """Only departments and products are filtered on."""
    rerank: bool = False
    rerank_backend: str | None = None


@record
class Hit:
    """A matching ticket."""

    ticket: Ticket
    score: float


@record
class SearchResult:
    """The matching tickets, nearest first."""

    dataset_id: int
    k: int
    backend: str
    model_name: str
    rerank: bool
    rerank_backend: str | None
    hits: tuple[Hit, ...]


class Rows(Protocol):
    """The vectors of a dataset and model, at one state."""

    @property
    def stamp(self) -> int:
        """How often they had been written."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def mean(self) -> Vector:
        """The middle of all of them: what every ticket of this dataset has in common."""
        ...

    def nearest(self, query: Vector, k: int, where: Where) -> list[Near]:
        """The nearest of those that are meant, ties by id."""
        ...

    def vectors(self, ticket_ids: list[int]) -> Matrix:
        """The vectors of some, a row each."""
        ...
