"""Nobody asks for the edges of an observation, and keeping them in that order cost every one of them a page."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Let go of the index."""
    op.drop_index("tally_memory_edges_by_observation", "tally_memory_edges")
