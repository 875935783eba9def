"""Embedding as a durable flow: one step per few thousand tickets, so that a crash costs one step."""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tallystick.rooms.insight.embed.service import EmbeddingService
from tallystick.turns.durable import Durable, Run
from tallystick.turns.runs import Queue

if TYPE_CHECKING:
    from tallystick.rooms.insight.search.finder import Finder

FLOW = "insight.embed"
QUEUE = "insight-embed"
AT_ONCE = 20_000
"""Tickets in a step: seconds of work, and a million tickets are fifty steps."""


def join_embedding(embedding: EmbeddingService, finder: "Callable[[], Finder]", durable: Durable) -> None:
    """Register the flow, before workers begin."""
    # One at a time: two would make the same vectors.
    durable.add_queue(Queue(name=QUEUE, per_worker=1))
    durable.register(FLOW, EmbeddingFlow(embedding, finder).flow, queue=QUEUE)


def start_embedding(
    durable: Durable, dataset_id: int, *, backend: str, model_name: str, stamp: int, batch_size: int | None = None
) -> str:
    """Start a run and return its id; equal tickets, model and state share one run."""
    model = sha256(model_name.encode()).hexdigest()[:16]
    args = {"dataset_id": dataset_id, "backend": backend, "model_name": model_name, "batch_size": batch_size}
    return durable.start(FLOW, args, run_id=f"embed_{dataset_id}_{model}_{stamp}")


class EmbeddingFlow:
    """Computes missing vectors, then the search index."""

    def __init__(self, embedding: EmbeddingService, finder: "Callable[[], Finder]") -> None:
        self._embedding = embedding
        self._finder = finder

    def flow(self, run: Run, args: dict[str, Any]) -> dict[str, Any]:
        """Embed a dataset.

        Args:
            run: The run.
            args: `dataset_id`, `backend`, `model_name`, `batch_size`.
        """
        total: int = run.step("count", self._count, args)
        done, after = 0, 0
        number = 0
        while True:
            number += 1
            told: dict[str, Any] = run.step(f"tickets-{number}", self._some, run, args, after)
            done += told["count"]
            run.emit({"event": "embedded", "done": done, "total": max(total, done)})
            if told["last"] is None:
                break
            after = told["last"]
        indexed: bool = run.step("index", self._index, args)
        return {"dataset_id": args["dataset_id"], "embedded_count": done, "indexed": indexed}

    def _count(self, args: dict[str, Any]) -> int:
        self._embedding.dataset(args["dataset_id"])
        return self._embedding.missing(args["dataset_id"], self._model(args))

    def _some(self, run: Run, args: dict[str, Any], after: int) -> dict[str, Any]:
        """Some thousand tickets; done again, it finds those that have no vector yet."""
        model, count, last = self._model(args), 0, after
        while count < AT_ONCE:
            some = self._embedding.step(args["dataset_id"], model, after=last, batch_size=args["batch_size"])
            if some.last is None:
                return {"count": count, "last": None}
            count, last = count + some.count, some.last
            if run.cancelled():
                break
        return {"count": count, "last": last}

    def _index(self, args: dict[str, Any]) -> bool:
        return self._finder().prepare(args["dataset_id"], self._model(args).name)

    def _model(self, args: dict[str, Any]) -> Any:
        return self._embedding.model(args["backend"], args["model_name"])
