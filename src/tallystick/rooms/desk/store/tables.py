"""The desk's tables. What a row says beyond its columns is JSON in `body`."""

import sqlalchemy as sa

META = sa.MetaData()
TICKETS = sa.Table(
    "tally_desk_tickets", META,
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
)  # fmt: skip
SEEN = sa.Table(
    "tally_desk_seen", META,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("ticket_id", sa.String(200)),
    sa.Column("at", sa.BigInteger),
)  # fmt: skip
OUTBOX = sa.Table(
    "tally_desk_outbox", META,
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
)  # fmt: skip
REVIEWS = sa.Table(
    "tally_desk_reviews", META,
    sa.Column("ticket_id", sa.String(200), primary_key=True),
    sa.Column("state", sa.String(16)),
    sa.Column("person", sa.Text),
    sa.Column("taken_until", sa.BigInteger),
    sa.Column("created", sa.BigInteger),
    sa.Column("updated", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)  # fmt: skip
COUNTS = sa.Table(
    "tally_desk_counts", META,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("value", sa.BigInteger),
)  # fmt: skip
