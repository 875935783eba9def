"""What is asked of memory by subject or by predicate alone is found, the newest first, without reading the rest."""

from alembic import op

revision = "0006"
down_revision = "0002"


def upgrade() -> None:
    """Make the indexes; the one by both replaces that without an order."""
    op.create_index("tally_memory_propositions_said", "tally_memory_propositions", ["subject", "predicate", "seq"])
    op.drop_index("tally_memory_propositions_about", "tally_memory_propositions")
    op.create_index("tally_memory_propositions_of", "tally_memory_propositions", ["subject", "seq"])
    op.create_index("tally_memory_propositions_with", "tally_memory_propositions", ["predicate", "seq"])
