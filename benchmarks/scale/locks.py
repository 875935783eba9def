"""Ways to give the records of several nodes one order in PostgreSQL: batches a second with 1, 2 and 4 writers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg

from tests.own_postgres import OwnPostgres

WRITERS = (1, 2, 4)
BATCH = 4
_TABLES = """CREATE TABLE head (one BOOLEAN PRIMARY KEY DEFAULT TRUE, size BIGINT NOT NULL, leaf BYTEA NOT NULL);
    INSERT INTO head (size, leaf) VALUES (0, decode(repeat('00', 32), 'hex'));
    CREATE TABLE records (seq BIGINT PRIMARY KEY, body BYTEA NOT NULL)"""
_BODY = b"x" * 1200
_STORE = """WITH moved AS (UPDATE head SET size = %s, leaf = %s WHERE size = %s RETURNING 1)
    INSERT INTO records SELECT one.* FROM moved, unnest(%s::bigint[], %s::bytea[]) AS one"""
Connection = psycopg.Connection[tuple[Any, ...]]


def _row_lock(connection: Connection) -> bool:
    found = connection.execute("BEGIN; SELECT size FROM head FOR UPDATE", prepare=False)
    found.nextset()
    return _store(connection, found.fetchone())


def _advisory_lock(connection: Connection) -> bool:
    found = connection.execute("BEGIN; SELECT pg_advisory_xact_lock(7); SELECT size FROM head", prepare=False)
    found.nextset()
    found.nextset()
    return _store(connection, found.fetchone())


def _optimistic(connection: Connection) -> bool:
    """No lock: sign for the head as read, and try again if it has moved meanwhile."""
    return _store(connection, connection.execute("SELECT size FROM head").fetchone(), begun=False)


def _store(connection: Connection, row: tuple[Any, ...] | None, *, begun: bool = True) -> bool:
    assert row is not None
    size = int(row[0])
    with connection.pipeline():
        if not begun:
            connection.execute("BEGIN")
        values = (size + BATCH, bytes(32), size, list(range(size, size + BATCH)), [_BODY] * BATCH)
        stored = connection.execute(_STORE, values)
        connection.execute("COMMIT")
    return stored.rowcount == BATCH


WAYS: dict[str, Callable[[Connection], bool]] = {
    "row of the head, FOR UPDATE": _row_lock, "advisory lock": _advisory_lock, "no lock, try again": _optimistic,
}  # fmt: skip


def run(folder: Path, *, full: bool) -> dict[str, Any]:  # noqa: ARG001 - the server has its own folder
    seconds = 10.0 if full else 2.0
    server = OwnPostgres()
    try:
        rows = [_measure(server, way, writers, seconds) for way in WAYS for writers in WRITERS]
    finally:
        server.close()
    lines = [
        "| way | writers | batches/s | attempts in vain |",
        "|---|---:|---:|---:|",
        *(f"| {row['way']} | {row['writers']} | **{row['per_s']:,}** | {row['vain_percent']} % |" for row in rows),
        "",
        f"{BATCH} records of 1.2 kB a batch; every batch waits for fsync.",
    ]
    return {"goal": "the quickest way without attempts in vain", "markdown": "\n".join(lines), "rows": rows}


def _measure(server: OwnPostgres, way: str, writers: int, seconds: float) -> dict[str, Any]:
    database = server.new_database()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(_TABLES)
    done, vain = [0] * writers, [0] * writers

    def write(number: int) -> None:
        with psycopg.connect(database, autocommit=True, prepare_threshold=0) as connection:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                stored = False
                try:
                    stored = WAYS[way](connection)
                except psycopg.errors.UniqueViolation:
                    connection.execute("ROLLBACK")
                done[number] += stored
                vain[number] += not stored

    threads = [Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    vain_percent = round(100 * sum(vain) / max(1, sum(done) + sum(vain)), 1)
    return {"way": way, "writers": writers, "per_s": round(sum(done) / seconds), "vain_percent": vain_percent}
