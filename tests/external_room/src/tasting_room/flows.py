"""Importing a file, as durable work: each row is a step."""

import csv
from typing import TYPE_CHECKING, Any

from tallystick.gate.session import Caller, Session
from tallystick.turns.runs import Queue

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.turns.durable import Durable, Run
    from tallystick.turns.flow_context import FlowContext

IMPORT = "tastings.import"
QUEUE = "tastings"


class ImportFlow:
    """Reads a CSV file of the inbox and proposes each row to the gate."""

    def __init__(self, room: "RoomContext", flow: "FlowContext") -> None:
        self._room = room
        self._flow = flow

    def run(self, run: "Run", args: dict[str, Any]) -> dict[str, Any]:
        """Import the file that `args` names, for the caller that `args` names."""
        rows = run.step("read", self._read, args["file"])
        refused = []
        for number, row in enumerate(rows, start=1):
            step = f"row-{number}"
            code = run.step(step, self._add, run.id, step, {**row, "key": run.key(step)}, args["caller"])
            if code is not None:
                refused.append({"row": number, "code": code})
        return {"rows": len(rows), "refused": refused}

    def _read(self, name: str) -> list[dict[str, Any]]:
        found = self._room.sources.read_bytes(f"{self._room.options.inbox}/{name}")
        rows = csv.DictReader(found.data.decode("utf-8").splitlines())
        return [{"wine": row["wine"], "score": _number(row["score"])} for row in rows]

    def _add(self, run_id: str, step: str, tasting: dict[str, Any], caller: dict[str, Any]) -> str | None:
        who = Caller(subject=caller["subject"], roles=frozenset(caller["roles"]), channel="worker")
        session = Session(session_id=run_id, run_id=run_id, caller=who, extra={"step": step})
        outcome = self._flow.call("tastings.add", tasting, session)
        return None if outcome.rejection is None else str(outcome.rejection.code)


def register(room: "RoomContext", durable: "Durable", flow: "FlowContext") -> None:
    """Declare the queue and the flow."""
    durable.add_queue(Queue(name=QUEUE, per_worker=2))
    durable.register(IMPORT, ImportFlow(room, flow).run, queue=QUEUE)


def _number(text: str) -> int | str:
    # What is no number goes to the gate as text, whose refusal leaves a receipt.
    return int(text) if text.isdecimal() else text
