"""The tables of the journal."""

from alembic import op

revision = "0001"
down_revision = None

_TABLES = (
    """CREATE TABLE tally_head (
        one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
        size BIGINT NOT NULL, leaf BYTEA NOT NULL, slot BYTEA NOT NULL,
        stamp TEXT NOT NULL, rotated BIGINT NOT NULL DEFAULT -1, moved BOOLEAN NOT NULL DEFAULT FALSE)""",
    """CREATE TABLE tally_records (
        seq BIGINT PRIMARY KEY, session_id TEXT COLLATE "C" NOT NULL, leaf BYTEA NOT NULL,
        header BYTEA NOT NULL, inputs BYTEA NOT NULL, outputs BYTEA NOT NULL)""",
    "CREATE INDEX tally_records_session ON tally_records (session_id, seq)",
    "CREATE TABLE tally_nodes (level INT, place BIGINT, hash BYTEA NOT NULL, PRIMARY KEY (level, place))",
    "CREATE TABLE tally_checkpoints (number BIGSERIAL PRIMARY KEY, size BIGINT NOT NULL, note BYTEA NOT NULL)",
    "CREATE TABLE tally_blobs (digest TEXT PRIMARY KEY, data BYTEA NOT NULL)",
    "CREATE TABLE tally_definitions (kind TEXT, name TEXT, data BYTEA NOT NULL, PRIMARY KEY (kind, name))",
    """CREATE TABLE tally_rates (
        caller TEXT NOT NULL, tool TEXT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())""",
    "CREATE INDEX tally_rates_window ON tally_rates (caller, tool, at)",
    """CREATE TABLE tally_meters (
        kind TEXT, name TEXT, steps BIGINT NOT NULL DEFAULT 0, bytes BIGINT NOT NULL DEFAULT 0,
        tokens BIGINT NOT NULL DEFAULT 0, cost BIGINT NOT NULL DEFAULT 0, named JSONB NOT NULL DEFAULT '{}',
        started TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), last TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (kind, name))""",
    "CREATE TABLE tally_processes (token TEXT PRIMARY KEY, since BIGINT NOT NULL)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in _TABLES:
        op.execute(statement)
