"""How often the vectors of a dataset and model were written: an index made of them knows from it that it is stale."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"


def upgrade() -> None:
    """Make the table; vectors that are there already count as written once."""
    op.create_table(
        "tally_insight_vector_sets",
        sa.Column("dataset_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("model_name", sa.String(200), primary_key=True),
        sa.Column("stamp", sa.Integer, nullable=False),
    )
    op.execute(
        "INSERT INTO tally_insight_vector_sets (dataset_id, model_name, stamp) "
        "SELECT DISTINCT dataset_id, model_name, 1 FROM tally_insight_vectors"
    )
