"""Shows a run at the terminal, and runs a worker in this process while somebody watches."""

import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import Screen, counted, running_tools, visible_json

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.runs.service import RunService, Slot
    from tallystick.turns.runs import DurableError

POLL_S = 0.2
WORKER_POLL_S = 0.1
"""Shorter than a server's interval, because somebody is watching."""
MARKS = {"done": "+", "failed": "x", "skipped": "-", "running": ">", "pending": "."}


@dataclass(frozen=True, kw_only=False)
class RunScreen:
    """Runs, for people and with `--json` for machines."""

    screen: Screen

    def run(self, run: dict[str, Any], replies: Sequence[Mapping[str, str]] = ()) -> None:
        """Show a run and the replies of its agents."""
        self.screen.data(run | {"replies": list(replies)})
        self.screen.line(f"{run['run_id']}  {run['title']}: {run['status']}")
        if run.get("message"):
            self.screen.line(f"  {run['message']} ({run.get('code', '')})")
        for step in run["steps"]:
            self.screen.line(_step_line(step))
        for check in run["done"]:
            named = check.get("slot") or check.get("path") or ""
            missing = "" if check["ok"] else f": {check['message']}"
            self.screen.line(f"  {'+' if check['ok'] else 'x'} {check['check']} {named}{missing}")
        for said in replies:
            self.screen.line()
            self.screen.line(f"{said['step']} ({said['agent']}):")
            self.screen.block(said["reply"])
        if run["slots"]:
            names = ", ".join(run["slots"])
            self.screen.note(f"to see one of {names}: tally run show {run['run_id']} --slot NAME{self.screen.there}")

    def slot(self, slot: "Slot") -> None:
        """Show the value of a slot; for an agent step, the reply."""
        self.screen.data(slot.as_dict())
        value = slot.value
        reply = value.get("reply") if isinstance(value, dict) else None
        self.screen.block(reply if isinstance(reply, str) else visible_json(value, indent=2))
        self.screen.note(f"receipts: {', '.join(slot.receipts) or 'none'}")

    def recipes(self, found: list[dict[str, Any]]) -> None:
        """Show the recipes and the problems of invalid ones."""
        rows = [(one["id"], one["source"], _takes(one), one.get("title", "")) for one in found if "problem" not in one]
        self.screen.table(["recipe", "source", "inputs", "what it does"], rows)
        for one in found:
            if "problem" in one:
                problem = one["problem"]
                self.screen.note(f"{one['id']} cannot run: {problem['message']} {problem['pointer']}".rstrip())

    def event(self, told: dict[str, Any]) -> None:
        """One step that ended, as it ends."""
        if told.get("event") == "step":
            why = f" ({told['code']})" if told.get("code") else ""
            self.screen.note(f"  {MARKS.get(told['status'], ' ')} {told['step']}: {told['status']}{why}")


def _step_line(step: dict[str, Any]) -> str:
    doer = step.get("tool") or step.get("action") or step.get("agent") or "patch"
    items = f" {step['items']['done']}/{step['items']['total']}" if "items" in step else ""
    why = f": {step['message']}" if step.get("message") else ""
    receipts = f"  [{counted(len(step['receipts']), 'receipt')}]" if step["receipts"] else ""
    return f"  {MARKS.get(step['status'], ' ')} {step['step']} ({doer}) {step['status']}{items}{why}{receipts}"


def _takes(recipe: dict[str, Any]) -> str:
    """Inputs as they are typed; those with a default in brackets."""
    required = recipe["inputs"]["required"]
    return " ".join(name if name in required else f"[{name}]" for name in recipe["inputs"]["properties"])


def watch_run(
    gate: "Gate", runs: "RunService", run_id: str, caller: "Caller", *, told: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Run a worker until the run has ended, and return the run.

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
    """The worker thread."""

    def __init__(self, gate: "Gate") -> None:
        self.stop = threading.Event()
        self.error: DurableError | None = None
        self.thread = threading.Thread(target=self._work, args=(gate,), name="tally-worker")

    def _work(self, gate: "Gate") -> None:
        from tallystick.storage.durable.flow_registry import Intervals
        from tallystick.storage.durable.stored import run_worker
        from tallystick.turns.runs import DurableError

        worker_id = f"run-{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            run_worker(gate.durable, self.stop, worker_id=worker_id, timing=Intervals(poll_s=WORKER_POLL_S))
        except DurableError as error:
            self.error = error


def _until_ended(
    runs: "RunService", run_id: str, caller: "Caller", told: Callable[[dict[str, Any]], None], helper: _Helper
) -> dict[str, Any]:
    from tallystick.rooms.studio.runs.states import ENDED

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
        time.sleep(POLL_S)
