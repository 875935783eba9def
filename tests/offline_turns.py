"""Whole turns of the offline agent on a real gate, each in one word."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tallystick import Gate
from tallystick.agents.roster import DEFAULT_AGENTS
from tallystick.gate.reply.findings import Findings
from tallystick.gate.session import Session
from tallystick.providers.offline.model import OfflineModel
from tallystick.turns.agent import Agent
from tallystick.turns.loop import Request, TurnResult, run_turn

AGENTS = {agent.agent_id: agent for agent in DEFAULT_AGENTS}
GUEST = Agent(agent_id="guide", name="Guide", role="guide", purpose="Answers questions about the workspace.")
"""An agent of the project's own, who may cite any file."""


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def ask(gate: Gate, message: str, agent: Agent = GUEST, *, session: str | Session = "chat", **more) -> TurnResult:
    """One turn, from the message to the checked reply."""
    where = Session(session_id=session) if isinstance(session, str) else session

    def check(reply: str, *, tools_ran: bool, receipts: Sequence[str], conference: bool) -> Findings:
        return gate.check_reply(reply, session=where, agent=agent.agent_id, tools_ran=tools_ran, conference=conference)

    async def run() -> TurnResult:
        turn = gate.turn(session=where, agent=agent.agent_id)
        request = Request(message=message, agent=agent, **more)
        return await run_turn(request, model=OfflineModel(), turn=turn, check=check)

    return asyncio.run(run())


def conference(gate: Gate, message: str, *agents: Agent) -> list[TurnResult]:
    """A round: the chief gathers, then each agent interprets what is there."""
    where = Session(session_id="conf", conference_id="c1", round_id="r1")
    gathered = ask(gate, message, AGENTS["assistant"], session=where, conference=True, tool_phase=True)
    return [ask(gate, message, agent, session=where, conference=True, injected=gathered.results) for agent in agents]


def tools_of(result: TurnResult) -> list[str]:
    """The tools that were called, in order."""
    return [step.outcome.tool or "" for step in result.steps if step.outcome is not None and step.outcome.tool]
