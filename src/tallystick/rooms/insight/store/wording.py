"""What people set up: instructions for the analyst, and how a file's columns are to be read."""

from collections.abc import Mapping
from typing import Any

import orjson
import sqlalchemy as sa

from tallystick.rooms.insight.nouns import Prompt
from tallystick.rooms.insight.store.tables import MAPPINGS, PROMPTS, Tables
from tallystick.storage.database import writing


class Wording(Tables):
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
            version=version, template=body["template"], metadata=body["metadata"], revision=row.revision,
            saved_at=row.saved_at,
        )  # fmt: skip

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
