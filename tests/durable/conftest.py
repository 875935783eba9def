"""Both databases, workers as processes, and one worker inside this process."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tallystick.storage.durable.stored import StoredDurable, run_worker
from tallystick.storage.durable.timing import Timing
from tests.durable.samples import sample_durable
from tests.postgres import start_postgres

ROOT = Path(__file__).parents[2]
HEARTBEAT_S = 0.2
STALE_S = 1.0
PATIENCE_S = 60.0
DATABASES = ["sqlite", "postgres"]


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> str:
    return start_postgres(tmp_path_factory.mktemp("postgres"))


def new_url(kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty database of that kind."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('durable') / 'durable.db'}"
    server: str = request.getfixturevalue("postgres_server")
    name = f"durable_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


@dataclass
class Place:
    """A database of its own and the worker processes on it."""

    url: str
    out: Path
    durable: StoredDurable
    workers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def worker(self, *extra: str) -> str:
        """Start a worker process; gives its id, at once."""
        worker_id = f"w-{uuid.uuid4().hex[:8]}"
        command = [sys.executable, "-W", "error", "-m", "tests.durable.worker_process", "--url", self.url]
        timing = ["--id", worker_id, "--heartbeat", str(HEARTBEAT_S), "--stale", str(STALE_S)]
        self.workers[worker_id] = subprocess.Popen(
            [*command, *timing, *extra],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return worker_id

    def ready(self, worker_id: str) -> None:
        """Wait until it takes runs."""
        stdout = self.workers[worker_id].stdout
        assert stdout is not None
        assert stdout.readline() == "ready\n", self.end(worker_id)

    def kill(self, worker_id: str) -> None:
        """Kill it as the kernel would."""
        process = self.workers.pop(worker_id)
        process.kill()
        process.communicate()

    def end(self, worker_id: str) -> tuple[int, str, str]:
        """Ask it to stop; gives its exit code and what it printed."""
        process = self.workers.pop(worker_id)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def pause(self, worker_id: str) -> None:
        """Stop it in its tracks, but not while it holds the only write lock of an SQLite file."""
        process = self.workers[worker_id]
        while True:
            process.send_signal(signal.SIGSTOP)
            if self._free():
                return
            process.send_signal(signal.SIGCONT)

    def go_on(self, worker_id: str) -> None:
        self.workers[worker_id].send_signal(signal.SIGCONT)

    def args(self, **more: object) -> dict[str, object]:
        return {"out": str(self.out), **more}

    def _free(self) -> bool:
        if not self.url.startswith("sqlite"):
            return True
        with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=0.2)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
            except sqlite3.OperationalError:
                return False
            return True


@pytest.fixture(params=DATABASES)
def place(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    url = new_url(request.param, request, tmp_path_factory)
    place = Place(url=url, out=tmp_path, durable=sample_durable(url, tmp_path / "unused"))
    yield place
    for process in place.workers.values():
        process.kill()
        process.communicate()
    place.durable.close()


@pytest.fixture(scope="module", params=DATABASES)
def working(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredDurable]:
    """The port with a worker in this process: most of what flows do needs no killing."""
    durable = sample_durable(new_url(request.param, request, tmp_path_factory), Path("unused"))
    with in_process_worker(durable):
        yield durable
    durable.close()


class in_process_worker:  # noqa: N801 - used as a with statement
    """A worker in a thread of this process."""

    def __init__(self, durable: StoredDurable, *, grace_s: float = 5.0, poll_s: float = 0.02) -> None:
        self.worker_id = f"here-{uuid.uuid4().hex[:8]}"
        self._durable = durable
        self._timing = Timing(heartbeat_s=HEARTBEAT_S, stale_after_s=STALE_S, poll_s=poll_s, grace_s=grace_s)
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.left: frozenset[str] | None = None

    def __enter__(self) -> "in_process_worker":
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def _work(self) -> None:
        self.left = run_worker(
            self._durable, self._stop, worker_id=self.worker_id, timing=self._timing, ready=self._ready.set
        )


def until(holds: Callable[[], object], what: str) -> None:
    """Look until it holds: for what another process does in its own time."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)
