"""What is asked of memory by subject or by predicate alone is found, the newest first, without reading the rest."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the indexes."""
    op.create_index("tally_memory_propositions_of", "tally_memory_propositions", ["subject", "seq"])
    op.create_index("tally_memory_propositions_with", "tally_memory_propositions", ["predicate", "seq"])
