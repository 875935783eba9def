"""The values of tickets as numbers, one narrow row per ticket, so that any column can be counted by SQL."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0005"
SLOTS = 40


def upgrade() -> None:
    """Make the tables; a dataset that is there already is read into them when it is first asked about."""
    number: sa.types.TypeEngine[float] = sa.Double().with_variant(sa.Numeric(asdecimal=False), "sqlite")
    op.create_table(
        "tally_insight_cells",
        sa.Column("dataset_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("ticket_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("created_at", sa.BigInteger),
        sa.Column("created_month", sa.Integer),
        sa.Column("resolved_at", sa.BigInteger),
        *(sa.Column(f"v{slot}", number) for slot in range(1, SLOTS + 1)),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tally_insight_columns",
        sa.Column("dataset_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
