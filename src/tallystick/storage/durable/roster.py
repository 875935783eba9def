"""The workers' rows: each worker increments a counter in its own; a stalled row is taken over by one worker at a time.

A counter instead of a time: neither clock changes nor clock differences between machines make a live worker look dead.
The row stays until the dead worker's runs are queued again, so if a taker dies during the takeover, another worker
takes over both.
"""

import sqlalchemy as sa

from tallystick.storage.durable.database import SCHEMA, database_errors, lock, on_sqlite
from tallystick.turns.runs import WorkerSeen


class Roster:
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
