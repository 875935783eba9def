"""A workspace that release 0.1 made: it opens, verifies, is read and written to, backed up and restored.

`tests/vectors/release-0.1/README.md` says how it was made.
"""

import gzip
import importlib.util
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tallystick import Gate
from tallystick.doors.cli.app import app
from tallystick.gate.session import Caller, Session
from tallystick.settings import load_settings
from tallystick.storage.database import open_engine, schema_version
from tallystick.storage.migrations import HEAD
from tests.postgres import WHEEL, new_postgres

psycopg = pytest.importorskip("psycopg", reason="left out: PostgreSQL, the postgres extra is not there")

MADE = Path(__file__).parents[1] / "vectors" / "release-0.1"
KINDS = {
    "approval", "erasure", "held", "key_rotation", "note", "outcome", "recovery", "reply_check", "started",
}  # fmt: skip
DATABASE = Path(".control-room") / "tallystick.db"
KETTLE = "What is the capacity of the Kestrel kettle?"

Tally = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgres"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace as release 0.1 left it, with its tables in SQLite or in PostgreSQL; the current folder."""
    folder = tmp_path / "work"
    with tarfile.open(MADE / f"{request.param}.tar.gz") as archive:
        # Python before 3.11.4 has no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(folder)
    if request.param == "postgres":
        tables = gzip.decompress((MADE / "postgres.sql.gz").read_bytes())
        monkeypatch.setenv("TALLY_DATABASE_URL", _restored(tables))
    monkeypatch.chdir(folder)
    _accept_missing_mirror(folder)
    return folder


def _accept_missing_mirror(folder: Path) -> None:
    """Say what a person says after a restore: the mirror stayed on the machine where the workspace was made."""
    with Gate.open(folder) as gate:
        [loss] = gate.verify().losses
        assert loss.startswith("mirror-")
        person = Session(session_id="ledger", caller=Caller(subject="ada", channel="cli"))
        gate.ledger.accept_loss(loss, session=person, reason="restored")


def _restored(dump: bytes) -> str:
    """The URL of a new database with the tables of a dump."""
    url = new_postgres("postgresql")
    with psycopg.connect(url) as connection:
        connection.execute(dump)
    return url


@pytest.fixture
def tally() -> Tally:
    """Run `tally` and give its JSON."""

    def run(*words: str, code: int = 0) -> Any:
        done = CliRunner().invoke(app, ["--json", *words])
        assert done.exit_code == code, (words, done.stdout, done.stderr)
        return json.loads(done.stdout)

    return run


@pytest.fixture
def version(workspace: Path) -> Iterator[Callable[[], str | None]]:
    """Tells the version of the gate's tables."""
    engine = open_engine(load_settings(workspace), workspace)
    yield lambda: schema_version(engine)
    engine.dispose()


@pytest.mark.promise("house.old-release")
def test_it_opens_and_every_receipt_verifies(workspace: Path) -> None:
    with Gate.open(workspace) as gate:
        report = gate.verify()
        kinds = Counter(receipt.header["kind"] for receipt in gate.ledger.read())
    assert report.ok, report.problems
    assert report.size == kinds.total() > 30
    assert kinds.keys() >= KINDS


@pytest.mark.promise("house.old-release", "house.histories-split")
def test_every_room_reads_what_it_kept(workspace: Path, tally: Tally, version: Callable[[], str | None]) -> None:
    assert version() == "0008"
    assert "1.7 litres" in json.dumps(tally("memory", "ask", KETTLE))
    assert version() == HEAD
    states = {one["approval_id"]: one["state"] for one in tally("approvals", "list")["items"]}
    assert sorted(states.values()) in (
        ["granted", "held"],
        ["expired", "granted"],
        ["expired", "expired"],
    )  # it waits no longer than a day
    assert "tickets" in json.dumps(tally("insight", "datasets"))
    assert "department" in json.dumps(tally("insight", "history"))
    assert "invoice" in json.dumps(tally("insight", "search", "1", "the invoice is wrong")).lower()
    threads = json.dumps(tally("desk", "list"))
    assert "thread-1" in threads
    assert "thread-2" in threads
    assert "The eyes change colour" in json.dumps(tally("issues", "list"))


@pytest.mark.promise("house.old-release")
def test_every_room_writes_beside_what_it_kept(workspace: Path, tally: Tally) -> None:
    tally(
        "memory", "add", "The capacity of the Kestrel kettle is 1.7 litres.", "--source", "bench", "--class", "document"
    )
    assert tally("memory", "rebuild")["same"] is True
    more = (workspace / "data" / "tickets.csv").read_text().replace("parcel", "package")
    (workspace / "data" / "more.csv").write_text(more)
    tally("insight", "ingest", "data/more.csv", "--name", "again")
    assert {"tickets", "again"} <= {one["name"] for one in tally("insight", "datasets")["items"]}
    tally("desk", "add", "What does delivery cost now?", "--thread", "thread-3", "--from", "customer-3")
    tally("desk", "work")
    assert "thread-3" in json.dumps(tally("desk", "list"))
    tally("issues", "new", "Another one")
    tally("call", "word_count", '{"text": "still here"}')
    assert tally("audit", "verify")["ok"] is True


@pytest.mark.promise("house.old-release")
def test_a_backup_taken_while_it_is_open_is_restored(
    workspace: Path, tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    restored = tmp_path / "restored"
    with Gate.open(workspace) as gate:
        gate.call_sync("word_count", {"text": "before the backup"})
        shutil.copytree(workspace, restored, ignore=shutil.ignore_patterns("tallystick.db*"))
        if "TALLY_DATABASE_URL" in os.environ:
            dumped = _dumped(os.environ["TALLY_DATABASE_URL"])
            monkeypatch.setenv("TALLY_DATABASE_URL", _restored(dumped))
        else:
            _copy_sqlite(workspace / DATABASE, restored / DATABASE)
    monkeypatch.chdir(restored)
    assert tally("audit", "verify", code=1)["problems"][0]["code"] == "mirror_missing"
    _accept_missing_mirror(restored)
    assert tally("audit", "verify")["ok"] is True
    tally("memory", "rebuild")
    assert "1.7 litres" in json.dumps(tally("memory", "ask", KETTLE))
    assert "thread-1" in json.dumps(tally("desk", "list"))


def _copy_sqlite(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as database, closing(sqlite3.connect(target)) as copy:
        database.backup(copy)


def _dumped(url: str) -> bytes:
    """What `pg_dump` of the wheel gives, without what only `psql` understands."""
    wheel = importlib.util.find_spec(WHEEL)
    assert wheel is not None
    assert wheel.origin is not None
    [*_, pg_dump] = sorted(Path(wheel.origin).parent.glob("pginstall*/bin/pg_dump"))
    dump = subprocess.run([pg_dump, "--inserts", "--no-owner", url], capture_output=True, check=True).stdout
    return b"".join(line for line in dump.splitlines(keepends=True) if not line.startswith(b"\\"))
