"""A transaction that can be asked, and whose clock all share: the database's own."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

MAX_NAME = 200
"""Characters of a name in a column; ids are never that long, and a longer one names nothing of ours."""


class Asking:
    """One transaction."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.postgres = connection.dialect.name == "postgresql"
        self.insert: Any = postgresql.insert if self.postgres else sqlite.insert
        self._clock: int | None = None

    def clock(self) -> int:
        """Epoch milliseconds by the database's clock, the same all through the transaction.

        Workers on several machines may disagree about the time; about a lease they must not.
        """
        if self._clock is None:
            asked = (
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
                if self.postgres
                else "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
            )
            self._clock = int(self.connection.execute(sa.text(asked)).scalar_one())
        return self._clock


def storable(text: str | None) -> str | None:
    """A name as both databases can hold it: PostgreSQL takes no NUL. The body keeps it as it was given."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:MAX_NAME]
