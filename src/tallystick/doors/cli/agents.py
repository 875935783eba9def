"""`tally agents` and `tally credits`: the agents, their models, their limits and their credits.

Reading changes nothing. A change needs a person, and no command changes credits.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.person import Token, Yes, require_person
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tallystick.agents.problem import Problem
    from tallystick.agents.roster import Roster

Id = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id, as `tally agents list` shows it.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    agents = group(app, "agents", "List agents, and give them models.")
    command(agents, "list")(list_agents)
    command(agents, "show")(show_agent)
    command(agents, "set-endpoint")(set_endpoint)
    command(agents, "clear-endpoint")(clear_endpoint)
    command(agents, "enable")(enable)
    command(agents, "disable")(disable)
    command(app, "credits")(show_credits)


def list_agents(here: Here) -> None:
    """List the agents with their models and tiers."""
    from tallystick.agents.wire import agent_wire
    from tallystick.storage.agents import Registry
    from tallystick.storage.tiers import Tiers

    workspace = here.open_workspace()
    roster, ladder = Registry(workspace).load(), Tiers(workspace).load()
    listed = [(agent, roster.endpoint(agent.agent_id)) for agent in roster.list()]
    tiers = {agent.agent_id: ladder.standing(agent.agent_id, endpoint.model).tier for agent, endpoint in listed}
    here.screen.data(
        {
            "items": [
                {
                    **agent_wire(agent),
                    "endpoint": {"provider": endpoint.provider, "model": endpoint.model},
                    "tier": tiers[agent.agent_id],
                }
                for agent, endpoint in listed
            ],
            "total": len(listed),
        }
    )
    here.screen.table(
        ["id", "name", "role", "provider", "model", "tier", "state"],
        [
            (a.agent_id, a.name, a.role, e.provider, e.model, f"T{tiers[a.agent_id]}", "on" if a.enabled else "off")
            for a, e in listed
        ],
    )


def show_agent(here: Here, agent_id: Id) -> None:
    """Show one agent: its card, its endpoint, its tier and what its next task may use."""
    from tallystick.agents.wire import agent_wire, endpoint_wire
    from tallystick.storage.agents import Registry
    from tallystick.storage.credits import Credits
    from tallystick.storage.tiers import Tiers

    workspace = here.open_workspace()
    roster, ladder = Registry(workspace).load(), Tiers(workspace).load()
    agent = roster.get(agent_id) or _refuse_unknown(roster)
    endpoint = roster.endpoint(agent_id)
    standing, caps = ladder.standing(agent_id, endpoint.model), ladder.caps(agent_id, endpoint.model)
    balance = Credits(workspace).balance(agent_id)
    wire = {"endpoint": endpoint_wire(endpoint), "standing": standing.as_dict(), "caps": caps.as_dict()}
    here.screen.data({**agent_wire(agent), **wire, "credits": balance})
    here.screen.line(f"{agent.name} ({agent.agent_id}), role {agent.role}, {'on' if agent.enabled else 'off'}")
    for label, text in (
        ("purpose", agent.purpose),
        ("owns", "; ".join(agent.owns)),
        ("must not", "; ".join(agent.must_not)),
        ("evidence", "; ".join(agent.evidence_sources)),
        ("abstains", agent.abstain_when),
        ("model", f"{endpoint.provider} {endpoint.model} {endpoint.base_url or ''}".strip()),
        ("tier", f"T{standing.tier}" + (f", clamped for {standing.clamp_left} tasks" if standing.clamp_left else "")),
        ("may use", ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in caps.as_dict().items())),
        ("credits", str(balance)),
    ):
        here.screen.line(f"{label:<10}{text}")


def set_endpoint(
    here: Here,
    agent_id: Id,
    provider: Annotated[str, typer.Option("--provider", metavar="NAME", help="openai, lmstudio, ollama, local, …")],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The provider's name for the model.")],
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Default: the provider's usual address.")
    ] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", metavar="NAME", help="The environment variable that holds the key.")
    ] = None,
    key_file: Annotated[
        str | None, typer.Option("--key-file", metavar="FILE", help="A file outside the workspace that holds the key.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="Use the provider's native tool calling.")] = False,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Give an agent another model. Needs a terminal or the start-up token."""
    from tallystick.agents.problem import Problem
    from tallystick.agents.wire import endpoint_from

    given: dict[str, Any] = {"agent_id": agent_id, "provider": provider, "model": model}
    given |= {"base_url": base_url, "api_key_env": key_env, "api_key_file": key_file}
    endpoint = endpoint_from({**given, "protocol": "native" if native else "envelope"})
    if isinstance(endpoint, Problem):
        raise _refused(endpoint)
    question = f"Let {agent_id} speak through {provider} {model}?"
    change = AgentChange(
        action="agent.set_endpoint", question=question, done=f"{agent_id} speaks through {provider} {model}"
    )
    return change.make(here, agent_id, lambda roster: roster.set_endpoint(endpoint), token, yes=yes)


def clear_endpoint(here: Here, agent_id: Id, token: Token = None, yes: Yes = False) -> Exit:
    """Give an agent back to the offline agent. Needs a terminal or the start-up token."""
    question = f"Let {agent_id} speak through the offline agent?"
    change = AgentChange(action="agent.clear_endpoint", question=question, done=f"{agent_id} speaks offline")
    return change.make(here, agent_id, lambda roster: roster.clear_endpoint(agent_id), token, yes=yes)


def enable(here: Here, agent_id: Id, token: Token = None, yes: Yes = False) -> Exit:
    """Switch an agent on. Needs a terminal or the start-up token."""
    return _switch(here, agent_id, token, on=True, yes=yes)


def disable(here: Here, agent_id: Id, token: Token = None, yes: Yes = False) -> Exit:
    """Switch an agent off; never the Chief of Staff. Needs a terminal or the start-up token."""
    return _switch(here, agent_id, token, on=False, yes=yes)


def show_credits(
    here: Here,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="Only this one, with its events.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000)] = 50,
) -> None:
    """Show what the agents have earned. Only the gate writes it, from what it verified."""
    from tallystick.storage.agents import Registry
    from tallystick.storage.credits import Credits

    workspace = here.open_workspace()
    account, roster = Credits(workspace).load(), Registry(workspace).load()
    totals = {each.agent_id: 0 for each in roster.list()} | account.balances()
    if agent is not None and agent not in totals:
        _refuse_unknown(roster)
    events = [event for event in reversed(account.events) if agent in {None, event.agent_id}][:limit]
    shown = totals if agent is None else {agent: totals[agent]}
    here.screen.data({"balances": shown, "events": [event.as_dict() for event in events]})
    most_first = sorted(shown, key=lambda name: (-shown[name], name))
    here.screen.table(["agent", "credits"], [(name, shown[name]) for name in most_first])
    if agent is not None and events:
        here.screen.table(
            ["receipt", "points", "why", "time"],
            [(event.receipt_id, f"{event.points:+}", event.merit, event.timestamp) for event in events],
        )


def _switch(here: Here, agent_id: str, token: str | None, *, on: bool, yes: bool) -> Exit:
    from dataclasses import replace

    word = "on" if on else "off"

    def how(roster: "Roster") -> "Roster | Problem":
        agent = roster.get(agent_id) or _refuse_unknown(roster)
        return roster.change(replace(agent, enabled=on))

    change = AgentChange(action=f"agent.{word}", question=f"Switch {agent_id} {word}?", done=f"{agent_id} is {word}")
    return change.make(here, agent_id, how, token, yes=yes)


class AgentChange:
    """A change to an agent that a person has to confirm."""

    def __init__(self, *, action: str, question: str, done: str, details: "Mapping[str, Any] | None" = None) -> None:
        """Describe the change.

        Args:
            action: The name under which it is recorded.
            question: What the person is asked.
            done: What is shown after the change.
            details: Further members of the JSON output.
        """
        self._action, self._question, self._done = action, question, done
        self._details = dict(details or {})

    def make(
        self, here: Here, agent_id: str, how: "Callable[[Roster], Roster | Problem]", token: str | None, *, yes: bool
    ) -> Exit:
        """Ask the person, change the roster and record it."""
        person = require_person(here, token)
        if not person.agrees(self._question, yes=yes):
            raise Refused("Nothing was changed.", code="not_answered")
        from tallystick.agents.problem import Problem
        from tallystick.app.agents import administration_of
        from tallystick.gate.session import Caller

        caller = Caller(subject=person.name, channel=person.channel)
        with here.gate(make=True) as gate:
            after = administration_of(gate).change(how, caller=caller, action=self._action, agent_id=agent_id)
        if isinstance(after, Problem):
            raise _refused(after)
        here.screen.data({"agent_id": agent_id, "changed": self._action, **self._details})
        here.screen.line(self._done)
        return Exit.OK


def _refused(problem: "Problem") -> Refused:
    return Refused(problem.message, code=problem.code)


def _refuse_unknown(roster: "Roster") -> Any:
    from tallystick.agents.roster import unknown_agent

    raise _refused(unknown_agent(roster.agents))
