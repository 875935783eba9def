"""The canon index of an open workspace: its status, and building it by rules or, as a durable run, by a model.

Every index that is made leaves an audit record with its digest.
"""

from collections.abc import Mapping
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.flow_context import GateFlowContext
from tallystick.app.gate import Gate
from tallystick.app.rooms import room_in
from tallystick.gate.session import Caller, Session
from tallystick.rooms.studio.canon.index import CanonIndex, ReportProgress
from tallystick.rooms.studio.flows.canon import FLOW, model_prompt
from tallystick.rooms.studio.room import Studio
from tallystick.turns.runs import DurableError, Event, RunStatus

SESSION = "canon"
"""The session of the audit records."""
ACTION = "canon.index"


class CanonService:
    """The canon index, joined with ledger, agents and durable work."""

    def __init__(self, gate: Gate) -> None:
        """Look for the room.

        Raises:
            PartMissing: The studio is not installed.
        """
        self._gate = gate
        self._index: CanonIndex = room_in(gate, "studio", Studio).canon

    def status(self) -> dict[str, Any]:
        """How the index stands, with the last run that made one by model."""
        return self._index.status() | {"run": self._last_run()}

    def build(
        self, caller: Caller, *, agent: str | None = None, fresh: bool = False, tell: ReportProgress | None = None
    ) -> dict[str, Any] | Problem:
        """Build the index in this process.

        Args:
            caller: Who wants it.
            agent: Whose model reads the cards; None: rules.
            fresh: Ask the model also about cards it has read before.
            tell: Is told after every card.
        """
        demand_ledger(self._gate)
        ask = None
        if agent is not None:
            context = GateFlowContext(self._gate)
            if agent not in context.agents():
                return _unknown(context)
            ask = model_prompt(context, agent, Session(session_id=SESSION, agent_id=agent, caller=caller))
        made = self._index.build(agent=agent, ask=ask, fresh=fresh, tell=tell)
        metadata: dict[str, Any] = {"by": made["by"], "sha256": made["index_sha256"]}
        note_change(self._gate, caller, ACTION, made["path"], metadata, session=SESSION)
        return made | {"run": None}

    def start(self, caller: Caller, *, agent: str, run_id: str, fresh: bool = False) -> str | Problem:
        """Start a run that builds the index with a model, and return its id.

        Raises:
            DurableError: The durable part is missing or its database cannot be used.
        """
        context = GateFlowContext(self._gate)
        if agent not in context.agents():
            return _unknown(context)
        args = {
            "agent": agent,
            "fresh": fresh,
            "caller": {"subject": caller.subject, "roles": sorted(caller.roles)},
        }
        return self._gate.durable.start(FLOW, args, run_id=run_id)

    def run(self, run_id: str) -> RunStatus | None:
        """A run of `start`."""
        return self._gate.durable.status(run_id)

    def told(self, run_id: str, *, after: int = -1) -> list[Event]:
        """The events of such a run after a number."""
        return self._gate.durable.events(run_id, after=after)

    def _last_run(self) -> dict[str, Any] | None:
        try:
            found = self._gate.durable.runs(flow=FLOW, limit=1)
        except DurableError:
            # Without durable work there are no runs, and rules need none.
            return None
        return run_dict(found[0], self.told(found[0].id)) if found else None


def run_dict(run: RunStatus, told: list[Event]) -> dict[str, Any]:
    """A run, as it is shown."""
    last: Mapping[str, Any] = told[-1].data if told else {}
    return {
        "run_id": run.id,
        "state": run.state,
        "agent": run.args.get("agent"),
        "done": last.get("done", 0),
        "total": last.get("total"),
        "failure": None if run.failure is None else run.failure.code or run.failure.kind,
    }


def _unknown(context: GateFlowContext) -> Problem:
    known = ", ".join(sorted(context.agents()))
    return Problem(code="agent_unknown", message=f"There is no such agent, or it is off. There are: {known}.")
