"""The table of tastings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "tasting_room_tastings",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("wine", sa.Text, nullable=False),
        sa.Column("score", sa.Integer, nullable=False),
        sa.Column("added_ms", sa.BigInteger, nullable=False),
    )
