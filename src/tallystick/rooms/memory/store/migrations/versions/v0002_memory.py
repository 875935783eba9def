"""What memory has made of the log, so that reading it is quick. All of it can be built again."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = None


def upgrade() -> None:
    """Make the tables of the projection."""
    op.create_table(
        "tally_memory_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("scanned", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "tally_memory_observations",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_memory_observations_by_seq", "tally_memory_observations", ["seq"])
    _propositions()
    _evidence()
    op.create_table(
        "tally_memory_things",
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("id", sa.String(256), primary_key=True),
        sa.Column("ref", sa.String(64)),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_memory_things_by_ref", "tally_memory_things", ["kind", "ref"])


def _propositions() -> None:
    op.create_table(
        "tally_memory_propositions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("predicate", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("episode_id", sa.Text, nullable=False),
        sa.Column("archived", sa.Boolean, nullable=False),
        sa.Column("pending", sa.Boolean, nullable=False),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_memory_propositions_about", "tally_memory_propositions", ["subject", "predicate"])
    op.create_index("tally_memory_propositions_due", "tally_memory_propositions", ["due_at", "id"])
    op.create_index("tally_memory_propositions_in", "tally_memory_propositions", ["episode_id", "archived", "status"])
    op.create_index("tally_memory_propositions_pending", "tally_memory_propositions", ["pending"])


def _evidence() -> None:
    op.create_table(
        "tally_memory_edges",
        sa.Column("proposition_id", sa.String(64), primary_key=True),
        sa.Column("observation_id", sa.String(64), primary_key=True),
        sa.Column("stance", sa.String(16), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_memory_edges_by_observation", "tally_memory_edges", ["observation_id"])
    op.create_table(
        "tally_memory_transitions",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("proposition_id", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("tally_memory_transitions_of", "tally_memory_transitions", ["proposition_id"])
