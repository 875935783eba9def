"""Changes that people make to agents and tiers; each leaves an audit record in the ledger."""

from collections.abc import Callable

from tallystick.agents.ports import AgentRegistry, ChangeRecords, TierStore
from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster
from tallystick.agents.tiers import Move, Result, Standing, TierPolicy
from tallystick.gate.session import Caller

SESSION = "agents"
"""The session of the audit records."""


class AgentAdministration:
    """Changes agents and tiers for a person. Does blocking file I/O: do not call it on the event loop."""

    def __init__(self, *, registry: AgentRegistry, tiers: TierStore, changes: ChangeRecords) -> None:
        self.registry = registry
        self.tiers = tiers
        self._changes = changes

    def change(
        self, how: Callable[[Roster], Roster | Problem], *, caller: Caller, action: str, agent_id: str
    ) -> Roster | Problem:
        """Change the roster for a person.

        Args:
            how: Returns the new roster, given the current one.
            caller: The person.
            action: A fixed identifier for the audit record, e.g. `agent.remove`.
            agent_id: The agent to change.
        """
        self._changes.require_writable()
        after = self.registry.change(how)
        if isinstance(after, Roster):
            self._changes.record(caller, action, f"agents/{agent_id}")
        return after

    def set_policy(self, policy: TierPolicy, *, caller: Caller) -> TierPolicy:
        """Set the tier policy for a person."""
        self._changes.require_writable()
        self.tiers.set_policy(policy)
        self._changes.record(caller, "tiers.policy", "tiers/policy")
        return policy

    def task_result(
        self, agent_id: str, model: str | None, result: Result, *, caller: Caller
    ) -> tuple[Standing, Move] | Problem:
        """Count the result of a task that a person reports.

        Args:
            agent_id: The agent that did the task.
            model: The model it used; None: the model of the agent's endpoint.
            result: The result.
            caller: The person.
        """
        roster = self.registry.load()
        problem = roster.check_agent(agent_id)
        if problem is not None:
            return problem
        self._changes.require_writable()
        moved = self.tiers.record(agent_id, model or roster.endpoint(agent_id).model, result)
        self._changes.record(
            caller, "tiers.task_result", f"agents/{agent_id}", {"result": str(result), "move": str(moved[1])}
        )
        return moved
