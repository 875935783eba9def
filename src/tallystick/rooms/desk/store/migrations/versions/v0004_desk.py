"""The desk's tickets, its reviews, and what is to be sent."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tally_desk_tickets",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("kind", sa.String(16)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("thread_id", sa.Text),
        sa.Column("parent_id", sa.String(200)),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("lease_owner", sa.Text),
        sa.Column("lease_hash", sa.String(64)),
        sa.Column("lease_until", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("beside", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_desk_tickets_waiting", "tally_desk_tickets", ["status", "kind", "not_before", "created"])
    op.create_index("tally_desk_tickets_thread", "tally_desk_tickets", ["thread_id", "created"])
    op.create_index("tally_desk_tickets_parent", "tally_desk_tickets", ["parent_id"])
    _beside()


def _beside() -> None:
    op.create_table(
        "tally_desk_seen",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("ticket_id", sa.String(200), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "tally_desk_outbox",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("ticket_id", sa.String(200), nullable=False),
        sa.Column("thread_id", sa.Text),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_desk_outbox_state", "tally_desk_outbox", ["state", "not_before"])
    op.create_table(
        "tally_desk_reviews",
        sa.Column("ticket_id", sa.String(200), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("taken_until", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_desk_reviews_state", "tally_desk_reviews", ["state", "created"])
    op.create_table(
        "tally_desk_counts",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
