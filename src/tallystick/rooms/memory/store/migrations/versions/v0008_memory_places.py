"""Memory's rows in the order of the log, and where a thing's rows lie beside them: what is new is written together."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_PLACE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables anew; memory builds them again from the log."""
    for name in ("observations", "propositions", "edges", "transitions"):
        op.drop_table(f"tally_memory_{name}")
    for name in ("head", "things"):
        op.execute(f"DELETE FROM tally_memory_{name}")  # noqa: S608 - constants
    op.create_table(
        "tally_memory_observations",
        sa.Column("seq", _PLACE, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    _propositions()
    _evidence()
    for name in ("found", "lately"):
        op.create_table(
            f"tally_memory_{name}",
            sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
            sqlite_with_rowid=False,
        )


def _propositions() -> None:
    table = "tally_memory_propositions"
    op.create_table(
        table,
        sa.Column("seq", _PLACE, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("predicate", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("episode_id", sa.Text, nullable=False),
        sa.Column("archived", sa.Boolean, nullable=False),
        sa.Column("pending", sa.Boolean, nullable=False),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index(f"{table}_due", table, ["due_at", "id"])
    op.create_index(f"{table}_in", table, ["episode_id", "archived", "status"])
    op.create_index(f"{table}_said", table, ["subject", "predicate", "seq"])
    op.create_index(f"{table}_of", table, ["subject", "seq"])
    op.create_index(f"{table}_with", table, ["predicate", "seq"])
    # Few wait at any time.
    op.create_index(
        f"{table}_pending",
        table,
        ["pending"],
        sqlite_where=sa.text("pending IS 1"),
        postgresql_where=sa.text("pending IS true"),
    )


def _evidence() -> None:
    op.create_table(
        "tally_memory_edges",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("proposition_id", sa.String(64), primary_key=True),
        sa.Column("observation_id", sa.String(64), primary_key=True),
        sa.Column("stance", sa.String(16), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tally_memory_transitions",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("proposition_id", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
