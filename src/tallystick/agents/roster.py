"""The roster of agents and their endpoints: an immutable value; every change returns a new one or a `Problem`.

These rules are checked on load and on every change:
- the Chief of Staff (`assistant`) exists, is the only agent of that role, and is enabled;
- ids are unique, ignoring case (some file systems and people do not distinguish it);
- an endpoint belongs to an existing agent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Self

from tallystick.agents.problem import Problem
from tallystick.agents.wire import OFFLINE
from tallystick.gate.reply.roles import DEFAULT_SOURCES
from tallystick.records import record
from tallystick.turns.agent import CHIEF, Agent, Endpoint


def offline_endpoint(agent_id: str) -> Endpoint:
    """Return the default endpoint of an agent: the offline model, which is always available."""
    return Endpoint(agent_id=agent_id, provider=OFFLINE, model=OFFLINE)


DEFAULT_AGENTS: tuple[Agent, ...] = (
    Agent(
        agent_id=CHIEF,
        name="Chief of Staff",
        role="assistant",
        purpose="Takes each request, finds what it needs with tools, and answers it or gives it to the right agent.",
        owns=(
            "routing requests to agents",
            "tool calls and gathering of evidence",
            "questions back to the user",
            "summaries of context and status",
            "issues and follow-up",
        ),
        must_not=("write or rewrite story prose", "decide canon", "answer for another agent without evidence"),
        evidence_sources=DEFAULT_SOURCES["assistant"],
        abstain_when="never in a conversation of two; in a conference when the results say nothing about the request",
    ),
    Agent(
        agent_id="planner",
        name="Planner",
        role="planner",
        purpose="Plans structure: outline, order of scenes, beats, goals, stakes and pacing of the whole.",
        owns=("outline", "scene plans", "beats and turning points", "structure, order and pacing of scenes"),
        must_not=("write finished prose", "change canon", "judge style line by line"),
        evidence_sources=DEFAULT_SOURCES["planner"],
        abstain_when="the request and the results do not concern outline, structure or order",
    ),
    Agent(
        agent_id="writer",
        name="Writer",
        role="writer",
        purpose="Writes and drafts prose: scenes, beats, dialogue and description in the voice of the story.",
        owns=("drafts of scenes and beats", "dialogue", "description", "voice and point of view"),
        must_not=("change the outline", "change canon", "approve its own text"),
        evidence_sources=DEFAULT_SOURCES["writer"],
        abstain_when="nothing is to be written and no scene is concerned",
    ),
    Agent(
        agent_id="editor",
        name="Editor",
        role="editor",
        purpose="Edits existing prose: clarity, grammar, rhythm, repetition, tense and consistency of style.",
        owns=("line edits", "copy edits", "cuts and tightening", "grammar, tense and style"),
        must_not=("invent events", "change meaning or canon", "rewrite where a small edit is enough"),
        evidence_sources=DEFAULT_SOURCES["editor"],
        abstain_when="no existing text is to be changed",
    ),
    Agent(
        agent_id="critic",
        name="Critic",
        role="critic",
        purpose="Criticises scenes as a reader: what works, what does not, tension, motivation, stakes and why.",
        owns=("critique and review of scenes", "reader response", "strengths and weaknesses", "tension and motivation"),
        must_not=("rewrite the text", "soften a finding", "criticise what was not read"),
        evidence_sources=DEFAULT_SOURCES["critic"],
        abstain_when="no scene or draft is there to be judged",
    ),
    Agent(
        agent_id="continuity",
        name="Continuity",
        role="continuity",
        purpose="Checks facts of the story against canon: names, dates, places, timeline, objects, contradictions.",
        owns=("canon and compendium", "timeline", "contradictions between files", "names, places and facts"),
        must_not=("change canon without approval", "guess a fact that no file states", "judge style"),
        evidence_sources=DEFAULT_SOURCES["continuity"],
        abstain_when="no fact, name, date, place or rule of the story is concerned",
    ),
)


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
