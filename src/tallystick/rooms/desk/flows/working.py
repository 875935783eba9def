"""What a worker of our own does with a ticket of each kind. Every call goes through the gate.

The work of a ticket is done and written in one step, since what was found belongs into the ticket and not into the
record of the run. A step that is done again makes its calls again; they only read, and each leaves its receipt.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.rooms.desk.deriving import parent_of
from tallystick.rooms.desk.drafting import draft
from tallystick.rooms.desk.gathering import Gathering
from tallystick.rooms.desk.judging.judge import ServerJudge
from tallystick.rooms.desk.judging.policy import VerdictPolicy
from tallystick.rooms.desk.naming import session_of
from tallystick.rooms.desk.nouns import Ticket
from tallystick.rooms.desk.office import Office
from tallystick.rooms.desk.triage import triage
from tallystick.turns.hands import STEP, Hands

BY = "desk"


class Worker:
    """Works on tickets."""

    def __init__(self, office: Office, hands: Hands, judge: ServerJudge, policy: VerdictPolicy) -> None:
        self._office = office
        self._hands = hands
        self._judge = judge
        self._policy = policy

    def outputs(self, ticket: Ticket) -> Mapping[str, Any]:
        """What a ticket is filled with."""
        if ticket.kind == "TRIAGE":
            return {"triage": triage(ticket.content)}
        if ticket.kind == "TOOL":
            return self._gather(ticket)
        return self._reply(ticket)

    def _gather(self, ticket: Ticket) -> Mapping[str, Any]:
        def call(tool: str, args: Mapping[str, Any], step: str) -> Outcome:
            where = Session(
                session_id=session_of(ticket.ticket_id), agent_id=BY, ticket_id=ticket.ticket_id, extra={STEP: step}
            )
            return self._hands.call(tool, args, where)

        tools = frozenset(self._hands.cards())
        outputs = Gathering(ticket, call, tools, self._office.around.now).run()
        metadata = {**ticket.metadata, "final_outputs": outputs}
        case = self._judge.case(replace(ticket, body={**ticket.body, "metadata": metadata}))
        # For a person to begin with, should one be asked; it is sent by nobody else.
        written = draft(case, self._policy)
        return {**outputs, "draft": {"text": written}} if written else outputs

    def _reply(self, ticket: Ticket) -> Mapping[str, Any]:
        parent = parent_of(ticket)
        if parent is None:
            return {}
        with self._office.store.reading() as tx:
            tool = tx.get(parent, lock=False)
        if tool is None:
            return {}
        return {"draft": {"text": draft(self._judge.case(tool), self._policy)}}
