"""What was made of tickets: groupings and answers."""

from collections.abc import Callable, Iterable, Mapping
from operator import eq, ge, le
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Row

from tallystick.rooms.insight.nouns import Analysis, ClusterRun
from tallystick.rooms.insight.store.tables import ANALYSES, ASSIGNMENTS, BATCH, MAX_ID, RUNS, Tables
from tallystick.storage.database import writing


class Results(Tables):
    """Groupings and answers."""

    def add_run(
        self, dataset_id: int, algorithm: str, model_name: str, figures: Mapping[str, Any],
        assignments: Iterable[tuple[int, int]], created_at: int,
    ) -> ClusterRun:  # fmt: skip
        """Write a grouping with (ticket, cluster) pairs."""
        with writing(self.engine) as connection:
            values = {
                "dataset_id": dataset_id, "algorithm": algorithm, "model_name": model_name, "created_at": created_at,
                "body": orjson.dumps(figures),
            }  # fmt: skip
            made = _run(connection.execute(sa.insert(RUNS).values(**values).returning(*RUNS.c)).one())
            rows = [
                {"run_id": made.run_id, "ticket_id": ticket_id, "cluster_id": cluster}
                for ticket_id, cluster in assignments
            ]
            for start in range(0, len(rows), BATCH):
                connection.execute(sa.insert(ASSIGNMENTS), rows[start : start + BATCH])
        return made

    def run(self, run_id: int) -> ClusterRun | None:
        """One grouping."""
        if run_id > MAX_ID:
            return None
        rows = self.rows(sa.select(RUNS).where(RUNS.c.id == run_id))
        return _run(rows[0]) if rows else None

    def runs(self, dataset_id: int) -> list[ClusterRun]:
        """The groupings of a dataset, newest first."""
        query = sa.select(RUNS).where(RUNS.c.dataset_id == dataset_id).order_by(RUNS.c.id.desc())
        return [_run(row) for row in self.rows(query)]

    def assignments(self, run_id: int, *, limit: int | None = None, offset: int = 0) -> list[tuple[int, int]]:
        """(ticket, cluster) pairs by ticket."""
        c = ASSIGNMENTS.c
        query = sa.select(c.ticket_id, c.cluster_id).where(c.run_id == run_id).order_by(c.ticket_id)
        rows = self.rows(query.limit(limit).offset(min(offset, MAX_ID)))
        return [(row.ticket_id, row.cluster_id) for row in rows]

    def members(self, run_id: int, cluster_id: int, *, limit: int, offset: int = 0) -> list[int]:
        """Tickets of one group, by id."""
        c = ASSIGNMENTS.c
        query = sa.select(c.ticket_id).where(c.run_id == run_id, c.cluster_id == cluster_id).order_by(c.ticket_id)
        return [row.ticket_id for row in self.rows(query.limit(limit).offset(min(offset, MAX_ID)))]

    def count_assignments(self, run_id: int) -> int:
        """How many tickets a grouping has."""
        query = sa.select(sa.func.count()).select_from(ASSIGNMENTS).where(ASSIGNMENTS.c.run_id == run_id)
        return int(self.rows(query)[0][0])

    def add_analysis(
        self, dataset_id: int, prompt_version: str, question: str, ticket_count: int, answer: Mapping[str, Any],
        created_at: int,
    ) -> int:  # fmt: skip
        """Write an answer; gives its id."""
        values = {
            "dataset_id": dataset_id, "prompt_version": prompt_version, "question": question,
            "ticket_count": ticket_count, "created_at": created_at, "body": orjson.dumps(answer),
        }  # fmt: skip
        with writing(self.engine) as connection:
            query = sa.insert(ANALYSES).values(**values).returning(ANALYSES.c.id)
            return int(connection.execute(query).scalar_one())

    def analysis(self, analysis_id: int) -> Analysis | None:
        """One answer."""
        if analysis_id > MAX_ID:
            return None
        rows = self.rows(sa.select(ANALYSES).where(ANALYSES.c.id == analysis_id))
        return _analysis(rows[0]) if rows else None

    def analyses(
        self, *, dataset_id: int | None = None, prompt_version: str | None = None, since: int | None = None,
        until: int | None = None, limit: int = 50, offset: int = 0,
    ) -> tuple[list[Analysis], int]:  # fmt: skip
        """Answers, newest first, and how many there are in all."""
        c = ANALYSES.c
        asked: list[tuple[Any, Callable[[Any, Any], Any], Any]] = [
            (c.dataset_id, eq, dataset_id), (c.prompt_version, eq, prompt_version), (c.created_at, ge, since),
            (c.created_at, le, until),
        ]  # fmt: skip
        if (dataset_id or 0) > MAX_ID:
            return [], 0
        conditions = [compare(column, value) for column, compare, value in asked if value is not None]
        total = sa.select(sa.func.count()).select_from(ANALYSES).where(*conditions)
        query = sa.select(ANALYSES).where(*conditions).order_by(c.id.desc()).limit(limit).offset(min(offset, MAX_ID))
        return [_analysis(row) for row in self.rows(query)], int(self.rows(total)[0][0])


def _run(row: Row[Any]) -> ClusterRun:
    return ClusterRun(
        run_id=row.id, dataset_id=row.dataset_id, algorithm=row.algorithm, model_name=row.model_name,
        created_at=row.created_at, figures=orjson.loads(row.body),
    )  # fmt: skip


def _analysis(row: Row[Any]) -> Analysis:
    return Analysis(
        analysis_id=row.id, dataset_id=row.dataset_id, prompt_version=row.prompt_version, question=row.question,
        ticket_count=row.ticket_count, created_at=row.created_at, answer=orjson.loads(row.body),
    )  # fmt: skip
