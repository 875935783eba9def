"""Insight's tickets, vectors, runs and answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tally_insight_datasets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("file_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("row_count", sa.Integer, nullable=False),
        sa.Column("department_count", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    _tickets()
    _results()
    op.create_table(
        "tally_insight_prompts",
        sa.Column("version", sa.String(200), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("saved_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tally_insight_mappings",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )


def _tickets() -> None:
    op.create_table(
        "tally_insight_tickets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("dataset_id", sa.Integer, sa.ForeignKey("tally_insight_datasets.id"), nullable=False),
        sa.Column("created_at", sa.BigInteger),
        sa.Column("department", sa.Text),
        sa.Column("product", sa.Text),
        sa.Column("category", sa.Text),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_insight_tickets_of", "tally_insight_tickets", ["dataset_id", "id"])
    # Bytes on both databases: vectors are always read whole, and a server without the extension works too.
    op.create_table(
        "tally_insight_vectors",
        sa.Column("dataset_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("model_name", sa.String(200), primary_key=True),
        sa.Column("ticket_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )


def _results() -> None:
    op.create_table(
        "tally_insight_runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("dataset_id", sa.Integer, nullable=False),
        sa.Column("algorithm", sa.String(40), nullable=False),
        sa.Column("model_name", sa.String(200), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tally_insight_assignments",
        sa.Column("run_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("ticket_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("cluster_id", sa.Integer, nullable=False),
    )
    op.create_table(
        "tally_insight_analyses",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("dataset_id", sa.Integer, nullable=False),
        sa.Column("prompt_version", sa.String(200), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("ticket_count", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_insight_analyses_of", "tally_insight_analyses", ["dataset_id", "created_at"])
