"""The tables themselves, as the migrations make them."""

from collections.abc import Mapping

import sqlalchemy as sa

_META = sa.MetaData()
PLACE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A log position. With this type SQLite stores the rows themselves in its order, without a separate index."""
HEAD = sa.Table(
    "tally_memory_head",
    _META,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("scanned", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
OBSERVATIONS = sa.Table(
    "tally_memory_observations",
    _META,
    sa.Column("seq", PLACE, primary_key=True, autoincrement=False),
    sa.Column("id", sa.String(64), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
PROPOSITIONS = sa.Table(
    "tally_memory_propositions",
    _META,
    sa.Column("seq", PLACE, primary_key=True, autoincrement=False),
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
EDGES = sa.Table(
    "tally_memory_edges",
    _META,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("proposition_id", sa.String(64), primary_key=True),
    sa.Column("observation_id", sa.String(64), primary_key=True),
    sa.Column("stance", sa.String(16), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
TRANSITIONS = sa.Table(
    "tally_memory_transitions",
    _META,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("proposition_id", sa.String(64), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
ROW_INDEX, RECENT_ROWS = (
    sa.Table(
        name,
        _META,
        sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    )
    for name in ("tally_memory_found", "tally_memory_lately")
)
"""The row index (`statements.py`)."""

RECORDS = sa.Table(
    "tally_memory_things",
    _META,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("id", sa.String(256), primary_key=True),
    sa.Column("ref", sa.String(64)),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Records of which there are few, by kind: sources, entities, episodes, tests, canonical records, links."""

TABLES: Mapping[str, sa.Table] = {
    "observations": OBSERVATIONS,
    "propositions": PROPOSITIONS,
    "edges": EDGES,
    "transitions": TRANSITIONS,
    "things": RECORDS,
}
