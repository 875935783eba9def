"""The journal moves between files and PostgreSQL: the same bytes, verified, and complete at one place at least."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.app.journal_move import move_journal
from tallystick.errors import ConfigError, LedgerError
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.settings import Settings, load_settings, parse_settings
from tests.ledgers import AUDITOR, Workspace, fill
from tests.postgres import new_postgres
from tests.sizes import size

HERE = Path(__file__).parents[2]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace on files, with an erased receipt, a blob, two sessions and rotated keys."""
    workspace = Workspace(tmp_path, inline_bytes=200, segment_bytes=20_000, checkpoint_every=10)
    workspace.database = None
    with workspace.opened() as ledger:
        ids = fill(ledger, 30) + fill(ledger, 5, session="s2")
        ledger.erase(ids[4], session=AUDITOR, reason="asked")
        ledger.rotate(session=AUDITOR)
        fill(ledger, 20)
    return workspace


def with_database(workspace: Workspace, database: str) -> Settings:
    """The settings of the workspace, with the URL of a database beside the journal in files."""
    return parse_settings(
        {"ledger": workspace.ledger, "storage": {"state_dir": str(workspace.state), "database_url": database}}
    )


def move(workspace: Workspace, settings: Settings, to: str) -> int:
    return move_journal(workspace.root, settings, to, PinnedHttpClient()).size  # type: ignore[arg-type]


@pytest.mark.promise("nodes.move")
def test_a_journal_moves_to_postgres_and_back_with_every_byte(workspace: Workspace) -> None:
    before, database = workspace.lines(), new_postgres()
    settings = with_database(workspace, database)
    first = b"".join((workspace.journal / f"{number:06d}.log").read_bytes() for number in range(2))
    assert first.count(b"\n") < len(before) or first
    files = b"".join(path.read_bytes() for path in sorted(workspace.journal.glob("*.log")))
    moved = move(workspace, settings, "postgres")
    assert load_settings(workspace.root).storage.journal == "postgres"
    workspace.database = database
    rows = workspace.lines()
    assert b"".join(rows) == files
    assert moved == len(rows)
    with workspace.opened() as ledger:
        assert sum(1 for _ in ledger.session("s2")) == 5
        proof = ledger.prove(next(ledger.session("s2")).receipt_id)
        assert proof is not None
        fill(ledger, 3)
    assert workspace.verify().ok

    here = with_database(workspace, database)
    assert move(workspace, here, "files") == len(rows) + 3
    workspace.database = None
    stored = b"".join(path.read_bytes() for path in sorted(workspace.journal.glob("*.log"))).rstrip(b"\0")
    assert stored.startswith(files)
    with workspace.opened() as ledger:
        fill(ledger, 1)
        assert sum(1 for _ in ledger.session("s2")) == 5
    assert workspace.verify().ok
    # Who still asks the database is refused: the journal is no longer there.
    workspace.database = database
    (workspace.audit / "journal").rename(workspace.audit / "aside")
    with pytest.raises(LedgerError) as error:
        workspace.open()
    assert error.value.code == "journal_moved"


@pytest.mark.promise("nodes.move-open")
def test_a_process_that_has_the_files_open_is_refused_after_the_move(workspace: Workspace) -> None:
    with workspace.opened() as old:
        fill(old, 1)
        settings = with_database(workspace, new_postgres())
        move(workspace, settings, "postgres")
        with pytest.raises(LedgerError):
            fill(old, 1)


@pytest.mark.promise("nodes.move")
def test_a_database_that_holds_another_journal_is_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    database = new_postgres()
    other = Workspace(tmp_path / "other", database=database)
    with other.opened() as ledger:
        fill(ledger, 3)
    with pytest.raises(LedgerError) as error:
        move(workspace, with_database(workspace, database), "postgres")
    assert error.value.code in {"journal_exists", "key_missing"}
    assert workspace.verify().ok
    assert other.verify().size == 3


@pytest.mark.promise("nodes.move")
def test_a_workspace_with_files_does_not_begin_a_second_journal_in_the_database(workspace: Workspace) -> None:
    workspace.database = new_postgres()
    with pytest.raises(ConfigError) as error:
        workspace.open()
    assert error.value.code == "journal_elsewhere"


MOVE = """
import sys
from tallystick.app.journal_move import move_journal
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.settings import Settings
from pathlib import Path
print("begin", flush=True)
move_journal(Path(sys.argv[1]), Settings.model_validate_json(sys.argv[2]), sys.argv[3], PinnedHttpClient())
"""


@pytest.mark.promise("nodes.move-killed")
@pytest.mark.parametrize("to", ["postgres", "files"])
def test_a_move_that_is_killed_loses_nothing_and_can_be_repeated(workspace: Workspace, to: str) -> None:
    database = new_postgres()
    settings = with_database(workspace, database)
    if to == "files":
        move(workspace, settings, "postgres")
    for kill in range(size(3, 60)):
        command = [sys.executable, "-c", MOVE, str(workspace.root), settings.model_dump_json(), to]
        env = {**os.environ, "PYTHONPATH": str(HERE / "src")}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(size(400, 50) * (kill + 1) / 1000)
        process.kill()
        process.communicate()
        if process.returncode == 0:
            break
    now = load_settings(workspace.root).storage.journal
    if now != to:
        move(workspace, settings, to)
    workspace.database = database if to == "postgres" else None
    assert load_settings(workspace.root).storage.journal == to
    if to == "postgres" and any((workspace.audit / "journal").glob("*.log")):
        move(workspace, settings, to)
    report = workspace.verify()
    assert report.ok, report.problems
    assert report.size >= 57
    with workspace.opened() as ledger:
        fill(ledger, 1)
    assert workspace.verify().ok
