"""Both databases, workers as processes, and one worker inside this process."""

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tallystick.storage.durable.flow_registry import Intervals
from tallystick.storage.durable.stored import StoredDurable, run_worker
from tests.durable.samples import sample_durable
from tests.durable.worker_process import Orders, work
from tests.postgres import new_postgres

HEARTBEAT_S = 0.2
STALE_S = 1.0
PATIENCE_S = 240.0
DATABASES = ["sqlite", "postgres"]

# Each worker is forked from a process that has loaded the engine and nothing else: no threads, no connections.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.durable.worker_process"])


def new_url(kind: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty database of that kind."""
    if kind == "postgres":
        return new_postgres("postgresql")
    return f"sqlite:///{tmp_path_factory.mktemp('durable') / 'durable.db'}"


@dataclass
class Place:
    """A database of its own and the worker processes on it."""

    url: str
    out: Path
    durable: StoredDurable
    workers: dict[str, BaseProcess] = field(default_factory=dict)

    def worker(self, *, grace_s: float = 5.0, stale_s: float = STALE_S, network_log: Path | None = None) -> str:
        """Start a worker process; gives its id, at once."""
        worker_id = f"w-{uuid.uuid4().hex[:8]}"
        timing = Intervals(heartbeat_s=HEARTBEAT_S, stale_after_s=stale_s, poll_s=0.05, grace_s=grace_s)
        orders = Orders(
            url=self.url,
            worker_id=worker_id,
            timing=timing,
            prints_to=self.out / worker_id,
            network_log=network_log,
        )
        process = FORKS.Process(target=work, args=(orders,))
        process.start()
        self.workers[worker_id] = process
        return worker_id

    def ready(self, worker_id: str) -> None:
        """Wait until it takes runs."""
        until((self.out / f"{worker_id}.ready").exists, f"{worker_id} ready")

    def kill(self, worker_id: str) -> None:
        """Kill it as the kernel would."""
        process = self.workers.pop(worker_id)
        process.kill()
        process.join()

    def end(self, worker_id: str) -> tuple[int | None, str]:
        """Ask it to stop; gives its exit code and what it printed."""
        process = self.workers.pop(worker_id)
        process.terminate()
        process.join(PATIENCE_S)
        return process.exitcode, "".join((self.out / f"{worker_id}.{name}").read_text() for name in ("out", "err"))

    def left(self, worker_id: str) -> str | None:
        """How many runs it left behind, once it has said so."""
        path = self.out / f"{worker_id}.left"
        return path.read_text() if path.exists() else None

    def pause(self, worker_id: str) -> None:
        """Stop it in its tracks, but not while it holds the only write lock of an SQLite file."""
        pid = self.workers[worker_id].pid
        assert pid is not None
        while True:
            os.kill(pid, signal.SIGSTOP)
            stat = Path(f"/proc/{pid}/stat")
            until(lambda stat=stat: stat.read_text().rpartition(")")[2].split()[0] == "T", "stopped")
            if self._free():
                return
            os.kill(pid, signal.SIGCONT)
            until(self._free, "it gives the lock back")

    def go_on(self, worker_id: str) -> None:
        pid = self.workers[worker_id].pid
        assert pid is not None
        os.kill(pid, signal.SIGCONT)

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
    with _place(new_url(request.param, tmp_path_factory), tmp_path) as place:
        yield place


@pytest.fixture
def postgres_place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with _place(new_url("postgres", tmp_path_factory), tmp_path) as place:
        yield place


@contextmanager
def _place(url: str, out: Path) -> Iterator[Place]:
    place = Place(url=url, out=out, durable=sample_durable(url, out / "unused"))
    yield place
    for worker_id in list(place.workers):
        place.kill(worker_id)
    place.durable.close()


@pytest.fixture(scope="module", params=DATABASES)
def working(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredDurable]:
    """The port with a worker in this process: most of what flows do needs no killing."""
    durable = sample_durable(new_url(request.param, tmp_path_factory), Path("unused"))
    with InProcessWorker(durable):
        yield durable
    durable.close()


class InProcessWorker:
    """A worker in a thread of this process."""

    def __init__(self, durable: StoredDurable) -> None:
        self.worker_id = f"here-{uuid.uuid4().hex[:8]}"
        self.left: frozenset[str] | None = None
        self._durable = durable
        self._timing = Intervals(heartbeat_s=HEARTBEAT_S, stale_after_s=STALE_S, poll_s=0.02, grace_s=5.0)
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> "InProcessWorker":
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
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
