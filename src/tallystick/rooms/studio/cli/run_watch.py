"""Work on a run in this process and tell what happens; loaded only when somebody watches."""

import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from tallystick.app.gate import Gate
from tallystick.doors.cli.kit import running_tools
from tallystick.gate.session import Caller
from tallystick.rooms.studio.runs.desk import RunDesk
from tallystick.rooms.studio.runs.states import ENDED
from tallystick.storage.durable.stored import run_worker
from tallystick.storage.durable.timing import Timing
from tallystick.turns.runs import DurableError

LOOK_S = 0.2
TIMING = Timing(poll_s=0.1)
"""Somebody is looking: the queue is looked into more often than a server would."""


def watch_run(
    gate: Gate, runs: RunDesk, run_id: str, caller: Caller, *, told: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Be a worker until the run has ended; gives all about it.

    Args:
        gate: The open workspace, its flows joined.
        runs: Its runs.
        run_id: Which one.
        caller: Who watches.
        told: Is given each event.

    Raises:
        DurableError: The worker could not work.
    """
    logging.getLogger("dbos").setLevel(logging.WARNING)
    with running_tools():
        helper = _Helper(gate)
        helper.thread.start()
        try:
            return _until_ended(runs, run_id, caller, told, helper)
        finally:
            helper.stop.set()
            helper.thread.join()


class _Helper:
    """The worker beside the watcher."""

    def __init__(self, gate: Gate) -> None:
        self.stop = threading.Event()
        self.error: DurableError | None = None
        self.thread = threading.Thread(target=self._work, args=(gate,), name="tally-worker")

    def _work(self, gate: Gate) -> None:
        worker_id = f"run-{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            run_worker(gate.durable, self.stop, worker_id=worker_id, timing=TIMING)
        except DurableError as error:
            self.error = error


def _until_ended(
    runs: RunDesk, run_id: str, caller: Caller, told: Callable[[dict[str, Any]], None], helper: _Helper
) -> dict[str, Any]:
    after = -1
    while True:
        found = runs.show(run_id, caller)
        for event in runs.events(run_id, after=after):
            after = event.seq
            told(event.data)
        if found is not None and found["status"] in ENDED:
            return found
        if helper.error is not None:
            raise helper.error
        time.sleep(LOOK_S)
