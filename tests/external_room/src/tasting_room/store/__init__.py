"""The room's table."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError

from tallystick.storage.database import writing

TASTINGS = sa.Table(
    "tasting_room_tastings",
    sa.MetaData(),
    sa.Column("id", sa.String(200), primary_key=True),
    sa.Column("wine", sa.Text, nullable=False),
    sa.Column("score", sa.Integer, nullable=False),
    sa.Column("added_ms", sa.BigInteger, nullable=False),
)


class Store:
    """Reads and writes tastings."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, **row: Any) -> bool:
        """Store a tasting once; False if its id is already stored."""
        try:
            with writing(self._engine) as connection:
                connection.execute(sa.insert(TASTINGS).values(**row))
        except IntegrityError:
            return False
        return True

    def wines(self) -> dict[str, str]:
        """The wine of every tasting, by its id."""
        with self._engine.connect() as connection:
            return {row.id: row.wine for row in connection.execute(sa.select(TASTINGS.c.id, TASTINGS.c.wine))}

    def page(self, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
        """Some tastings, newest first, and how many there are."""
        newest = sa.select(TASTINGS).order_by(TASTINGS.c.added_ms.desc(), TASTINGS.c.id).limit(limit).offset(offset)
        with self._engine.connect() as connection:
            rows = [{"id": row.id, "wine": row.wine, "score": row.score} for row in connection.execute(newest)]
            total = connection.execute(sa.select(sa.func.count()).select_from(TASTINGS)).scalar_one()
        return rows, total
