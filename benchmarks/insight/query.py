"""Typed queries over many tickets, on SQLite and PostgreSQL: how long a group by two columns takes."""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.insight.ingest import HEADER, generated
from tallystick.rooms.insight.figures.themes import columns_of
from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.query.execution import execute
from tallystick.rooms.insight.query.model import query_from
from tallystick.rooms.insight.query.validation import validated
from tallystick.rooms.insight.store import Store, migrations
from tallystick.rooms.insight.store.dataset_writer import ImportTotals
from tallystick.settings import Settings
from tallystick.storage.database import migrate, migrate_room, open_engine
from tests.postgres import new_postgres

PROMISES = ("insight.query.sql",)
SMALL, FULL = 20_000, 1_000_000
BATCH, ROUNDS = 5_000, 30
GOAL_S = 1.0
QUERIES: dict[str, dict[str, Any]] = {
    "two columns": {"by": [{"column": "department"}, {"column": "product"}]},
    "column and month": {"by": [{"column": "category"}, {"column": "created_at", "bucket": "month"}]},
    "two columns, filtered": {
        "where": [{"column": "priority", "op": "is", "values": ["1 - Moderate"]}],
        "by": [{"column": "department"}, {"column": "reassignments"}],
    },
    "one column, median": {"measure": "median", "of": "reassignments", "by": [{"column": "product"}]},
}


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    size = FULL if full else SMALL
    rows: list[dict[str, Any]] = []
    for name, url in (("SQLite", None), ("PostgreSQL", new_postgres())):
        settings = Settings.model_validate({} if url is None else {"storage": {"database_url": url}})
        engine = open_engine(settings, folder / name)
        migrate(engine)
        migrate_room(engine, "insight", migrations)
        rows += _measured(name, Store(engine), size)
        engine.dispose()
    lines = [
        "| database | query | tickets | p50 | p99 |",
        "|---|---|---:|---:|---:|",
        *(f"| {r['database']} | {r['query']} | {size:,} | {r['p50_s']:.2f} s | **{r['p99_s']:.2f} s** |" for r in rows),
    ]
    return {"goal": f"p99 under {GOAL_S:.0f} s for a group by two columns", "markdown": "\n".join(lines), "rows": rows}


def _measured(name: str, store: Store, size: int) -> Iterator[dict[str, Any]]:
    dataset_id = _fill(store, size)
    columns = columns_of(store, dataset_id)
    for label, given in QUERIES.items():
        query = validated(query_from({"dataset_id": dataset_id, **given}), columns)
        spent = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            execute(query, columns, store)
            spent.append(time.perf_counter() - begun)
        spent.sort()
        yield {"database": name, "query": label, "p50_s": spent[ROUNDS // 2], "p99_s": spent[-1]}


def _fill(store: Store, size: int) -> int:
    rows = generated(size)
    with store.write_dataset("generated", "a" * 64, {"text": "Description"}, 0) as adding:
        while batch := [_ticket(dict(zip(HEADER, row, strict=True))) for row in islice(rows, BATCH)]:
            adding.add(batch)
        adding.finish(ImportTotals(row_count=size, department_count=40, bad_row_count=0, bad_rows=()))
    begun = time.perf_counter()
    store.index_columns(adding.dataset_id)
    print(f"  columns of {size:,} tickets: {size / (time.perf_counter() - begun):,.0f} rows/s")
    return adding.dataset_id


def _ticket(row: dict[str, str]) -> NewTicket:
    return NewTicket(
        external_id=row["Number"],
        created_at=timegm(time.strptime(row["Opened"], "%Y-%m-%d %H:%M:%S")),
        text=row["Description"],
        summary=row["Short description"],
        department=row["Assignment group"],
        product=row["Configuration item"],
        category=row["Category"],
        priority=row["Priority"],
        status=row["State"],
        reassignments=int(row["Reassignment count"]),
    )
