"""The agents of a workspace, ready for turns: endpoint, model, budget, reply check and the queue of the endpoint."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from tallystick.agents.answers import Unanswered
from tallystick.agents.caps import Caps
from tallystick.agents.ports import AgentGate, AgentRegistry, ModelFactory, TierStore
from tallystick.agents.roster import Roster, offline_endpoint
from tallystick.agents.wire import OFFLINE
from tallystick.gate.decide.budgets import limits_from
from tallystick.gate.decide.verdict import Limits
from tallystick.gate.reply.findings import Findings, Form
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.records import record
from tallystick.turns.agent import CHIEF, Agent, Endpoint
from tallystick.turns.limits import Budget, budget_for
from tallystick.turns.model import Model
from tallystick.turns.request import Checker
from tallystick.turns.turn_gate import AgentTurnGate, QueuePlace


@record
class Recipient:
    """The agent that a message goes to, with its endpoint and caps."""

    agent: Agent
    endpoint: Endpoint
    caps: Caps

    def tokens(self, asked: int | None = None) -> int:
        """Return the maximum output tokens of an answer: the tier's cap, or fewer if `asked` is lower."""
        return self.caps.output_tokens if asked is None else min(asked, self.caps.output_tokens)


class Crew:
    """The agents of an open workspace, ready for turns. One instance, so that turns on an endpoint share its queue."""

    def __init__(self, gate: AgentGate, *, registry: AgentRegistry, tiers: TierStore, model_for: ModelFactory) -> None:
        self._gate = gate
        self.registry = registry
        self.tiers = tiers
        self._model_for = model_for
        self._queues = AgentTurnGate()

    def recipient(self, agent_id: str | None, *, offline: bool = False) -> Recipient | Unanswered:
        """Find the agent that a message goes to. Does blocking file I/O: not for the event loop.

        Args:
            agent_id: The agent; None: the Chief of Staff.
            offline: Use the offline model, whatever endpoint the agent has.
        """
        roster = self.registry.load()
        agent = roster.get(agent_id or CHIEF)
        if agent is None:
            known = ", ".join(each.agent_id for each in roster.list(enabled_only=True))
            return Unanswered(
                code="agent_unknown", advice=f"There is no such agent. There are: {known}.", status=404, field="agentId"
            )
        if not agent.enabled:
            advice = "This agent is switched off. Ask another, or switch it on."
            return Unanswered(code="agent_disabled", advice=advice, status=409, field="agentId")
        endpoint = offline_endpoint(agent.agent_id) if offline else roster.endpoint(agent.agent_id)
        return Recipient(agent=agent, endpoint=endpoint, caps=self.tiers.caps_for(agent.agent_id, endpoint.model))

    def model(self, endpoint: Endpoint) -> Model:
        """Return the model of an endpoint."""
        return self._model_for(endpoint)

    def place(self, endpoint: Endpoint, moved: Callable[[int], None] | None) -> QueuePlace:
        """Enter the endpoint's queue, which runs one turn at a time."""
        return self._queues.enter(endpoint.key, moved=moved)

    def budget(self, to: Recipient, *, conference: bool = False) -> Budget:
        """Return the budget of a turn: the tier's steps and a conference's bytes, bounded by the configuration."""
        configured = self._gate.settings.limits
        chosen = configured.model_fields_set
        asked = Limits(
            steps=configured.steps if "steps" in chosen else None,
            bytes=configured.bytes_per_turn if "bytes_per_turn" in chosen else None,
        )
        budget = budget_for(
            limits_from(configured),
            configured.bytes_per_step,
            tool_actions=to.caps.tool_actions,
            conference=conference,
            asked=asked,
        )
        if "bytes_per_step" not in chosen:
            return budget
        return Budget(limits=budget.limits, step_bytes=min(budget.step_bytes, configured.bytes_per_step))

    def tools_of(self, *agents: Agent, besides: Iterable[Card] = ()) -> frozenset[str] | None:
        """Return the names of the tools that these agents are offered together; None: all.

        Args:
            agents: The agents.
            besides: Tools of the client, which every agent is offered.
        """
        offered = [frozenset(agent.tools) or self._gate.tools_for(agent.role) for agent in agents]
        named = [names for names in offered if names is not None]
        if len(named) < len(offered):
            return None
        return frozenset[str]().union(*named, (card.name for card in besides))

    def checker(self, session: Session, agent: Agent, *, form: Form = "line") -> Checker:
        """Return the reply check for one agent in one session; it reads files, so it runs in a worker thread."""
        sources = {agent.agent_id: agent.evidence_sources} if agent.evidence_sources else None

        async def check(reply: str, *, tools_ran: bool, receipts: Sequence[str], conference: bool) -> Findings:
            del receipts  # the check finds the session's receipts in the ledger
            return await asyncio.to_thread(
                self._gate.check_reply,
                reply,
                session=session,
                agent=agent.agent_id,
                tools_ran=tools_ran,
                conference=conference,
                role_sources=sources,
                form=form,
            )

        return check

    def names(self) -> list[tuple[str, str]]:
        """List every model name that a client can request, with its owner."""
        roster = self.registry.load()
        agents = [(agent.agent_id, "tallystick") for agent in roster.list(enabled_only=True)]
        endpoints = [(_endpoint_name(each), each.provider) for each in roster.endpoints if each.provider != OFFLINE]
        return list(dict([(OFFLINE, "tallystick"), *endpoints, *agents]).items())

    def named(self, name: str) -> tuple[str, bool] | None:
        """Return the agent for a model name and whether to use the offline model; None if no agent matches."""
        if name == OFFLINE:
            return CHIEF, True
        roster = self.registry.load()
        if roster.get(name) is not None:
            return name, False
        return next(((agent_id, False) for agent_id in _owners(roster, name)), None)


def _owners(roster: Roster, name: str) -> list[str]:
    """List the agents that use the endpoint of this name, the Chief of Staff first."""
    found = [each.agent_id for each in roster.endpoints if name in {_endpoint_name(each), each.model}]
    return sorted(found, key=lambda agent_id: agent_id != CHIEF)


def _endpoint_name(endpoint: Endpoint) -> str:
    return f"{endpoint.provider}/{endpoint.model}"
