"""Embedding and searching tickets: rows a second, p99, and recall@10 beside a plain scan."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.insight.corpora import generated
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.rooms.insight.embed.service import EmbeddingService
from tallystick.rooms.insight.model import EVERYWHERE, Where
from tallystick.rooms.insight.search.finder import Finder
from tallystick.rooms.insight.search.model import Limits, SearchRequest
from tallystick.rooms.insight.search.service import SearchDependencies, SearchService
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.dataset_writer import ImportTotals
from tallystick.settings import Settings
from tallystick.storage.database import migrate, open_engine

PROMISES = ("insight.search-large",)
GOALS = "≥ 12,000 rows/s builtin; p99 < 15 ms and recall@10 ≥ 0.99 at 1,000,000 × 256"
SMALL, FULL = 30_000, 1_000_000
SEARCHES = 400


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    speed = speeds(folder, FULL if full else SMALL, Limits() if full else Limits(exact_rows=5_000, scan_rows=10_000))
    return {"goal": GOALS, "markdown": "\n".join(_speed_lines(speed)), "speed": speed}


def speeds(folder: Path, many: int, limits: Limits) -> dict[str, Any]:
    """A dataset in SQLite: embedded, indexed, and searched through the room's own way."""
    engine = open_engine(Settings(), folder)
    migrate(engine)
    store, models = Store(engine), Embeddings()
    dataset_id = _taken(store, many)
    embedding = EmbeddingService(lambda: store, models)
    model = embedding.model()
    texts = [ticket.text for ticket in generated(8_192, seed=2)]
    model.embed(texts)
    alone = _rate(lambda: model.embed(texts), len(texts))
    stored = _rate(lambda: embedding.run(dataset_id, model), many)
    finder = Finder(store, folder / "index", limits)
    began = time.perf_counter()
    finder.prepare(dataset_id, model.name)
    indexing = time.perf_counter() - began
    means = SearchDependencies(
        store=store, embedding=embedding, models=models, finder=finder, clean=lambda text: text,
        clock=time.perf_counter,
    )  # fmt: skip
    questions = [ticket.text for ticket in generated(SEARCHES, seed=3)]
    kinds = sorted({(ticket.department, ticket.product) for ticket in generated(500)})
    wheres = {
        "all": EVERYWHERE, "one department": Where(department=(str(kinds[0][0]),)),
        "two departments": Where(department=tuple({str(kind[0]) for kind in kinds[::3]})[:2]),
    }  # fmt: skip
    asked = {
        name: _asked(SearchService(means), finder, dataset_id, model, questions, where)
        for name, where in wheres.items()
    }
    engine.dispose()
    return {
        "rows": many, "dim": model.dim, "rows_per_s": alone[0], "rows_per_cpu_s": alone[1],
        "stored_rows_per_s": stored[0], "stored_rows_per_cpu_s": stored[1], "indexing_s": round(indexing, 1),
        "searches": asked,
    }  # fmt: skip


def _taken(store: Store, many: int) -> int:
    made = generated(many)
    with store.write_dataset("generated", "0" * 64, {"text": "text"}, 1) as adding:
        while batch := list(itertools.islice(made, 10_000)):
            adding.add(batch)
        adding.finish(ImportTotals(row_count=many, department_count=1, bad_row_count=0, bad_rows=()))
    return adding.dataset_id


def _rate(do: Any, rows: int) -> tuple[int, int]:
    """Rows a second, of the clock and of one core."""
    wall, cpu = time.perf_counter(), time.process_time()
    do()
    return round(rows / (time.perf_counter() - wall)), round(rows / (time.process_time() - cpu))


def _asked(
    searching: SearchService, finder: Finder, dataset_id: int, model: Any, questions: Sequence[str], where: Where
) -> dict[str, Any]:
    """Times of whole searches (question embedded, ranked, tickets read) and of the ranking; recall by a plain scan."""
    rows: Any = finder.rows(dataset_id, model.name, finder._store.vector_stamps(dataset_id)[model.name])
    whole, ranking, answers = [], [], []
    for question in questions[:20]:
        searching.search(SearchRequest(dataset_id=dataset_id, query_text=question, where=where))
    for question in questions:
        began = time.perf_counter()
        searching.search(SearchRequest(dataset_id=dataset_id, query_text=question, where=where))
        whole.append(time.perf_counter() - began)
        query = model.embed([question])[0]
        began = time.perf_counter()
        answers.append((query, rows.nearest(query, 10, where)))
        ranking.append(time.perf_counter() - began)
    # The scan comes after all the times were taken: a gigabyte read between two searches leaves no cache as it was.
    places = rows._slices(where)
    exact = np.concatenate([np.asarray(rows._mapped.vectors[start:stop]) for start, stop in places])
    hits = sum(_hits(exact, query, found) for query, found in answers)
    return {
        "rows": len(exact), "recall_at_10": round(hits / (10 * len(answers)), 4),
        **{f"ranking_{name}_ms": value for name, value in _times(ranking).items()},
        **{f"whole_{name}_ms": value for name, value in _times(whole).items()},
    }  # fmt: skip


def _hits(exact: Any, query: Any, found: Sequence[tuple[int, float]]) -> int:
    last = np.partition(exact @ query, -10)[-10]
    return sum(bool(score >= last - 2e-6) for _, score in found)


def _times(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(float(np.percentile(seconds, 50)) * 1e3, 2),
        "p99": round(float(np.percentile(seconds, 99)) * 1e3, 2),
    }


def _speed_lines(speed: dict[str, Any]) -> list[str]:
    lines = [
        f"Embedding (builtin, {speed['dim']} numbers): {speed['rows_per_s']:,} rows/s ({speed['rows_per_cpu_s']:,} for "
        f"each second of CPU); into SQLite {speed['stored_rows_per_s']:,} rows/s ({speed['stored_rows_per_cpu_s']:,}). "
        f"Indexing {speed['rows']:,} rows: {speed['indexing_s']} s.\n",
        "| filter | rows meant | recall@10 | ranking p50 ms | p99 | whole search p50 ms | p99 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {row['rows']:,} | {row['recall_at_10']:.4f} | {row['ranking_p50_ms']} | **{row['ranking_p99_ms']}** "
        f"| {row['whole_p50_ms']} | {row['whole_p99_ms']} |"
        for name, row in speed["searches"].items()
    ]
    return lines
