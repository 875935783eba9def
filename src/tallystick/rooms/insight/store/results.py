"""Tables of cluster runs and analyses."""

from collections.abc import Callable, Iterable, Mapping
from operator import eq, ge, le
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Row

from tallystick.rooms.insight.model import Analysis, ClusterRun, Prompt
from tallystick.rooms.insight.store.tables import ANALYSES, ASSIGNMENTS, BATCH, MAPPINGS, MAX_ID, PROMPTS, RUNS, Tables
from tallystick.storage.database import writing


class PromptsAndMappings(Tables):
    """Prompts and mappings."""

    def save_prompt(self, version: str, template: str, metadata: Mapping[str, Any], saved_at: int) -> int:
        """Write a version of the instructions; earlier revisions of it stay. Gives the revision."""
        c = PROMPTS.c
        with writing(self.engine) as connection:
            newest = sa.select(sa.func.max(c.revision)).where(c.version == version)
            revision = int(connection.execute(newest).scalar() or 0) + 1
            body = orjson.dumps({"template": template, "metadata": metadata})
            values = {"version": version, "revision": revision, "saved_at": saved_at, "body": body}
            connection.execute(sa.insert(PROMPTS).values(**values))
        return revision

    def prompt(self, version: str) -> Prompt | None:
        """The newest revision of a version."""
        query = sa.select(PROMPTS).where(PROMPTS.c.version == version).order_by(PROMPTS.c.revision.desc()).limit(1)
        rows = self.rows(query)
        if not rows:
            return None
        row, body = rows[0], orjson.loads(rows[0].body)
        return Prompt(
            version=version,
            template=body["template"],
            metadata=body["metadata"],
            revision=row.revision,
            saved_at=row.saved_at,
        )

    def prompt_versions(self) -> list[str]:
        """The versions there are."""
        return [row[0] for row in self.rows(sa.select(PROMPTS.c.version).distinct().order_by(PROMPTS.c.version))]

    def put_mapping(self, name: str, mapping: Mapping[str, str]) -> None:
        """Keep a mapping under a name."""
        insert = self.insert(MAPPINGS).values(name=name, body=orjson.dumps(mapping))
        upsert = insert.on_conflict_do_update(index_elements=["name"], set_={"body": insert.excluded.body})
        with writing(self.engine) as connection:
            connection.execute(upsert)

    def mapping(self, name: str) -> dict[str, str] | None:
        """A mapping that was kept."""
        rows = self.rows(sa.select(MAPPINGS.c.body).where(MAPPINGS.c.name == name))
        return orjson.loads(rows[0].body) if rows else None


class Results(Tables):
    """Groupings and answers."""

    def add_run(
        self,
        dataset_id: int,
        algorithm: str,
        model_name: str,
        figures: Mapping[str, Any],
        assignments: Iterable[tuple[int, int]],
        created_at: int,
    ) -> ClusterRun:
        """Write a grouping with (ticket, cluster) pairs."""
        with writing(self.engine) as connection:
            values = {
                "dataset_id": dataset_id,
                "algorithm": algorithm,
                "model_name": model_name,
                "created_at": created_at,
                "body": orjson.dumps(figures),
            }
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
        self,
        dataset_id: int,
        prompt_version: str,
        question: str,
        ticket_count: int,
        answer: Mapping[str, Any],
        created_at: int,
    ) -> int:
        """Store an analysis and return its id."""
        values = {
            "dataset_id": dataset_id,
            "prompt_version": prompt_version,
            "question": question,
            "ticket_count": ticket_count,
            "created_at": created_at,
            "body": orjson.dumps(answer),
        }
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
        self,
        *,
        dataset_id: int | None = None,
        prompt_version: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[Analysis], int]:
        """Answers, newest first, and how many there are in all."""
        c = ANALYSES.c
        asked: list[tuple[Any, Callable[[Any, Any], Any], Any]] = [
            (c.dataset_id, eq, dataset_id),
            (c.prompt_version, eq, prompt_version),
            (c.created_at, ge, since),
            (c.created_at, le, until),
        ]
        if (dataset_id or 0) > MAX_ID:
            return [], 0
        conditions = [compare(column, value) for column, compare, value in asked if value is not None]
        total = sa.select(sa.func.count()).select_from(ANALYSES).where(*conditions)
        query = sa.select(ANALYSES).where(*conditions).order_by(c.id.desc()).limit(limit).offset(min(offset, MAX_ID))
        return [_analysis(row) for row in self.rows(query)], int(self.rows(total)[0][0])


def _run(row: Row[Any]) -> ClusterRun:
    return ClusterRun(
        run_id=row.id,
        dataset_id=row.dataset_id,
        algorithm=row.algorithm,
        model_name=row.model_name,
        created_at=row.created_at,
        figures=orjson.loads(row.body),
    )


def _analysis(row: Row[Any]) -> Analysis:
    return Analysis(
        analysis_id=row.id,
        dataset_id=row.dataset_id,
        prompt_version=row.prompt_version,
        question=row.question,
        ticket_count=row.ticket_count,
        created_at=row.created_at,
        answer=orjson.loads(row.body),
    )
