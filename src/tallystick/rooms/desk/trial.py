"""Run the desk in this process: try a question, or work on waiting tickets."""

from collections.abc import Iterator, Sequence
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.app.flow_context import GateFlowContext
from tallystick.app.gate import Gate
from tallystick.app.rooms import room_in
from tallystick.records import record
from tallystick.rooms.desk.calibration import Attempt
from tallystick.rooms.desk.model import Judgement, Ticket
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.triage.categories import GENERAL
from tallystick.rooms.desk.verdict.draft_rules import text_of

ROUNDS = 8
"""TRIAGE, TOOL and REPLY are three; the rest is room for what is tried again."""


@record
class TrialResult:
    """The outcome of a tried question."""

    ticket_id: str
    status: str
    """The final status: done, review, blocked or failed."""
    decision: str
    """What triage said."""
    reason: str
    """Why it said so."""
    verdict: Judgement | None
    evidence: tuple[dict[str, Any], ...]
    draft: str
    sent: str
    """What would go out; empty if nothing does."""


class DeskRunner:
    """Runs the desk of an open workspace in this process."""

    def __init__(self, gate: Gate) -> None:
        """Take the desk of a workspace.

        Raises:
            PartMissing: It is not installed.
        """
        self.room = room = room_in(gate, "desk", Desk)
        self.service = room.service
        self._worker = room.worker(GateFlowContext(gate))
        self._tries = 0

    def work(self, ticket_ids: Sequence[str] | None = None, *, run: str, limit: int = 1_000) -> Iterator[Ticket]:
        """Work off tickets in this process, and those that follow from them; gives each as it ends.

        Args:
            ticket_ids: Which; None: all that wait.
            run: A name of this work, so that what it begun it can finish.
            limit: How many at most.
        """
        waiting = list(ticket_ids) if ticket_ids is not None else self._waiting(limit)
        for _ in range(ROUNDS):
            following: list[str] = []
            for ticket_id in waiting:
                ended = self._one(ticket_id, run)
                if ended is not None:
                    yield ended[0]
                    following += ended[1]
            waiting = following
            if not waiting:
                return

    def _one(self, ticket_id: str, run: str) -> tuple[Ticket, tuple[str, ...]] | None:
        filled = self._worker.work(ticket_id, f"{run}.{ticket_id}")
        return None if isinstance(filled, Problem) else (filled.ticket, filled.derived)

    def _waiting(self, limit: int) -> list[str]:
        with self.service.store.reading() as tx:
            return [one.ticket_id for one in tx.waiting(kind=None, limit=limit, lock=False)]

    def attempt(self, question: str, *, run: str) -> TrialResult | str:
        """Take a question as a customer's message and see what becomes of it; a text says why it was not taken.

        It is a ticket of this workspace like any other: its reply waits in the outbox.
        """
        received = self.service.intake.take({"type": "question", "thread_id": run, "content": question, "actor": "you"})
        if received.ticket_id is None:
            return received.reason or received.status
        ended = list(self.work([received.ticket_id], run=run))
        return self._tried(received.ticket_id, ended)

    def as_if_sent(self, content: str) -> Attempt:
        """What would become of a message if replies were sent at once; for a workspace that is thrown away."""
        self._tries += 1
        tried = self.attempt(content, run=f"calibrate-{self._tries}")
        category = next(iter(self.room.judge.categories(content)), GENERAL)
        if isinstance(tried, str):
            return Attempt(category=category, reply="", draft="")
        return Attempt(category=category, reply=tried.sent, draft=text_of(tried.draft) or tried.sent)

    def _tried(self, ticket_id: str, ended: Sequence[Ticket]) -> TrialResult:
        last = ended[-1]
        tool = next((one for one in ended if one.kind == "TOOL"), None)
        triage = ended[0].final_outputs.get("triage", {})
        shown = self.room.reviews.show(last.ticket_id)
        with self.service.store.reading() as tx:
            queued, _ = tx.outbox(ticket_id=last.ticket_id)
        judged = last.judged if last.judged is not None else (None if tool is None else tool.judged)
        evidence = () if tool is None else tool.final_outputs.get("tool_context", {}).get("evidence", ())
        return TrialResult(
            ticket_id=ticket_id,
            status=last.status,
            decision=str(triage.get("decision", "")),
            reason=str(triage.get("short_reason", "")),
            verdict=judged,
            evidence=tuple(dict(one) for one in evidence),
            draft="" if isinstance(shown, Problem) else shown.review.draft,
            sent=str(queued[0].payload.get("text", "")) if queued else "",
        )
