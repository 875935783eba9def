"""The desk's tables, on SQLite or PostgreSQL; related rows are written in one transaction.

with store.transaction() as tx:
    ticket = tx.get(ticket_id)
    tx.save(filled, was=ticket)
    tx.add(reply)
    tx.put_outgoing(message)
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError

from tallystick.rooms.desk.store.people_rows import QueueRows
from tallystick.rooms.desk.store.ticket_rows import TicketRows
from tallystick.storage.database import writing


class Transaction(TicketRows, QueueRows):
    """Reads and writes inside one transaction."""


class Store:
    """The tables of one workspace."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.one_writer: bool = engine.dialect.name == "sqlite"
        """Whether only one transaction can write at a time, so that writers never conflict."""

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Begin one that writes; an exception undoes all of it."""
        with writing(self._engine) as connection:
            yield Transaction(connection)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Begin one that only reads."""
        with self._engine.connect() as connection:
            yield Transaction(connection)


DATABASE_ERRORS = (SQLAlchemyError,)
"""What reading or writing raises when the database cannot be used."""
