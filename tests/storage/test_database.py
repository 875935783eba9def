"""The database: opened, brought up to date, shared."""

import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

import tallystick.storage.migrations as steps
from tallystick.errors import ConfigError
from tallystick.settings import parse_settings
from tallystick.storage.approvals import REQUESTS
from tallystick.storage.database import MIGRATION_LOCK, _switch_to_wal, migrate, open_engine, schema_version, writing
from tests.postgres import new_postgres
from tests.storage import racing


def _open(url: str | None, workspace: Path) -> sa.Engine:
    return open_engine(parse_settings({"storage": {"database_url": url}}), workspace)


def test_by_default_it_is_a_private_file_in_the_control_room(tmp_path: Path) -> None:
    engine = _open(None, tmp_path)
    migrate(engine)
    with writing(engine) as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        files = list((tmp_path / ".control-room").iterdir())
    assert {file.name for file in files} == {"tallystick.db", "tallystick.db-wal", "tallystick.db-shm"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    engine.dispose()


@pytest.mark.promise("decide.migrations")
def test_a_new_database_is_brought_up_and_then_left_alone(new_database: str, tmp_path: Path) -> None:
    engine = _open(new_database, tmp_path)
    assert schema_version(engine) is None
    migrate(engine)
    migrate(engine)
    assert schema_version(engine) == steps.HEAD
    engine.dispose()


@pytest.mark.promise("decide.migrations")
def test_the_head_named_is_the_last_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(steps.__file__).parent))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == steps.HEAD


@pytest.mark.promise("decide.migrations")
def test_the_steps_make_the_table_the_book_reads(engine: sa.Engine) -> None:
    made = sa.Table(REQUESTS.name, sa.MetaData(), autoload_with=engine)
    assert [(column.name, column.nullable) for column in made.columns] == [
        (column.name, column.nullable) for column in REQUESTS.columns
    ]
    unique = sa.inspect(engine).get_unique_constraints(REQUESTS.name)
    assert [constraint["column_names"] for constraint in unique] == [["live_digest"]]


@pytest.mark.promise("decide.migrations")
def test_processes_that_start_at_once_all_find_it_ready(new_database: str) -> None:
    assert racing.in_processes(racing.begin, 4, new_database) == ["()"] * 4


@pytest.mark.promise("decide.migrations")
def test_one_migrates_at_a_time_on_postgresql(tmp_path: Path) -> None:
    engine = _open(new_postgres(), tmp_path)
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    deadline = time.monotonic() + 240
    with ThreadPoolExecutor(1) as pool, engine.connect() as first:
        first.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        second = pool.submit(migrate, engine)
        while first.execute(waiting).scalar_one() == 0 and not second.done():
            assert time.monotonic() < deadline
        assert not second.done()
        assert schema_version(engine) is None
        first.rollback()
        second.result(timeout=240)
    assert schema_version(engine) == steps.HEAD
    engine.dispose()


@pytest.mark.promise("decide.migrations")
def test_a_database_of_a_newer_version_is_refused(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        connection.execute(sa.text(f"UPDATE {steps.VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(ConfigError) as caught:
        migrate(engine)
    assert caught.value.code == "database_newer"
    assert schema_version(engine) == "9999"


def test_those_who_read_before_they_write_wait_for_each_other(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        connection.execute(sa.text("CREATE TABLE tally_test (n BIGINT NOT NULL)"))
        connection.execute(sa.text("INSERT INTO tally_test VALUES (0)"))
    lock = "" if engine.dialect.name == "sqlite" else " FOR UPDATE"

    def add_one(_: int) -> None:
        with writing(engine) as connection:
            value = connection.execute(sa.text("SELECT n FROM tally_test" + lock)).scalar_one()
            connection.execute(sa.text("UPDATE tally_test SET n = :n"), {"n": value + 1})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(80)))
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT n FROM tally_test")).scalar_one() == 80


class Cursor:
    """A driver's cursor that answers with these errors before it obeys."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.asked: list[str] = []

    def execute(self, statement: str) -> None:
        self.asked.append(statement)
        if self.codes:
            error = sqlite3.OperationalError("no")
            error.sqlite_errorcode = self.codes.pop(0)
            raise error


def test_a_file_that_others_open_too_is_asked_again_until_it_obeys() -> None:
    busy = Cursor(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)
    _switch_to_wal(busy)
    assert busy.asked == ["PRAGMA journal_mode = WAL"] * 3


def test_a_file_that_cannot_be_switched_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sqlite3.OperationalError):
        _switch_to_wal(Cursor(sqlite3.SQLITE_READONLY))
    monkeypatch.setattr("tallystick.storage.database.BUSY_S", -1)
    with pytest.raises(sqlite3.OperationalError):
        _switch_to_wal(Cursor(sqlite3.SQLITE_BUSY))


def test_a_transaction_that_fails_leaves_nothing(engine: sa.Engine) -> None:
    def fail() -> None:
        with writing(engine) as connection:
            connection.execute(sa.text("CREATE TABLE tally_test (n BIGINT)"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not sa.inspect(engine).has_table("tally_test")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "mysql://root:hunter2@host/db",
        "nosuch+driver://u:hunter2@h/d",
        "postgresql+nosuch://u:hunter2@h/d",
        "postgresql://u:hunter2@h:port/d",
    ],
)
def test_a_url_that_cannot_be_used_is_an_error_that_does_not_repeat_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _open(url, tmp_path)
    assert caught.value.code == "config_bad_value"
    assert "hunter2" not in str(caught.value)


def test_a_database_that_cannot_be_reached_is_an_error_without_the_password(tmp_path: Path) -> None:
    engine = _open(f"postgres://u:hunter2@/nowhere?host={tmp_path}", tmp_path)
    assert engine.dialect.driver == "psycopg"
    with pytest.raises(ConfigError) as caught:
        migrate(engine)
    assert caught.value.code == "database_unusable"
    assert "hunter2" not in str(caught.value)


def test_a_missing_driver_is_an_error_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError) as caught:
        _open("postgresql://u@h/d", tmp_path)
    assert caught.value.code == "config_driver_missing"
    assert "tallystick[postgres]" in str(caught.value)


def test_a_control_room_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".control-room").write_text("in the way")
    with pytest.raises(ConfigError) as caught:
        _open(None, tmp_path)
    assert caught.value.code == "database_unusable"


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".control-room").mkdir()
    (tmp_path / ".control-room" / "tallystick.db").write_bytes(b"this is no database at all, " * 40)
    engine = _open(None, tmp_path)
    with pytest.raises(ConfigError) as caught:
        migrate(engine)
    assert caught.value.code == "database_unusable"
    engine.dispose()


@pytest.mark.parametrize(
    ("module", "not_loaded"),
    [("tallystick.gate.decide.replay", "sqlalchemy"), ("tallystick.storage.approvals", "alembic")],
)
def test_what_is_not_needed_is_not_loaded(module: str, not_loaded: str) -> None:
    code = f"import sys, {module}; sys.exit(any(name.split('.')[0] == '{not_loaded}' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": "src"}).returncode == 0
