"""The agents of a workspace and their endpoints: `.control-room/agents/agents.json` and `agent-endpoints.json`.

Without files the defaults apply; they are written with the first change.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.agents.roster import Roster, roster_problem
from tallystick.agents.wire import agent_from, agent_wire, endpoint_from, endpoint_wire
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile
from tallystick.turns.agent import Agent, Endpoint


class Registry:
    """The agent roster of one workspace, as currently on disk."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        folder = workspace / CONTROL_ROOM / "agents"
        self._agents = JsonFile(folder / "agents.json", code="agents_damaged")
        self._endpoints = JsonFile(folder / "agent-endpoints.json", code="endpoints_damaged")

    def load(self) -> Roster:
        """Read the roster.

        Raises:
            ConfigError: `agents_damaged` or `endpoints_damaged`; the files are not changed.
        """
        agents = self._load_agents()
        roster = Roster() if agents is None else Roster(agents=agents)
        # A crash between writing the two files can leave an endpoint without its agent.
        known = tuple(endpoint for endpoint in self._load_endpoints() if roster.get(endpoint.agent_id) is not None)
        return Roster(agents=roster.agents, endpoints=known)

    def get(self, agent_id: str) -> Agent | None:
        """Return one agent; None if there is no such agent."""
        return self.load().get(agent_id)

    def list(self, *, enabled_only: bool = False) -> tuple[Agent, ...]:
        """Return all agents, the Chief of Staff first."""
        return self.load().list(enabled_only=enabled_only)

    def endpoint(self, agent_id: str) -> Endpoint:
        """Return the endpoint of an agent's model."""
        return self.load().endpoint(agent_id)

    def change(self, how: Callable[[Roster], Roster | Problem]) -> Roster | Problem:
        """Change the current roster under a lock: `registry.change(lambda roster: roster.remove("critic"))`."""
        with self._agents.locked():
            before = self.load()
            after = how(before)
            if isinstance(after, Problem):
                return after
            return self._misplaced_key(after) or self._save(before, after)

    def save(self, roster: Roster) -> Roster | Problem:
        """Replace the whole roster."""
        problem = roster_problem(roster.agents)
        return problem or self.change(lambda _: roster)

    def _save(self, before: Roster, after: Roster) -> Roster:
        if after.agents != before.agents or self._agents.read() is None:
            self._agents.write({"agents": [agent_wire(agent) for agent in after.agents]})
        if after.endpoints != before.endpoints:
            self._endpoints.write({"endpoints": [endpoint_wire(endpoint) for endpoint in after.endpoints]})
        return after

    def _misplaced_key(self, roster: Roster) -> Problem | None:
        """Refuse a key file inside the workspace, where the workspace's own tools could read it."""
        inside = self._workspace.resolve()
        for endpoint in roster.endpoints:
            if endpoint.api_key_file is None:
                continue
            path = Path(endpoint.api_key_file).expanduser()
            if not path.is_absolute() or path.resolve().is_relative_to(inside):
                message = "Give the whole path of a key file outside the workspace."
                return Problem(code="key_file_inside", message=message, pointer="/api_key_file")
        return None

    def _load_agents(self) -> tuple[Agent, ...] | None:
        found = self._agents.read()
        if found is None:
            return None
        agents: list[Agent] = []
        for place, value in enumerate(_list(found, "agents", self._agents)):
            agent = agent_from(value)
            if isinstance(agent, Problem):
                raise self._agents.damaged(f"/agents/{place}{agent.pointer}: {agent.message}")
            agents.append(agent)
        problem = roster_problem(agents)
        if problem is not None:
            raise self._agents.damaged(problem.message)
        return tuple(agents)

    def _load_endpoints(self) -> tuple[Endpoint, ...]:
        found = self._endpoints.read()
        endpoints: dict[str, Endpoint] = {}
        for place, value in enumerate(() if found is None else _list(found, "endpoints", self._endpoints)):
            endpoint = endpoint_from(value)
            if isinstance(endpoint, Problem):
                raise self._endpoints.damaged(f"/endpoints/{place}{endpoint.pointer}: {endpoint.message}")
            if endpoint.agent_id in endpoints:
                raise self._endpoints.damaged(f"/endpoints/{place}: two endpoints of one agent")
            endpoints[endpoint.agent_id] = endpoint
        return tuple(endpoints.values())


def _list(found: dict[str, Any], name: str, file: JsonFile) -> list[Any]:
    value = found.get(name)
    if found.keys() != {"version", name} or not isinstance(value, list):
        raise file.damaged(f"it holds 'version' and the list '{name}', and nothing else")
    return value
