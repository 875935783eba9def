"""Each room gets its own history; `tally_shared_version` stores the shared revision of older databases."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table that stores the last revision of the shared history."""
    op.create_table("tally_shared_version", sa.Column("version_num", sa.String(32), primary_key=True))
