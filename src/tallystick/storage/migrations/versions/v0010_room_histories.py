"""Each room keeps the versions of its own tables; `tally_shared_version` says what older databases had before that."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the table that remembers how far the shared history went."""
    op.create_table("tally_shared_version", sa.Column("version_num", sa.String(32), primary_key=True))
