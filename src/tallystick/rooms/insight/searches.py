"""Embedding and search for the room's tools, analyses and doors."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tallystick.gate.execute.progress import report_progress
from tallystick.rooms.insight.metrics import EMBEDDINGS, SEARCH, InsightMetrics
from tallystick.settings import CONTROL_ROOM

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.rooms.insight.embed.service import EmbeddingResult, EmbeddingService
    from tallystick.rooms.insight.search.finder import Finder
    from tallystick.rooms.insight.search.model import Hit, SearchRequest, SearchResult
    from tallystick.rooms.insight.search.service import SearchService
    from tallystick.rooms.insight.store import Store
    from tallystick.turns.durable import Durable


class Searches:
    """Embeds and searches the tickets of one workspace; numpy loads on first use."""

    def __init__(
        self,
        context: "RoomContext",
        measuring: InsightMetrics,
        *,
        store: "Callable[[], Store]",
        clean: Callable[[str], str],
    ) -> None:
        self._context = context
        self._measuring = measuring
        self._store = store
        self._clean = clean

    @cached_property
    def embedding(self) -> "EmbeddingService":
        """What makes vectors."""
        from tallystick.rooms.insight.embed.service import EmbeddingService  # noqa: PLC0415 - the core has no numpy

        return EmbeddingService(self._store, self._context.embeddings, backend=self._context.options.embed_backend)

    @cached_property
    def finder(self) -> "Finder":
        """The vectors, ready to be searched."""
        from tallystick.rooms.insight.search.finder import Finder  # noqa: PLC0415 - as above

        return Finder(self._store(), self._context.workspace / CONTROL_ROOM / "insight" / "index")

    @cached_property
    def _searching(self) -> "SearchService":
        from tallystick.rooms.insight.search.service import SearchDependencies, SearchService  # noqa: PLC0415 - as above

        means = SearchDependencies(
            store=self._store(),
            embedding=self.embedding,
            models=self._context.embeddings,
            finder=self.finder,
            clean=self._clean,
            clock=self._context.monotonic,
            measured=lambda took: self._measuring.told(SEARCH, took),
            reranker=self._context.options.rerank_backend,
        )
        return SearchService(means)

    def embed(
        self, dataset_id: int, backend: str | None = None, model_name: str | None = None, batch_size: int | None = None
    ) -> "tuple[EmbeddingResult, bool]":
        """Make the vectors that are missing; also says whether they can be searched now.

        Raises:
            ToolError: 404, there is no such dataset; 400, no such model; or an optional part is missing.
        """
        self.embedding.dataset(dataset_id)
        model = self.embedding.model(backend, model_name)
        began = self._context.monotonic()
        made = self.embedding.run(
            dataset_id,
            model,
            batch_size=batch_size,
            progress=lambda done, total: report_progress(done, total, "embedding"),
        )
        took = self._context.monotonic() - began
        if made.embedded_count and took > 0:
            self._measuring.told(EMBEDDINGS, made.embedded_count / took, model.name)
        count = made.embedded_count
        # What is reported must grow, so indexing counts on from the tickets.
        indexed = self.finder.prepare(
            dataset_id, model.name, lambda done, total: report_progress(count + done, count + total, "indexing")
        )
        return made, indexed

    def search(self, asked: "SearchRequest") -> "SearchResult":
        """The tickets nearest to a text; see `search.searching`."""
        return self._searching.search(asked)

    def everywhere(self, query_text: str, k: int) -> "list[Hit]":
        """The same over all datasets that have vectors."""
        return self._searching.everywhere(query_text, k)

    def why(self, asked: "SearchRequest", ticket_ids: Sequence[int] = ()) -> list[dict[str, Any]]:
        """Why tickets are found, as JSON: words, sentence, scores."""
        return self._searching.why(asked, ticket_ids)

    def find(self, dataset_id: int) -> Callable[[str, int], Sequence[int]] | None:
        """What finds a dataset's tickets by meaning; None: it has no vectors."""
        return self._searching.finder_of(dataset_id) if self._store().vector_stamps(dataset_id) else None

    def model_name(self, dataset_id: int) -> str | None:
        """The model whose vectors a dataset is searched by; None: it has none."""
        return self._searching.model_name(dataset_id)

    def flows(self, durable: "Durable") -> None:
        """Register embedding as long work."""
        from tallystick.rooms.insight.flows.embedding import join_embedding  # noqa: PLC0415 - only doors that run need it

        join_embedding(self.embedding, lambda: self.finder, durable)

    def start(
        self,
        durable: "Durable",
        dataset_id: int,
        *,
        backend: str | None = None,
        model_name: str | None = None,
        batch_size: int | None = None,
    ) -> str:
        """Start a durable embedding run and return its id.

        Raises:
            ToolError: As for `embed`; nothing is started then.
        """
        from tallystick.rooms.insight.flows.embedding import start_embedding  # noqa: PLC0415 - as above

        self.embedding.dataset(dataset_id)
        model = self.embedding.model(backend, model_name)
        stamp = self._store().vector_stamps(dataset_id).get(model.name, 0)
        return start_embedding(
            durable, dataset_id, backend=model.backend, model_name=model.name, stamp=stamp, batch_size=batch_size
        )
