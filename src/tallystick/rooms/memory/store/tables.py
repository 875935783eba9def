"""The tables themselves, as the migrations make them."""

from collections.abc import Mapping

import sqlalchemy as sa

_META = sa.MetaData()
PLACE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A place of the log. Under this name SQLite keeps the rows themselves in its order, without an index beside them."""
HEAD = sa.Table(
    "tally_memory_head", _META,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("scanned", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
OBSERVATIONS = sa.Table(
    "tally_memory_observations", _META,
    sa.Column("seq", PLACE, primary_key=True, autoincrement=False),
    sa.Column("id", sa.String(64), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
PROPOSITIONS = sa.Table(
    "tally_memory_propositions", _META,
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
)  # fmt: skip
EDGES = sa.Table(
    "tally_memory_edges", _META,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("proposition_id", sa.String(64), primary_key=True),
    sa.Column("observation_id", sa.String(64), primary_key=True),
    sa.Column("stance", sa.String(16), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
TRANSITIONS = sa.Table(
    "tally_memory_transitions", _META,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("proposition_id", sa.String(64), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
FOUND, LATELY = (
    sa.Table(
        name, _META,
        sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    )
    for name in ("tally_memory_found", "tally_memory_lately")
)  # fmt: skip
"""Where the rows of a thing lie (`places.py`)."""

THINGS = sa.Table(
    "tally_memory_things", _META,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("id", sa.String(256), primary_key=True),
    sa.Column("ref", sa.String(64)),
    sa.Column("body", sa.LargeBinary, nullable=False),
)  # fmt: skip
"""Everything of which there is little, by kind: sources, entities, episodes, tests, canonical records, indexes."""

TABLES: Mapping[str, sa.Table] = {
    "observations": OBSERVATIONS, "propositions": PROPOSITIONS, "edges": EDGES, "transitions": TRANSITIONS,
    "things": THINGS,
}  # fmt: skip
