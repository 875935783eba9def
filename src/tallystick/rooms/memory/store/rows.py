"""Reads and writes the projection's tables. The log is the truth; the tables make reading fast.

Rows are written in batches, each in one transaction that also stores the log position it reaches. A batch computed from
an older state than the tables have is not written (`StaleSnapshot`), since another process was faster. Nothing is read
from another state either: cached records and tables would not match.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from tallystick.rooms.memory.ids import lookup_key, number_in
from tallystick.rooms.memory.store import StaleSnapshot, statements
from tallystick.rooms.memory.store.snapshot import SnapshotReader, TableHead
from tallystick.rooms.memory.store.statements import (
    TOUCHED,
    RowIndexWriter,
    Span,
    insert_on,
    key_of,
    number_of_key,
    numbers_of,
    positions_in,
    upsert,
    within,
)
from tallystick.rooms.memory.store.tables import (
    HEAD,
    OBSERVATIONS,
    PROPOSITIONS,
    RECENT_ROWS,
    RECORDS,
    ROW_INDEX,
    TABLES,
    TRANSITIONS,
)
from tallystick.rooms.memory.weigh.status_rules import RELIED_ON
from tallystick.storage.database import writing

CACHE_KB = 65_536
"""Page cache of SQLite while writing: ids are hashes, so each row changes another page of the index."""
WAL_PAGES = 16_000
"""Pages (64 MB) between checkpoints of SQLite: most batches change most pages of an index, and a page that changed
several times is written to the file once."""
PAGE = 1_000
"""Rows read at once when all are streamed."""
NEWEST = 1_000
"""Propositions of a subject or a predicate that are read; no more are ever shown."""
AT_ONCE = 500
"""Keys in one statement."""
Rows = Mapping[str, Sequence[tuple[Any, ...]]]
"""Table → rows to write, each in the order of the table's columns."""
EdgeKey = tuple[str, str, str]
"""Proposition, observation and stance: of these there is one edge."""


class Store:
    """Reads and writes the tables of one workspace."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._postgres = engine.dialect.name == "postgresql"
        self._upserts = {name: upsert(engine, table) for name, table in TABLES.items()}
        self._mover = RowIndexWriter(sign="%s" if self._postgres else "?")
        self.snapshot = SnapshotReader(engine)
        """The snapshot that is read."""

    def head(self) -> tuple[int, bytes] | None:
        """Return the head of the tables; None: they are empty."""
        return self.snapshot.refresh()

    def write(
        self, rows: Rows, *, base: int | None, scanned: int, body: bytes, replaced: Collection[EdgeKey] = ()
    ) -> None:
        """Write a batch.

        Args:
            rows: What changed.
            replaced: Edges whose log position has changed.
            base: The log position that the tables must have (None: empty).
            scanned: The log position they have then.
            body: The note stored with it.

        Raises:
            StaleSnapshot: They have another position; nothing was written.
        """
        self.snapshot.release()
        with writing(self._engine) as connection:
            if not self._postgres:
                connection.exec_driver_sql(f"PRAGMA cache_size = -{CACHE_KB}")
                connection.exec_driver_sql(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            self._move_head(connection, base, scanned, body)
            for proposition, observation, stance in replaced:
                key = key_of(proposition, TOUCHED)
                found = {"key": key, "proposition": proposition, "observation": observation, "stance_": stance}
                connection.execute(statements.REPLACED, found)
            for name, batch in rows.items():
                if batch:
                    connection.exec_driver_sql(self._upserts[name], list(batch))
            self._mover.put(connection, positions_in(rows))
        self.snapshot.head = (scanned, body)

    def wipe(self) -> None:
        """Empty the tables, to rebuild them from the log."""
        self.snapshot.release()
        with writing(self._engine) as connection:
            for table in (HEAD, ROW_INDEX, RECENT_ROWS, *TABLES.values()):
                connection.execute(sa.delete(table))
        self.snapshot.head = None

    def _move_head(self, connection: Connection, base: int | None, scanned: int, body: bytes) -> None:
        if base is not None:
            _, noted = self._known(base)
            here = (HEAD.c.scanned == base) & (HEAD.c.body == noted)
            moved = sa.update(HEAD).where(here).values(scanned=scanned, body=body)
            if connection.execute(moved).rowcount != 1:
                raise StaleSnapshot
            return
        first = insert_on(self._engine)(HEAD).values(id=1, scanned=scanned, body=body).on_conflict_do_nothing()
        if connection.execute(first.returning(HEAD.c.id)).first() is None:
            raise StaleSnapshot

    # -- single things -------------------------------------------------------------------------------------------------

    def some(
        self, table: str, keys: Sequence[str], base: int | None, *, kind: str | None = None
    ) -> list[tuple[str, bytes]]:
        """Things by their keys, each with its key; those that are not there are left out.

        Raises:
            StaleSnapshot: The tables go further than `base`, and what they hold may be of a later time.
        """
        if table == "things":
            return [(row.id, row.body) for row in self._keyed(statements.RECORDS_BY_ID, keys, base, kind)]
        return self._named(statements.BY_ID[table], keys, base)

    def edges(self, proposition_ids: Sequence[str], base: int | None) -> list[bytes]:
        """The edges of propositions."""
        return [body for _, body in self._named(statements.EDGES_OF, proposition_ids, base)]

    def transitions(self, proposition_id: str, base: int | None) -> list[bytes]:
        """The changes of a proposition, in order."""
        given = {"key": key_of(proposition_id, TOUCHED), "name": proposition_id}
        found = "\x00" not in proposition_id and base is not None
        return [row.body for row in self._rows(statements.TRANSITIONS_OF, base, given)] if found else []

    def referring(self, kind: str, refs: Sequence[str], base: int | None) -> list[bytes]:
        """Things of a kind that refer to something."""
        return [row.body for row in self._keyed(statements.RECORDS_REFERRING, refs, base, kind)]

    # -- what consolidation asks ---------------------------------------------------------------------------------------

    def due_after(self, after: tuple[int, str], base: int | None) -> list[tuple[int, str]]:
        """When propositions are due, and their ids: the next few after one of them, in order."""
        if base is None:
            return []
        c, (moment, name) = PROPOSITIONS.c, after
        later = (c.due_at >= moment) & ((c.due_at > moment) | (self._exact(c.id) > name))
        query = sa.select(c.due_at, c.id).where(later).order_by(c.due_at, self._exact(c.id)).limit(PAGE)
        return [(row.due_at, row.id) for row in self._rows(query, base)]

    def unresolved(self, episode_id: str, statuses: Collection[str], base: int | None) -> list[bytes]:
        """Propositions of an episode that are in one of these states and not put aside."""
        c = PROPOSITIONS.c
        where = (c.episode_id == episode_id, c.archived.is_(False), c.status.in_(sorted(statuses)))
        return self._bodies(sa.select(c.body).where(*where), base)

    def pending(self) -> list[str]:
        """Propositions that wait for a consolidation."""
        c = PROPOSITIONS.c
        with self.snapshot.connect() as connection:
            return list(connection.execute(sa.select(c.id).where(c.pending.is_(True))).scalars())

    # -- all of them ---------------------------------------------------------------------------------------------------

    def numbers(self, table: str, kind: str | None = None) -> Iterator[int]:
        """Yield the numbers of all ids of a table, or of a kind of records."""
        if kind is None:
            return (number_of_key(row.key) for query in numbers_of(table) for row in self._stream(query))
        return (number_in(row.id) for row in self._stream(sa.select(RECORDS.c.id).where(RECORDS.c.kind == kind)))

    def bodies(self, table: str, *order: str, kind: str | None = None, between: Span | None = None) -> Iterator[bytes]:
        """All rows of a table in order, streamed; only those of a kind, or of events in a span of the log."""
        chosen = TABLES[table]
        query = sa.select(chosen.c.body).order_by(*(self._exact(chosen.c[name]) for name in order))
        if kind is not None:
            query = query.where(chosen.c.kind == kind)
        if between is not None:
            query = query.where(*within(chosen, between))
        return (row.body for row in self._stream(query))

    def count(self, table: str, between: Span) -> int:
        """How many rows of a table are of events in a span of the log."""
        chosen = TABLES[table]
        return self._number(sa.select(sa.func.count()).select_from(chosen).where(*within(chosen, between)))

    def about(self, subject: str | None, predicate: str | None, *, upto: int | None, most: int) -> list[bytes]:
        """Propositions by subject and predicate: of the newest, those to rely on first."""
        c = PROPOSITIONS.c
        given = ((c.subject, subject), (c.predicate, predicate))
        where = [column == lookup_key(value) for column, value in given if value is not None]
        if upto is not None:
            where.append(c.seq <= upto)
        newest = sa.select(c.id, c.status, c.seq).where(*where).order_by(c.seq.desc()).limit(NEWEST).subquery()
        rank = sa.case(RELIED_ON, value=newest.c.status)
        chosen = sa.select(newest.c.id).order_by(rank, newest.c.seq.desc(), self._exact(newest.c.id)).limit(most)
        with self.snapshot.connect() as connection:
            names = list(connection.execute(chosen).scalars())
            rows = connection.execute(sa.select(c.id, c.body).where(c.id.in_(names)))
            bodies = {row.id: row.body for row in rows}
        return [bodies[name] for name in names]

    def listing(self, status: str | None, subject: str | None, limit: int, offset: int) -> tuple[list[bytes], int]:
        """Propositions, the newest first, and how many there are."""
        c = PROPOSITIONS.c
        given = ((c.status, status), (c.subject, subject))
        where = [column == lookup_key(value) for column, value in given if value is not None]
        page = sa.select(c.body).where(*where).order_by(c.seq.desc(), self._exact(c.id)).limit(limit).offset(offset)
        with self.snapshot.connect() as connection:
            total = connection.execute(sa.select(sa.func.count()).select_from(PROPOSITIONS).where(*where)).scalar_one()
            return list(connection.execute(page).scalars()), total

    def latest_observations(self, limit: int, offset: int) -> tuple[list[bytes], int]:
        """Observations, the newest first, and how many there are."""
        c = OBSERVATIONS.c
        return self._page(sa.select(c.body).order_by(c.seq.desc()), sa.select(sa.func.count(c.id)), limit, offset)

    def list_records(self, kind: str, limit: int, offset: int) -> tuple[list[bytes], int]:
        """Things of a kind, by id, and how many there are."""
        c = RECORDS.c
        chosen = sa.select(c.body).where(c.kind == kind).order_by(self._exact(c.id))
        return self._page(chosen, sa.select(sa.func.count(c.id)).where(c.kind == kind), limit, offset)

    def count_due(self, now: int) -> int:
        """How many propositions age may have changed by now."""
        return self._number(sa.select(sa.func.count()).select_from(PROPOSITIONS).where(PROPOSITIONS.c.due_at <= now))

    def _number(self, query: Any) -> int:
        with self.snapshot.connect() as connection:
            number: int = connection.execute(query).scalar_one()
            return number

    def _page(self, chosen: Any, number: Any, limit: int, offset: int) -> tuple[list[bytes], int]:
        with self.snapshot.connect() as connection:
            total: int = connection.execute(number).scalar_one()
            return list(connection.execute(chosen.limit(limit).offset(offset)).scalars()), total

    def latest_transitions(self, limit: int) -> list[bytes]:
        """The last changes of any proposition, the newest first."""
        c = TRANSITIONS.c
        with self.snapshot.connect() as connection:
            page = sa.select(c.body).order_by(c.seq.desc(), c.place.desc()).limit(limit)
            return list(connection.execute(page).scalars())

    def counts(self) -> dict[str, int]:
        """How many rows there are: propositions by state, and the rest by table and kind."""
        kinds = sa.select(RECORDS.c.kind, sa.func.count()).group_by(RECORDS.c.kind)
        states = sa.select(PROPOSITIONS.c.status, sa.func.count()).group_by(PROPOSITIONS.c.status)
        with self.snapshot.connect() as connection:
            found = {name: count for query in (kinds, states) for name, count in connection.execute(query)}
            for name in ("observations", "propositions", "edges", "transitions"):
                found[name] = connection.execute(sa.select(sa.func.count()).select_from(TABLES[name])).scalar_one()
        return found

    def _named(self, queries: tuple[Any, Any, int], names: Sequence[str], base: int | None) -> list[tuple[str, bytes]]:
        """Return rows by id, without rows of other ids that share a key."""
        one, several, space = queries
        wanted, keys = set(names), [key_of(name, space) for name in names]
        found = self._keyed((one, several), keys, base)
        return [(row.id, row.body) for row in found if row.id in wanted]

    def _keyed(
        self, queries: tuple[Any, Any], keys: Sequence[Any], base: int | None, kind: str | None = None
    ) -> Iterator[Row[Any]]:
        """Yield rows by their keys, a bounded number of keys in each statement."""
        one, several = queries
        # PostgreSQL does not take this sign, and nothing has it in its key.
        keys = [key for key in keys if not isinstance(key, str) or "\x00" not in key]
        for at in range(0, 0 if base is None else len(keys), AT_ONCE):
            some = list(keys[at : at + AT_ONCE])
            given = {"key": some[0] if len(keys) == 1 else some} | ({} if kind is None else {"kind": kind})
            yield from self._rows(one if len(keys) == 1 else several, base, given)

    def _bodies(self, query: Any, base: int | None) -> list[bytes]:
        return [] if base is None else [row.body for row in self._rows(query, base)]

    def _rows(self, query: Any, base: int | None, given: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        self._known(base)
        with self.snapshot.connect() as connection:
            return connection.execute(query, given).all()

    def _known(self, base: int | None) -> TableHead:
        """Return the head of the snapshot, if it is at this position."""
        if self.snapshot.head is None or self.snapshot.head[0] != base:
            raise StaleSnapshot
        return self.snapshot.head

    def _stream(self, query: Any) -> Iterator[Row[Any]]:
        with self.snapshot.connect() as connection:
            # Set per statement: other statements on this connection are not streamed.
            yield from connection.execute(query, execution_options={"yield_per": PAGE})

    def _exact(self, column: sa.ColumnElement[Any]) -> Any:
        """Order by bytes, as Python and SQLite do; PostgreSQL has its language's order otherwise."""
        is_text = isinstance(column.type, sa.String)
        return column.collate("C") if self._postgres and is_text else column
