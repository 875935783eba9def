"""Tickets a second, from the message to the reply, with 1, 2 and 4 worker processes and the offline agent."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tallystick.storage.durable.flow_registry import Intervals
from tests.postgres import start_postgres
from tests.rooms.desk.desk_yard import ANSWERED, DEFERRED, UNKNOWN, Yard

PROMISES = ("desk.flows",)
WORKERS = (1, 2, 4)
SMALL, FULL = 150, 4_300
"""Messages; each is two or three tickets, so that the full size is some 10,000 tickets."""
QUESTIONS = (ANSWERED, DEFERRED, UNKNOWN)


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    messages = FULL if full else SMALL
    rows = []
    for kind in ("SQLite", "PostgreSQL"):
        for workers in WORKERS:
            place = folder / f"{kind}-{workers}"
            place.mkdir()
            rows.append({"database": kind, "workers": workers, **_measure(place, kind, workers, messages)})
    lines = [
        "| database | workers | tickets | tickets/s | replies | replies/s |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {row['database']} | {row['workers']} | {row['tickets']:,} | **{row['per_s']:,}** | {row['replies']:,} "
            f"| {row['replies_per_s']:,} |"
            for row in rows
        ),
    ]
    return {"goal": "every ticket ends, whatever the number of workers", "markdown": "\n".join(lines), "rows": rows}


def _measure(folder: Path, kind: str, workers: int, messages: int) -> dict[str, Any]:
    """From the moment that the workers are up and the first ticket has ended, so that their start is not measured."""
    yard = Yard(folder, _postgres(folder) if kind == "PostgreSQL" else None)
    try:
        for _ in range(workers):
            yard.worker(Intervals())
        yard.event(UNKNOWN, "warm")
        yard.until(lambda: yard.tally().get("review") == 1, "the workers")
        before = sum(yard.tally().values())
        began = time.perf_counter()
        for number in range(messages):
            yard.event(QUESTIONS[number % 3], f"t{number}")
        answers = -(-messages // 3)
        expected = before + 2 * messages + answers
        yard.until(lambda: _ended(yard) == expected and len(yard.messages("sent")) == answers, "the end", 3_600)
        seconds = time.perf_counter() - began
    finally:
        yard.close()
    tickets = expected - before
    return {
        "tickets": tickets, "per_s": round(tickets / seconds, 1), "replies": answers,
        "replies_per_s": round(answers / seconds, 1),
    }  # fmt: skip


def _ended(yard: Yard) -> int:
    return sum(many for status, many in yard.tally().items() if status in {"done", "review", "blocked"})


def _postgres(folder: Path) -> str:
    """A server of its own, so that nothing of another run is in its tables."""
    url = sa.make_url(start_postgres(folder / "postgres")).set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)
