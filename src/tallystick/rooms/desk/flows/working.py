"""What a worker of our own does with a ticket of each kind. Every call goes through the gate.

The work of a ticket is done and written in one step, since what was found belongs into the ticket and not into the
record of the run. A step that is done again makes its calls again; they only read, and each leaves its receipt.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.rooms.desk.clerk import Clerk
from tallystick.rooms.desk.deriving import needs_of, parent_of, tool_ticket
from tallystick.rooms.desk.drafting import CLOSING, GREETING, draft
from tallystick.rooms.desk.filling import Filled, author_of
from tallystick.rooms.desk.gathering import Gathering
from tallystick.rooms.desk.judging.case import Case
from tallystick.rooms.desk.judging.judge import ServerJudge
from tallystick.rooms.desk.limits import Limits
from tallystick.rooms.desk.naming import session_of
from tallystick.rooms.desk.nouns import Ticket
from tallystick.rooms.desk.office import Office
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.triage import triage
from tallystick.turns.flow_context import STEP, FlowContext

BY = "desk"
COURTESY = {"text": f"{GREETING}\n\nThank you for your message.\n\n{CLOSING}"}
"""A draft where nothing was found that could be said."""
NOTHING_TO_SAY = {"status": "DEFER", "reason": "No sentence of what was found can be sent as it stands."}


class Worker:
    """Works on tickets: a model where there is one, rules where there is none or it gave nothing to go by."""

    def __init__(
        self,
        office: Office,
        hands: FlowContext,
        judge: ServerJudge,
        policy: VerdictPolicy,
        clerk: Callable[[FlowContext], Clerk | None] = lambda _: None,
    ) -> None:
        """Join what is worked with.

        Args:
            office: The tickets.
            hands: The gate.
            judge: Reads what was found.
            policy: Its bounds.
            clerk: The desk's model as it is set up now.
        """
        self._office = office
        self._hands = hands
        self._judge = judge
        self._policy = policy
        self._clerk = clerk

    def work(self, ticket_id: str, run_id: str) -> Filled | Problem:
        """Begin a ticket, work on it and fill it; a problem says why that is not to be done.

        One that came with its outputs is judged as it came: they are somebody's claim, which nobody here writes over.
        """
        begun = self._office.leases.begin(ticket_id, run_id)
        if isinstance(begun, Problem):
            return begun
        came = begun.final_outputs
        outputs, by = (came, author_of(begun)) if came else (self._outputs(begun), BY)
        return self._office.leases.finish(ticket_id, run_id, outputs, by=by)

    def _outputs(self, ticket: Ticket) -> Mapping[str, Any]:
        """What a ticket is filled with."""
        clerk = self._clerk(self._hands)
        if ticket.kind == "TRIAGE":
            decided = None if clerk is None else clerk.triage(ticket)
            decided = decided or triage(ticket.content)
            return {"triage": decided, **self._for_person(ticket, decided, clerk)}
        if ticket.kind == "TOOL":
            return self._gather(ticket, clerk)
        return self._reply(ticket, clerk)

    def _gather(self, ticket: Ticket, clerk: Clerk | None) -> Mapping[str, Any]:
        found = None if clerk is None else clerk.gather(ticket, self._office.around.now())
        outputs = found or self._by_rules(ticket)
        metadata = {**ticket.metadata, "final_outputs": outputs}
        case = self._judge.case(replace(ticket, body={**ticket.body, "metadata": metadata}))
        # For a person to begin with, should one be asked; it is sent by nobody else.
        written = draft(case, self._policy)
        if written:
            return {**outputs, "draft": {"text": written}}
        if outputs["tool_verdict"]["status"] != "PROCEED":
            return outputs
        # What is found but cannot be said as it stands is for a person to say.
        return {**outputs, "tool_verdict": NOTHING_TO_SAY}

    def _for_person(self, ticket: Ticket, decided: Mapping[str, Any], clerk: Clerk | None) -> Mapping[str, Any]:
        """A draft, and what it rests on, where no TOOL ticket will bring one: a person must have one to approve."""
        derives = self._office.options.tool_derivation and needs_of(decided)
        if decided["decision"] != "APPROVE" or derives:
            return {}
        stand_in = tool_ticket(ticket, decided, self._office.options.tool_policy, now=self._office.around.now())
        found = self._gather(replace(stand_in, body={**stand_in.body, "id": ticket.ticket_id}), clerk)
        return {"tool_context": found["tool_context"], "draft": found.get("draft", COURTESY)}

    def _by_rules(self, ticket: Ticket) -> dict[str, Any]:
        named = Limits.of(ticket).whitelist

        def call(tool: str, args: Mapping[str, Any], step: str) -> Outcome:
            where = Session(
                session_id=session_of(ticket.ticket_id), agent_id=BY, ticket_id=ticket.ticket_id, extra={STEP: step}
            )
            return self._hands.call(tool, args, where, allowed=named)

        return Gathering(ticket, call, frozenset(self._hands.cards()), self._office.around.now, self._policy).run()

    def _reply(self, ticket: Ticket, clerk: Clerk | None) -> Mapping[str, Any]:
        parent = parent_of(ticket)
        if parent is None:
            return {}
        with self._office.store.reading() as tx:
            tool = tx.get(parent, lock=False)
        return {} if tool is None else {"draft": {"text": self._written(self._judge.case(tool), clerk)}}

    def _written(self, case: Case, clerk: Clerk | None) -> str:
        return (None if clerk is None else clerk.draft(case)) or draft(case, self._policy)
