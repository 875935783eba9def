"""The built-in worker: handles each kind of ticket; every tool call goes through the gate.

The work of a ticket is done and written in one step, since what was found belongs into the ticket and not into the
record of the run. A step that is done again makes its calls again; they only read, and each leaves its receipt.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.rooms.desk.agent import DeskAgent
from tallystick.rooms.desk.derivation import needs_of, parent_of, tool_ticket
from tallystick.rooms.desk.gather.limits import Limits
from tallystick.rooms.desk.gather.search import EvidenceSearch
from tallystick.rooms.desk.model import Ticket, session_of
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.reply.draft import CLOSING, GREETING, draft
from tallystick.rooms.desk.service import DeskService
from tallystick.rooms.desk.tickets.fill import FillResult, author_of
from tallystick.rooms.desk.triage.message import triage
from tallystick.rooms.desk.verdict.case import Case
from tallystick.rooms.desk.verdict.judge import ServerJudge
from tallystick.turns.flow_context import STEP, FlowContext

BY = "desk"
EARLIER = 5
"""Messages of a conversation that are read besides the latest."""
COURTESY = {"text": f"{GREETING}\n\nThank you for your message.\n\n{CLOSING}"}
"""A draft where nothing was found that could be said."""
NOTHING_TO_SAY = {"status": "DEFER", "reason": "No sentence of what was found can be sent as it stands."}


class Worker:
    """Works on tickets with the model, or by rules where no model is configured or its answer is unusable."""

    def __init__(
        self,
        service: DeskService,
        flow_context: FlowContext,
        judge: ServerJudge,
        policy: VerdictPolicy,
        desk_agent: Callable[[FlowContext], DeskAgent | None] = lambda _: None,
    ) -> None:
        """Join what is worked with.

        Args:
            service: The tickets.
            flow_context: The gate.
            judge: Reads what was found.
            policy: Its bounds.
            desk_agent: The desk's model as it is set up now.
        """
        self._service = service
        self._flow_context = flow_context
        self._judge = judge
        self._policy = policy
        self._desk_agent = desk_agent

    def work(self, ticket_id: str, run_id: str) -> FillResult | Problem:
        """Begin a ticket, work on it and fill it; a problem says why that is not to be done.

        One that came with its outputs is judged as it came: they are somebody's claim, which nobody here writes over.
        """
        begun = self._service.leases.begin(ticket_id, run_id)
        if isinstance(begun, Problem):
            return begun
        came = begun.final_outputs
        outputs, by = (came, author_of(begun)) if came else (self._outputs(begun), BY)
        return self._service.leases.finish(ticket_id, run_id, outputs, by=by)

    def _outputs(self, ticket: Ticket) -> Mapping[str, Any]:
        """What a ticket is filled with."""
        desk_agent = self._desk_agent(self._flow_context)
        if ticket.kind == "TRIAGE":
            decided = None if desk_agent is None else desk_agent.triage(ticket)
            decided = decided or triage(ticket.content, self._judge.classifier, self._earlier(ticket))
            return {"triage": decided, **self._for_person(ticket, decided, desk_agent)}
        if ticket.kind == "TOOL":
            return self._gather(ticket, desk_agent)
        return self._reply(ticket, desk_agent)

    def _earlier(self, ticket: Ticket) -> list[str]:
        """Earlier messages of the conversation, oldest first."""
        if ticket.thread_id is None:
            return []
        with self._service.store.reading() as tx:
            found, _ = tx.list(kind="TRIAGE", thread_id=ticket.thread_id, limit=EARLIER)
        return [each.content for each in reversed(found) if each.ticket_id != ticket.ticket_id]

    def _gather(self, ticket: Ticket, desk_agent: DeskAgent | None) -> Mapping[str, Any]:
        found = None if desk_agent is None else desk_agent.gather(ticket, self._service.around.now())
        outputs = found or self._by_rules(ticket)
        metadata = {**ticket.metadata, "final_outputs": outputs}
        case = self._judge.case(replace(ticket, body={**ticket.body, "metadata": metadata}))
        # For a person to begin with, should one be asked; it is sent by nobody else.
        written = draft(case)
        if written:
            return {**outputs, "draft": {"text": written}}
        if outputs["tool_verdict"]["status"] != "PROCEED":
            return outputs
        # What is found but cannot be said as it stands is for a person to say.
        return {**outputs, "tool_verdict": NOTHING_TO_SAY}

    def _for_person(
        self, ticket: Ticket, decided: Mapping[str, Any], desk_agent: DeskAgent | None
    ) -> Mapping[str, Any]:
        """A draft, and what it rests on, where no TOOL ticket will bring one: a person must have one to approve."""
        derives = self._service.options.tool_derivation and needs_of(decided) and decided["decision"] == "APPROVE"
        if decided["decision"] == "REJECT" or derives:
            return {}
        stand_in = tool_ticket(ticket, decided, self._service.options.tool_policy, now=self._service.around.now())
        found = self._gather(replace(stand_in, body={**stand_in.body, "id": ticket.ticket_id}), desk_agent)
        given = found.get("draft") or (COURTESY if decided["decision"] == "APPROVE" else None)
        return {"tool_context": found["tool_context"], **({} if given is None else {"draft": given})}

    def _by_rules(self, ticket: Ticket) -> dict[str, Any]:
        named = Limits.of(ticket).whitelist

        def call(tool: str, args: Mapping[str, Any], step: str) -> Outcome:
            where = Session(
                session_id=session_of(ticket.ticket_id), agent_id=BY, ticket_id=ticket.ticket_id, extra={STEP: step}
            )
            return self._flow_context.call(tool, args, where, allowed=named)

        return EvidenceSearch(
            ticket, call, frozenset(self._flow_context.cards()), self._service.around.now, self._policy
        ).run()

    def _reply(self, ticket: Ticket, desk_agent: DeskAgent | None) -> Mapping[str, Any]:
        parent = parent_of(ticket)
        if parent is None:
            return {}
        with self._service.store.reading() as tx:
            tool = tx.get(parent, lock=False)
        return {} if tool is None else {"draft": {"text": self._written(self._judge.case(tool), desk_agent)}}

    def _written(self, case: Case, desk_agent: DeskAgent | None) -> str:
        return (None if desk_agent is None else desk_agent.draft(case)) or draft(case)
