"""The desk's tables; fields beyond the columns are JSON in `body`."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

MAX_NAME = 200
"""Characters of a name in a column; ids are never that long, and a longer one names nothing of ours."""


class TransactionRows:
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


META = sa.MetaData()
TICKETS = sa.Table(
    "tally_desk_tickets",
    META,
    sa.Column("id", sa.String(200), primary_key=True),
    sa.Column("kind", sa.String(16)),
    sa.Column("status", sa.String(16)),
    sa.Column("thread_id", sa.Text),
    sa.Column("parent_id", sa.String(200)),
    sa.Column("version", sa.Integer),
    sa.Column("attempts", sa.Integer),
    sa.Column("not_before", sa.BigInteger),
    sa.Column("lease_owner", sa.Text),
    sa.Column("lease_hash", sa.String(64)),
    sa.Column("lease_until", sa.BigInteger),
    sa.Column("created", sa.BigInteger),
    sa.Column("updated", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
    sa.Column("beside", sa.LargeBinary),
)
SEEN = sa.Table(
    "tally_desk_seen",
    META,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("ticket_id", sa.String(200)),
    sa.Column("at", sa.BigInteger),
)
OUTBOX = sa.Table(
    "tally_desk_outbox",
    META,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("ticket_id", sa.String(200)),
    sa.Column("thread_id", sa.Text),
    sa.Column("channel", sa.String(40)),
    sa.Column("state", sa.String(16)),
    sa.Column("attempts", sa.Integer),
    sa.Column("not_before", sa.BigInteger),
    sa.Column("created", sa.BigInteger),
    sa.Column("updated", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
REVIEWS = sa.Table(
    "tally_desk_reviews",
    META,
    sa.Column("ticket_id", sa.String(200), primary_key=True),
    sa.Column("state", sa.String(16)),
    sa.Column("person", sa.Text),
    sa.Column("taken_until", sa.BigInteger),
    sa.Column("created", sa.BigInteger),
    sa.Column("updated", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
COUNTS = sa.Table(
    "tally_desk_counts", META, sa.Column("name", sa.String(80), primary_key=True), sa.Column("value", sa.BigInteger)
)


def storable(text: str | None) -> str | None:
    """A name as both databases can hold it: PostgreSQL takes no NUL. The body keeps it as it was given."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:MAX_NAME]
