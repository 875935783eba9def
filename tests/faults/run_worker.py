"""A worker on pipeline runs as a process of its own, which kills itself where a test says so.

The work is the real one; only around each step of the flow it is looked whether this is the place to die: before the
step, inside it when all is done but the engine has not yet been told, or behind it; or right behind the call at the
gate, when the ledger has the outcome and nobody else does.
"""

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.app.flow_context import GateFlowContext
from tallystick.app.flows import register_flows
from tallystick.app.gate import Gate
from tallystick.gate.session import Session
from tallystick.rooms.studio.flows.pipeline import register_runs
from tallystick.settings import Settings, parse_settings
from tallystick.storage.durable.flow_registry import Intervals
from tallystick.storage.durable.flows import PlainRun
from tallystick.storage.durable.stored import run_worker
from tallystick.turns.flow_context import STEP

PRELOADED = (register_runs, PlainRun)
"""Named so that the imports stand: a fresh process then need not load them again."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a worker process is told."""

    workspace: Path
    state: Path
    worker_id: str
    dies_at: tuple[str, str] | None = None
    """The step and the place: before, called, inside, behind."""


def settings(state: Path) -> Settings:
    return parse_settings(
        {"gate": {"tools": ["tools.py"]}, "ledger": {"durability": "os"}, "storage": {"state_dir": str(state)}}
    )


def work(orders: Orders) -> None:
    """Work until SIGTERM, or until the place to die."""
    log = os.open(orders.state / f"{orders.worker_id}.err", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    if orders.dies_at is not None:
        _die_at(*orders.dies_at)
    with Gate.open(orders.workspace, settings=settings(orders.state), rooms=["studio"]) as gate:
        register_flows(gate)
        timing = Intervals(heartbeat_s=0.2, stale_after_s=0.8, poll_s=0.05, grace_s=5.0)
        run_worker(gate.durable, stop, worker_id=orders.worker_id, timing=timing)


def _die_at(step: str, place: str) -> None:
    real = PlainRun.step

    def watched(self: PlainRun, name: str, do: Any, *args: Any, **more: Any) -> Any:
        def done(*given: Any) -> Any:
            result = do(*given)
            _perhaps_die(name == step and place == "inside")
            return result

        _perhaps_die(name == step and place == "before")
        result = real(self, name, done, *args, **more)
        _perhaps_die(name == step and place == "behind")
        return result

    PlainRun.step = watched  # type: ignore[method-assign]
    call = GateFlowContext.call

    def watched_call(self: GateFlowContext, tool: str, args: Any, session: Session) -> Any:
        outcome = call(self, tool, args, session)
        _perhaps_die(session.extra[STEP] == step and place == "called")
        return outcome

    GateFlowContext.call = watched_call  # type: ignore[method-assign]


def _perhaps_die(now: bool) -> None:  # noqa: FBT001 - reads as what it asks
    if now:
        os.kill(os.getpid(), signal.SIGKILL)
