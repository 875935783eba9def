"""A worker as a process of its own, for tests that kill it."""

import os
import signal
import sys
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.storage.durable.flow_registry import Intervals
from tallystick.storage.durable.stored import run_worker
from tallystick.storage.durable.worker import Worker
from tests.durable.samples import sample_durable

PRELOADED = Worker
"""Named so that the import stands: a fresh process then need not load the engine again."""
ASKS_THE_NETWORK = {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a worker process is told."""

    url: str
    worker_id: str
    timing: Intervals
    prints_to: Path
    network_log: Path | None = None


def work(orders: Orders) -> None:
    """Work until SIGTERM; says `ready`, and at the end how many runs it left."""
    warnings.simplefilter("error")
    for stream, suffix in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{orders.prints_to}.{suffix}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    if orders.network_log:
        sys.addaudithook(lambda event, args: _note_network(orders.network_log, event, args))
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    durable = sample_durable(orders.url, Path("unused"))
    ready = Path(f"{orders.prints_to}.ready")
    left = run_worker(durable, stop, worker_id=orders.worker_id, timing=orders.timing, ready=ready.touch)
    durable.close()
    Path(f"{orders.prints_to}.left").write_text(str(len(left)))


def _note_network(log: Path | None, event: str, args: tuple[Any, ...]) -> None:
    """Whatever touches the internet; the database's own socket file has a path for an address."""
    target = args[1] if event in {"socket.connect", "socket.bind"} else args[:1]
    if log and event in ASKS_THE_NETWORK and not isinstance(target, str | bytes):
        with log.open("a") as out:
            out.write(f"{event} {target}\n")
