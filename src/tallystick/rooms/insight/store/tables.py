"""The tables and how they are queried; fields beyond the columns are JSON in `body`."""

from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Engine, Row

from tallystick.rooms.insight.model import BadRow, Dataset

META = sa.MetaData()
DATASETS = sa.Table(
    "tally_insight_datasets",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text),
    sa.Column("file_hash", sa.String(64)),
    sa.Column("row_count", sa.Integer),
    sa.Column("department_count", sa.Integer),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
TICKETS = sa.Table(
    "tally_insight_tickets",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("dataset_id", sa.Integer),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("department", sa.Text),
    sa.Column("product", sa.Text),
    sa.Column("category", sa.Text),
    sa.Column("body", sa.LargeBinary),
)
VECTORS = sa.Table(
    "tally_insight_vectors",
    META,
    sa.Column("dataset_id", sa.Integer, primary_key=True),
    sa.Column("model_name", sa.String(200), primary_key=True),
    sa.Column("ticket_id", sa.Integer, primary_key=True),
    sa.Column("vector", sa.LargeBinary),
)
VECTOR_SETS = sa.Table(
    "tally_insight_vector_sets",
    META,
    sa.Column("dataset_id", sa.Integer, primary_key=True),
    sa.Column("model_name", sa.String(200), primary_key=True),
    sa.Column("stamp", sa.Integer),
)
RUNS = sa.Table(
    "tally_insight_runs",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("dataset_id", sa.Integer),
    sa.Column("algorithm", sa.String(40)),
    sa.Column("model_name", sa.String(200)),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
ASSIGNMENTS = sa.Table(
    "tally_insight_assignments",
    META,
    sa.Column("run_id", sa.Integer, primary_key=True),
    sa.Column("ticket_id", sa.Integer, primary_key=True),
    sa.Column("cluster_id", sa.Integer),
)
ANALYSES = sa.Table(
    "tally_insight_analyses",
    META,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("dataset_id", sa.Integer),
    sa.Column("prompt_version", sa.String(200)),
    sa.Column("question", sa.Text),
    sa.Column("ticket_count", sa.Integer),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
PROMPTS = sa.Table(
    "tally_insight_prompts",
    META,
    sa.Column("version", sa.String(200), primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("saved_at", sa.BigInteger),
    sa.Column("body", sa.LargeBinary),
)
MAPPINGS = sa.Table(
    "tally_insight_mappings",
    META,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("body", sa.LargeBinary),
)

BATCH = 2_000
"""Rows written or read at once."""
UNFINISHED = -1
"""The row count of a dataset that is still being written."""
MAX_ID = 2**31 - 1
"""Nothing has a larger id, and a database would not even take one as a question."""


class Tables:
    """An engine that can be asked."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.postgres = engine.dialect.name == "postgresql"
        self.insert: Any = postgresql.insert if self.postgres else sqlite.insert

    def rows(self, query: Any) -> Sequence[Row[Any]]:
        """The rows of a query."""
        with self.engine.connect() as connection:
            return connection.execute(query).all()


def dataset_of(row: Row[Any]) -> Dataset:
    """A row of the table of datasets, read."""
    body = orjson.loads(row.body)
    return Dataset(
        dataset_id=row.id,
        name=row.name,
        file_hash=row.file_hash,
        row_count=row.row_count,
        department_count=row.department_count,
        created_at=row.created_at,
        mapping=body.get("mapping", {}),
        bad_row_count=body.get("bad_row_count", 0),
        bad_rows=tuple(BadRow(line=line, reason=why, detail=more) for line, why, more in body.get("bad_rows", ())),
    )
