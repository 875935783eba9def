"""A ticket with real calls at a real gate, to be judged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick import Tool
from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.desk.gather.search import EvidenceSearch
from tallystick.rooms.desk.model import Judgement, Ticket, session_of
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.triage.categories import MessageClassifier
from tallystick.rooms.desk.triage.message import triage
from tallystick.rooms.desk.verdict.judge import ServerJudge
from tests.gates import open_gate

DOCUMENTS = {
    "returns.md": "# Returns\n\nYou can return any unused item within 30 days of delivery. Send it back in its box.\n",
    "remote.md": "# Remote work\n\nEmployees may work remotely up to 3 days per week with manager approval.\n",
    "hours.md": "# Opening hours\n\nOur shop in Leeds is open from 9 to 17 on working days.\n",
}
SURE = 0.35
"""What these few sentences are found with, by their words alone."""
WHITELIST = ("kb.search", "kb.read")


class Trial:
    """A workspace with documents, and one ticket."""

    def __init__(self, workspace: Path, *tools: Tool, documents: Mapping[str, str] = DOCUMENTS, **policy: Any) -> None:
        folder = workspace / "kb"
        folder.mkdir(parents=True)
        for name, text in documents.items():
            (folder / name).write_text(text)
        self.gate = open_gate(workspace, *tools, plugins=True, rooms={"desk": {"kb_meaning": False}})
        self.policy = VerdictPolicy(**{"threshold": SURE, **policy})
        effects = {card.name: card.effect for card in self.gate.tools()}
        self.judge = ServerJudge(self.policy, self.gate.ledger.session, effects.get)

    def call(self, ticket: Ticket, tool: str, args: Mapping[str, Any], **more: Any) -> Outcome:
        return self.gate.call_sync(tool, args, session=session_of(ticket.ticket_id), **more)

    def ticket(
        self, content: str, name: str = "tool_t1", *, whitelist: Sequence[str] = WHITELIST, **said: Any
    ) -> Ticket:
        decided = {**triage(content, MessageClassifier()), **said}
        policy = {
            "max_turns": 3,
            "web_search_strategy": "focused",
            "web_search_budget": 5,
            "tool_whitelist": list(whitelist),
        }
        event = {"type": "thread_reply", "thread_id": "thread-1", "content": content, "actor": "customer-7"}
        given = {"event": event, "triage": decided, "tool_policy": policy}
        return Ticket(
            body={
                "id": name,
                "status": "running",
                "flow_id": "tool_execution_v1",
                "event": event,
                "metadata": {"kind": "TOOL", "tool_input": given},
            }
        )

    def gathered(self, content: str, **more: Any) -> Ticket:
        """With what our own worker finds."""
        ticket = self.ticket(content, **more)
        names = frozenset(card.name for card in self.gate.tools())
        outputs = EvidenceSearch(
            ticket, lambda tool, args, _: self.call(ticket, tool, args), names, lambda: "now", self.policy
        ).run()
        return filled(ticket, outputs)

    def verdict(self, ticket: Ticket) -> Judgement:
        return self.judge.verdict(ticket)


def filled(ticket: Ticket, outputs: Mapping[str, Any]) -> Ticket:
    """A ticket with outputs."""
    return replace(ticket, body={**ticket.body, "metadata": {**ticket.metadata, "final_outputs": dict(outputs)}})


def changed(ticket: Ticket, **context: Any) -> Ticket:
    """A ticket whose worker tells something else."""
    outputs = ticket.final_outputs
    return filled(ticket, {**outputs, "tool_context": {**outputs["tool_context"], **context}})
