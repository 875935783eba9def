"""Calls waiting for approval."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table of approval requests."""
    op.create_table(
        "tally_approvals",
        sa.Column("approval_id", sa.String(64), primary_key=True),
        sa.Column("live_digest", sa.String(64), unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("tool_version", sa.String(64), nullable=False),
        sa.Column("session", sa.LargeBinary, nullable=False),
        sa.Column("args", sa.LargeBinary, nullable=False),
        sa.Column("shown", sa.LargeBinary, nullable=False),
        sa.Column("dry_run", sa.Boolean, nullable=False),
        sa.Column("policy_digest", sa.String(64), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("pointer", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("channel", sa.Text),
        sa.Column("answered", sa.BigInteger),
        sa.Column("note", sa.Text),
        sa.Column("edited", sa.Boolean, nullable=False),
    )
    op.create_index("tally_approvals_by_state", "tally_approvals", ["state", "created"])
    op.create_index("tally_approvals_by_time", "tally_approvals", ["created", "approval_id"])
