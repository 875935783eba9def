"""The embedding service: computes missing vectors.

Each batch is one transaction. What was written stays, whatever happens after it: the next run goes on with the tickets
that have no vector yet, so nothing is made twice and nothing is left out.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.model import Dataset, Ticket
from tallystick.rooms.insight.pii import unkeyed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tallystick.rooms.insight.store import Store


class Embedder(Protocol):
    """Computes vectors of texts."""

    @property
    def backend(self) -> str:
        """`builtin` or `sentence-transformers`."""
        ...

    @property
    def name(self) -> str:
        """The model's name, as vectors are kept under it."""
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def at_once(self) -> int:
        """How many texts it likes to be given."""
        ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors, a row a text."""
        ...


class Judge(Protocol):
    """Scores texts against a question (cross-encoder)."""

    def judge(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, the higher the better."""
        ...


class Models(Protocol):
    """Opens models."""

    def embedder(self, backend: str | None = None, model_name: str | None = None) -> Embedder:
        """The model that is meant.

        Raises:
            ToolError: There is no such model, or it is not installed.
        """
        ...

    def judge(self) -> Judge:
        """The cross-encoder.

        Raises:
            ToolError: It is not installed.
        """
        ...


MOST_AT_ONCE = 20_000
"""Tickets in one batch, whatever was asked for: their texts and vectors are in memory together."""
MOST_READ = 8_000
"""Characters of a ticket that are read. The beginning says what it is about; the rest is logs and old mails."""
Progress = Callable[[int, int], None]
"""(done, of how many)."""


@record
class EmbeddingResult:
    """The result."""

    dataset_id: int
    model_name: str
    backend: str
    vector_dim: int
    embedded_count: int
    """New vectors; 0: all tickets had theirs."""


@record
class EmbeddedBatch:
    """One batch of embedded tickets."""

    count: int
    last: int | None
    """The last ticket; None: there is none without a vector any more."""


class EmbeddingService:
    """Computes vectors for the tickets of one workspace."""

    def __init__(self, store: Callable[[], "Store"], models: Models, *, backend: str | None = None) -> None:
        self._store = store
        self._models = models
        self._backend = backend
        """What is meant where nothing is said."""

    def model(self, backend: str | None = None, model_name: str | None = None) -> Embedder:
        """The model that is meant.

        Raises:
            ToolError: There is no such model, or it is not installed.
        """
        if backend is None and model_name is None:
            backend = self._backend
        return self._models.embedder(backend, model_name)

    def dataset(self, dataset_id: int) -> Dataset:
        """A dataset.

        Raises:
            ToolError: 404, there is none.
        """
        found = self._store().dataset(dataset_id)
        if found is None:
            message = f"There is no dataset {dataset_id}."
            raise ToolError(message, status=404, hint="tool.ingest.upload gives a dataset's id.")
        return found

    def missing(self, dataset_id: int, model: Embedder) -> int:
        """How many tickets have no vector yet."""
        return self._store().count_without_vector(dataset_id, model.name)

    def run(
        self,
        dataset_id: int,
        model: Embedder,
        *,
        batch_size: int | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> EmbeddingResult:
        """Embed all tickets of a dataset that have no vector yet."""
        total, done, after = self.missing(dataset_id, model), 0, 0
        progress(0, total)
        # One batch is written while the next is made: making is the model's work, writing the disk's.
        with ThreadPoolExecutor(max_workers=1) as writer:
            writing: Future[int] | None = None
            while True:
                made = self._made(dataset_id, model, after, batch_size)
                if writing is not None:
                    done += writing.result()
                    progress(done, max(total, done))
                if not made:
                    break
                after = made[-1][0]
                writing = writer.submit(self._written, dataset_id, model, made)
        return EmbeddingResult(
            dataset_id=dataset_id,
            model_name=model.name,
            backend=model.backend,
            vector_dim=model.dim,
            embedded_count=done,
        )

    def step(self, dataset_id: int, model: Embedder, *, after: int = 0, batch_size: int | None = None) -> EmbeddedBatch:
        """Embed the next tickets after one; doing it again changes nothing."""
        made = self._made(dataset_id, model, after, batch_size)
        if not made:
            return EmbeddedBatch(count=0, last=None)
        return EmbeddedBatch(count=self._written(dataset_id, model, made), last=made[-1][0])

    def _made(self, dataset_id: int, model: Embedder, after: int, batch_size: int | None) -> list[tuple[int, bytes]]:
        limit = min(batch_size or model.at_once, MOST_AT_ONCE)
        read = self._store().texts_without_vector(dataset_id, model.name, after=after, limit=limit)
        if not read:
            return []
        rows = model.embed([_meant(text, summary) for _, text, summary in read]).astype("<f4", copy=False)
        return [(ticket_id, row.tobytes()) for (ticket_id, _, _), row in zip(read, rows, strict=True)]

    def _written(self, dataset_id: int, model: Embedder, made: list[tuple[int, bytes]]) -> int:
        self._store().put_vectors(dataset_id, model.name, made)
        return len(made)


def text_of(ticket: Ticket) -> str:
    """The embedded text of a ticket: its subject, if any, and its text."""
    return _words(ticket.said.text, ticket.said.summary)


def meant_by(ticket: Ticket) -> str:
    """What its vector is made of: the same in every workspace, whatever the key of its placeholders."""
    return _meant(ticket.said.text, ticket.said.summary)


def _meant(text: str, summary: str | None) -> str:
    # Before anything is cut off: half a placeholder would still be of this workspace alone.
    return _words(unkeyed(text), None if summary is None else unkeyed(summary))


def _words(text: str, summary: str | None) -> str:
    text = text[:MOST_READ]
    # Some systems repeat the subject as the first line.
    if not summary or text.casefold().startswith(summary.casefold()):
        return text
    return f"{summary[:MOST_READ]}\n{text}"
