"""The roster of agents and their endpoints: an immutable value; every change returns a new one or a `Problem`.

These rules are checked on load and on every change:
- the Chief of Staff (`assistant`) exists, is the only agent of that role, and is enabled;
- ids are unique, ignoring case (some file systems and people do not distinguish it);
- an endpoint belongs to an existing agent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Self

from tallystick.agents.defaults import DEFAULT_AGENTS, offline_endpoint
from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.turns.agent import CHIEF, Agent, Endpoint

CHIEF_ROLE = "assistant"
MOST_AGENTS = 100


@record
class Roster:
    """The agents in their order, and the endpoints that differ from the default."""

    agents: tuple[Agent, ...] = DEFAULT_AGENTS
    endpoints: tuple[Endpoint, ...] = ()

    def get(self, agent_id: str) -> Agent | None:
        """Return an agent by id; None if there is none."""
        return next((agent for agent in self.agents if agent.agent_id == agent_id), None)

    def list(self, *, enabled_only: bool = False) -> tuple[Agent, ...]:
        """List all agents, the Chief of Staff first."""
        chosen = [agent for agent in self.agents if agent.enabled or not enabled_only]
        return tuple(sorted(chosen, key=lambda agent: agent.agent_id != CHIEF))

    def check_agent(self, agent_id: str) -> Problem | None:
        """Check that an agent exists, so that nothing is counted or stored under an invented id."""
        return unknown_agent(self.agents) if self.get(agent_id) is None else None

    def of_role(self, role: str) -> Agent | None:
        """Return the first enabled agent with a role; None if there is none."""
        return next((agent for agent in self.agents if agent.role == role and agent.enabled), None)

    @property
    def chief(self) -> Agent:
        """The Chief of Staff."""
        return next(agent for agent in self.agents if agent.agent_id == CHIEF)

    def endpoint(self, agent_id: str) -> Endpoint:
        """Return an agent's endpoint; `offline` unless another is configured."""
        return next((each for each in self.endpoints if each.agent_id == agent_id), offline_endpoint(agent_id))

    def add(self, agent: Agent) -> Self | Problem:
        """Return the roster with an agent added."""
        return self._checked((*self.agents, agent))

    def change(self, agent: Agent) -> Self | Problem:
        """Return the roster with an agent replaced."""
        if self.get(agent.agent_id) is None:
            return unknown_agent(self.agents)
        return self._checked(tuple(agent if each.agent_id == agent.agent_id else each for each in self.agents))

    def remove(self, agent_id: str) -> Self | Problem:
        """Return the roster without an agent and its endpoint."""
        if self.get(agent_id) is None:
            return unknown_agent(self.agents)
        left = self._checked(tuple(agent for agent in self.agents if agent.agent_id != agent_id))
        return left if isinstance(left, Problem) else replace(left, endpoints=self._without(agent_id))

    def set_endpoint(self, endpoint: Endpoint) -> Self | Problem:
        """Return the roster with an agent's endpoint replaced."""
        if self.get(endpoint.agent_id) is None:
            return unknown_agent(self.agents)
        return replace(self, endpoints=(*self._without(endpoint.agent_id), endpoint))

    def clear_endpoint(self, agent_id: str) -> Self | Problem:
        """Return the roster with an agent's endpoint reset to the default."""
        if self.get(agent_id) is None:
            return unknown_agent(self.agents)
        return replace(self, endpoints=self._without(agent_id))

    def _without(self, agent_id: str) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.endpoints if each.agent_id != agent_id)

    def _checked(self, agents: tuple[Agent, ...]) -> Self | Problem:
        return roster_problem(agents) or replace(self, agents=agents)


def roster_problem(agents: Iterable[Agent]) -> Problem | None:
    """Return the rule that a list of agents breaks; None if it is valid."""
    listed = tuple(agents)
    by_id: Mapping[str, Agent] = {agent.agent_id.casefold(): agent for agent in listed}
    chief = by_id.get(CHIEF)
    if len(by_id) != len(listed):
        return Problem(code="agent_exists", message="There is an agent of this id. Change it, or choose another id.")
    if len(listed) > MOST_AGENTS:
        return Problem(code="agents_too_many", message=f"There may be {MOST_AGENTS} agents. Remove one first.")
    if chief is None or chief.agent_id != CHIEF or chief.role != CHIEF_ROLE:
        message = f"The Chief of Staff ('{CHIEF}', role '{CHIEF_ROLE}') cannot be removed or given another role."
        return Problem(code="chief_mandatory", message=message)
    if not chief.enabled:
        return Problem(code="chief_mandatory", message="The Chief of Staff cannot be switched off.", pointer="/enabled")
    if sum(agent.role == CHIEF_ROLE for agent in listed) > 1:
        message = f"There is exactly one agent of the role '{CHIEF_ROLE}'. Give this one another role."
        return Problem(code="chief_exactly_one", message=message, pointer="/role")
    return None


def unknown_agent(agents: Iterable[Agent]) -> Problem:
    """Build the problem for an id that no agent has."""
    known = ", ".join(agent.agent_id for agent in agents)
    return Problem(code="agent_unknown", message=f"No agent of this id. There are: {known}.")
