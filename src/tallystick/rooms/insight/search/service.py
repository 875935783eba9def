"""The search service: embed the question, find and rerank the nearest tickets, explain matches."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.embed.service import EmbeddingService, text_of
from tallystick.rooms.insight.model import Ticket
from tallystick.rooms.insight.pii import unkeyed
from tallystick.rooms.insight.search.exact import DIGITS
from tallystick.rooms.insight.search.finder import Finder
from tallystick.rooms.insight.search.highlights import explain_match
from tallystick.rooms.insight.search.model import Hit, Near, Rows, SearchRequest, SearchResult, Vector
from tallystick.rooms.insight.search.reranking import CANDIDATES, reranked

if TYPE_CHECKING:
    from tallystick.rooms.insight.embed.service import Embedder, Models
    from tallystick.rooms.insight.store import Store

MOST = 10_000
"""The most tickets that are explained at once."""
JUDGED = 50
"""Candidates that a cross-encoder reads: each costs it some ten milliseconds."""
MOST_EXPLAINED = 50


@record
class SearchDependencies:
    """Everything that a search needs besides the request."""

    store: "Store"
    embedding: EmbeddingService
    models: "Models"
    finder: Finder
    clean: Callable[[str], str]
    """Replaces personal data: it is not in the tickets either, and their placeholders are the same."""
    clock: Callable[[], float]
    measured: Callable[[float], None] = lambda _seconds: None
    """Hears how long comparing vectors took."""
    reranker: str | None = None
    """What puts in order where nothing is said."""


@record
class _Ground:
    """The vectors that questions on a dataset are compared with."""

    model: "Embedder"
    rows: Rows


class SearchService:
    """Searches the tickets of one workspace."""

    def __init__(self, means: SearchDependencies) -> None:
        self._means = means

    def search(self, asked: SearchRequest) -> SearchResult:
        """The tickets nearest to a text.

        Raises:
            ToolError: 404, there is no such dataset; 409, it has no vectors yet; or an optional part is missing.
        """
        ground = self._ground(asked.dataset_id)
        backend = self._reranker(asked)
        question = self._means.clean(asked.query_text)
        hits: list[Hit] = []
        if ground.rows.count:
            query = self._vector(ground, question)
            hits = self._hits(asked, ground, question, query, backend)
        return SearchResult(
            dataset_id=asked.dataset_id,
            k=asked.k,
            backend=ground.model.backend,
            model_name=ground.model.name,
            rerank=backend is not None,
            rerank_backend=backend,
            hits=tuple(hits),
        )

    def why(self, asked: SearchRequest, ticket_ids: Sequence[int] = ()) -> list[dict[str, Any]]:
        """Explain why tickets match: the named ones, otherwise the search's hits.

        Raises:
            ToolError: As for a search; 404, a ticket is not in the dataset.
        """
        if len(ticket_ids) > MOST_EXPLAINED:
            message = f"More than {MOST_EXPLAINED} tickets cannot be explained at once."
            raise ToolError(message, status=400, hint="Name fewer of them.")
        ground = self._ground(asked.dataset_id)
        question = self._means.clean(asked.query_text)
        hits = self._named(asked.dataset_id, ground, question, ticket_ids) if ticket_ids else self.search(asked).hits
        if not hits:
            return []
        query = self._vector(ground, question)
        return [
            {
                "ticket_id": hit.ticket.ticket_id,
                "score": hit.score,
                **explain_match(question, hit.ticket.said.text, ground.model, query).as_dict(),
            }
            for hit in hits[:MOST_EXPLAINED]
        ]

    def everywhere(self, query_text: str, k: int) -> list[Hit]:
        """The nearest tickets of all datasets that have vectors, put in order by words too."""
        stamped = [one.dataset_id for one in self._means.store.datasets() if self._stamps(one.dataset_id)]
        found = [self.search(SearchRequest(dataset_id=one, query_text=query_text, k=k, rerank=True)) for one in stamped]
        hits = [hit for each in found for hit in each.hits]
        return sorted(hits, key=lambda hit: (-hit.score, hit.ticket.ticket_id))[:k]

    def finder_of(self, dataset_id: int) -> Callable[[str, int], Sequence[int]] | None:
        """What finds a dataset's tickets by meaning; None: it has no vectors."""
        if not self._stamps(dataset_id):
            return None

        def find(question: str, many: int) -> Sequence[int]:
            asked = SearchRequest(dataset_id=dataset_id, query_text=question, k=many, rerank=True)
            return [hit.ticket.ticket_id for hit in self.search(asked).hits]

        return find

    def model_name(self, dataset_id: int) -> str | None:
        """The model whose vectors a dataset is searched by; None: it has none."""
        stamps = self._stamps(dataset_id)
        return None if not stamps else self._loadable(stamps).name

    def _stamps(self, dataset_id: int) -> dict[str, int]:
        return self._means.store.vector_stamps(dataset_id)

    def _ground(self, dataset_id: int) -> _Ground:
        self._means.embedding.dataset(dataset_id)
        stamps = self._stamps(dataset_id)
        if not stamps:
            message = f"Dataset {dataset_id} has no vectors yet."
            raise ToolError(message, status=409, hint=f"Call tool.embed.run with dataset_id {dataset_id} first.")
        model = self._loadable(stamps)
        return _Ground(model=model, rows=self._means.finder.rows(dataset_id, model.name, stamps[model.name]))

    def _loadable(self, stamps: dict[str, int]) -> "Embedder":
        """The model to search with: a chosen, installed one before the built-in one."""
        usual = self._means.models.embedder("builtin")
        chosen = sorted(name for name in stamps if name != usual.name)
        for name in chosen:
            try:
                return self._means.models.embedder(None, name)
            except ToolError:
                if usual.name not in stamps and name == chosen[-1]:
                    raise
        return usual

    def _reranker(self, asked: SearchRequest) -> str | None:
        return (asked.rerank_backend or self._means.reranker or "builtin") if asked.rerank else None

    def _vector(self, ground: _Ground, question: str) -> Vector:
        return np.asarray(ground.model.embed([unkeyed(question)])[0], dtype=np.float32)

    def _hits(
        self, asked: SearchRequest, ground: _Ground, question: str, query: Vector, backend: str | None
    ) -> list[Hit]:
        k = min(asked.k, MOST)
        began = self._means.clock()
        near = ground.rows.nearest(query, k if backend is None else max(k, CANDIDATES), asked.where)
        self._means.measured(self._means.clock() - began)
        if backend is None:
            return self._with_tickets(near)
        if backend == "cross-encoder":
            return self._judged(question, near)[:k]
        return self._reranked(ground, question, query, near)[:k]

    def _with_tickets(self, near: Sequence[Near]) -> list[Hit]:
        tickets = self._means.store.tickets_of([ticket for ticket, _ in near])
        return [Hit(ticket=tickets[ticket], score=score) for ticket, score in near if ticket in tickets]

    def _reranked(self, ground: _Ground, question: str, query: Vector, near: Sequence[Near]) -> list[Hit]:
        hits = self._with_tickets(near)
        if not hits:
            return []
        few, rest = hits[:CANDIDATES], hits[CANDIDATES:]
        vectors = ground.rows.vectors([hit.ticket.ticket_id for hit in few])
        texts = [text_of(hit.ticket) for hit in few]
        scores = reranked(query, vectors, texts, question, mean=ground.rows.mean, rows=ground.rows.count)
        # Whatever stands behind the candidates stays there.
        return [*_ordered([hit.ticket for hit in few], scores.tolist()), *rest]

    def _judged(self, question: str, near: Sequence[Near]) -> list[Hit]:
        judge = self._means.models.judge()
        hits = self._with_tickets(near)
        few, rest = hits[:JUDGED], hits[JUDGED:]
        scores = judge.judge(question, [text_of(hit.ticket) for hit in few])
        return [*_ordered([hit.ticket for hit in few], scores), *rest]

    def _named(self, dataset_id: int, ground: _Ground, question: str, ticket_ids: Sequence[int]) -> list[Hit]:
        tickets = self._means.store.tickets_of(ticket_ids)
        strange = [one for one in ticket_ids if one not in tickets or tickets[one].dataset_id != dataset_id]
        if strange:
            message = f"Dataset {dataset_id} has no ticket {strange[0]}."
            raise ToolError(message, status=404, hint="tool.search.nn gives ticket ids.")
        query = self._vector(ground, question)
        scores = ground.rows.vectors(list(ticket_ids)) @ query
        return [
            Hit(ticket=tickets[one], score=round(float(score), DIGITS))
            for one, score in zip(ticket_ids, scores, strict=True)
        ]


def _ordered(tickets: Sequence[Ticket], scores: Sequence[float]) -> list[Hit]:
    hits = [
        Hit(ticket=ticket, score=round(float(score), DIGITS)) for ticket, score in zip(tickets, scores, strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.ticket.ticket_id))
