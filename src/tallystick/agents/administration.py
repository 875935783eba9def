"""The agents of an open workspace: who they are, what they may use, what they have earned, what they were given to do.

Every change by a person leaves an audit record in the ledger.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster, unknown_agent
from tallystick.agents.tiers import Move, Result, Standing, TierPolicy
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.gate import Gate
from tallystick.gate.session import Caller
from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tallystick.storage.tasks import TaskFiles
from tallystick.storage.tiers import Tiers

SESSION = "agents"
"""The session of the audit records."""


class Staff:
    """The registries of one workspace, joined with its ledger."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.registry = Registry(gate.workspace)
        self.tiers = Tiers(gate.workspace)
        self.credits = Credits(gate.workspace)
        self.tasks = TaskFiles(gate.workspace)

    def change(
        self, how: Callable[[Roster], Roster | Problem], *, caller: Caller, action: str, agent_id: str
    ) -> Roster | Problem:
        """Change the roster for a person.

        Args:
            how: Gives the roster as it shall be, from the one there is.
            caller: Who wants it.
            action: A fixed word for the audit record, e.g. `agent.remove`.
            agent_id: Whom it concerns.
        """
        demand_ledger(self._gate)
        after = self.registry.change(how)
        if isinstance(after, Roster):
            self._note(caller, action, f"agents/{agent_id}")
        return after

    def set_policy(self, policy: TierPolicy, *, caller: Caller) -> TierPolicy:
        """Put another tier policy in force for a person."""
        demand_ledger(self._gate)
        self.tiers.set_policy(policy)
        self._note(caller, "tiers.policy", "tiers/policy")
        return policy

    def task_result(
        self, agent_id: str, model: str | None, result: Result, *, caller: Caller
    ) -> tuple[Standing, Move] | Problem:
        """Count how a task ended, on a person's word.

        Args:
            agent_id: Whose task.
            model: With which model; None: the one of the agent's endpoint.
            result: How it ended.
            caller: Who says so.
        """
        roster = self.registry.load()
        if roster.get(agent_id) is None:
            return unknown_agent(roster.agents)
        demand_ledger(self._gate)
        moved = self.tiers.record(agent_id, model or roster.endpoint(agent_id).model, result)
        self._note(caller, "tiers.task_result", f"agents/{agent_id}", {"result": str(result), "move": str(moved[1])})
        return moved

    def _note(self, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any] | None = None) -> None:
        note_change(self._gate, caller, action, resource, metadata, session=SESSION)


def stranger(workspace: Path, agent_id: str) -> Problem | None:
    """Why an id is no agent's: what is counted by agent must not be counted by names that anybody makes up."""
    roster = Registry(workspace).load()
    return unknown_agent(roster.agents) if roster.get(agent_id) is None else None
