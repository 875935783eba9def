"""The workers' rows and their heartbeats: a stalled row is taken over by one worker at a time.

Each worker increments a counter in its row. A counter instead of a time: neither clock changes nor clock differences
between machines make a live worker look dead. Other workers detect a stalled counter by their own monotonic clock. Time
alone is not enough: an observer that was itself suspended for a minute would see every counter unchanged for a minute.
So a counter must also be seen unchanged several times.

The row stays until the dead worker's runs are queued again, so if a taker dies during the takeover, another worker
takes over both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import sqlalchemy as sa

from tallystick.storage.durable.database import SCHEMA, database_errors, lock, on_sqlite
from tallystick.turns.runs import WorkerSeen

UNCHANGED_CHECKS = 3
"""Consecutive unchanged observations before a counter can count as stalled."""


class WorkerTable:
    """The table of workers."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.tables = sa.MetaData(schema=None if on_sqlite(engine) else SCHEMA)
        self._workers = sa.Table(
            "tally_workers",
            self.tables,
            sa.Column("id", sa.Text, primary_key=True),
            sa.Column("beats", sa.BigInteger, nullable=False),
            sa.Column("host", sa.Text, nullable=False),
            sa.Column("pid", sa.BigInteger, nullable=False),
            sa.Column("taker", sa.Text),
        )

    def join(self, worker_id: str, *, host: str, pid: int) -> bool:
        """Insert the row; False: a worker with that id exists already."""
        table = self._workers
        with database_errors(), self._engine.begin() as connection:
            lock(connection)
            if connection.execute(sa.select(table.c.id).where(table.c.id == worker_id)).first():
                return False
            connection.execute(table.insert().values(id=worker_id, beats=0, host=host, pid=pid))
            return True

    def beat(self, worker_id: str, *, host: str, pid: int) -> bool:
        """Increment the counter; False: the row was removed in a takeover, and is inserted again."""
        table = self._workers
        with database_errors(), self._engine.begin() as connection:
            beaten = table.update().where(table.c.id == worker_id).values(beats=table.c.beats + 1, taker=None)
            if connection.execute(beaten).rowcount:
                return True
        self.join(worker_id, host=host, pid=pid)
        return False

    def seen(self) -> list[WorkerSeen]:
        """Return all rows."""
        with database_errors(), self._engine.begin() as connection:
            rows = connection.execute(sa.select(self._workers).order_by(self._workers.c.id))
            return [WorkerSeen(id=row.id, host=row.host, pid=row.pid, beats=row.beats, taker=row.taker) for row in rows]

    def claim(self, worker: WorkerSeen, *, taker: str) -> bool:
        """Claim the takeover of a worker's runs; False: it sent a heartbeat, or another live worker has claimed it."""
        table = self._workers
        with database_errors(), self._engine.begin() as connection:
            lock(connection)
            alive = sa.select(table.c.id)
            claimed = (
                table.update()
                .where(table.c.id == worker.id, table.c.beats == worker.beats)
                .where(sa.or_(table.c.taker.is_(None), table.c.taker == taker, table.c.taker.not_in(alive)))
                .values(taker=taker)
            )
            return connection.execute(claimed).rowcount == 1

    def drop(self, worker_id: str, *, taker: str | None = None) -> None:
        """Remove a row: the worker's own at shutdown, another's once its runs are queued again."""
        table = self._workers
        dropped = table.delete().where(table.c.id == worker_id)
        if taker is not None:
            dropped = dropped.where(table.c.taker == taker)
        with database_errors(), self._engine.begin() as connection:
            connection.execute(dropped)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Still:
    count: int
    since: float
    checks: int


class StalledCounters:
    """Tracks each counter and since when it has not changed."""

    def __init__(self, *, stale_after_s: float, clock: Callable[[], float]) -> None:
        self._stale_after_s = stale_after_s
        self._clock = clock
        self._last: dict[str, _Still] = {}

    def update(self, counts: Mapping[str, int]) -> list[str]:
        """Record the current counters; return the names whose counter has been unchanged for too long."""
        now = self._clock()
        self._last = {name: self._next(name, count, now) for name, count in counts.items()}
        return [
            name
            for name, still in self._last.items()
            if still.checks >= UNCHANGED_CHECKS and now - still.since >= self._stale_after_s
        ]

    def _next(self, name: str, count: int, now: float) -> _Still:
        last = self._last.get(name)
        if last is None or last.count != count:
            return _Still(count=count, since=now, checks=0)
        return replace(last, checks=last.checks + 1)
