"""What several processes do at once to one database. Kept apart so that a fresh process can load it quickly."""

from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tallystick.settings import parse_settings
from tallystick.storage.approvals import SqlApprovalStore
from tallystick.storage.database import migrate, open_engine, schema_version
from tests.databases import migrate_with


def in_processes(work: Any, count: int, *args: Any) -> list[Any]:
    """Run the work in so many new processes, which start it together, and give what each one gave."""
    spawn = get_context("spawn")
    with spawn.Manager() as manager, spawn.Pool(count) as pool:
        start = manager.Barrier(count)
        return pool.starmap(work, [(start, *args)] * count, chunksize=1)


def take(start: Any, url: str, digest: str, tries: int) -> int:
    """How many of the tries got the grant."""
    book = SqlApprovalStore(open_engine(parse_settings({"storage": {"database_url": url}}), Path()))
    start.wait()
    return sum(book.take(digest, 10) is not None for _ in range(tries))


def begin(start: Any, url: str) -> str:
    """Bring a new database up."""
    engine = open_engine(parse_settings({"storage": {"database_url": url}}), Path())
    start.wait()
    migrate(engine)
    book = SqlApprovalStore(engine)
    return str(book.list(0))


def split(start: Any, url: str, rooms: tuple[str, ...]) -> str | None:
    """Bring a database of 0.1 and the tables of rooms up to date."""
    engine = open_engine(parse_settings({"storage": {"database_url": url}}), Path())
    start.wait()
    migrate_with(engine, *rooms)
    return schema_version(engine)
