"""The flow context (`turns/flow_context.py`) of an open workspace: flows call tools and ask agents through it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.agents.answers import Unanswered, model_failure
from tallystick.agents.chat import fault_of
from tallystick.agents.crew import Recipient
from tallystick.app.agents import OpenGate, conversation_of
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.output import show, to_output
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.reply.findings import Findings, Form
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.turns.flow_context import STEP, Answer, Question
from tallystick.turns.limits import Budget
from tallystick.turns.loop import run_turn
from tallystick.turns.request import Request, TurnToolPolicy
from tallystick.turns.result import Injected, TurnResult

_KINDS = frozenset({"outcome", "started"})
LEAST_SHOWN = 1_000
"""Minimum bytes shown of each result; results beyond the budget are omitted, and the prompt says how many."""


class GateFlowContext:
    """Implements `FlowContext` with one gate."""

    def __init__(self, gate: OpenGate) -> None:
        self._gate = gate
        self._conversation = conversation_of(gate)

    def cards(self) -> Mapping[str, Card]:
        """See `FlowContext`."""
        return {card.name: card for card in self._gate.tools()}

    def agents(self) -> frozenset[str]:
        """See `FlowContext`."""
        crew = self._conversation.crew.registry.list(enabled_only=True)
        return frozenset(agent.agent_id for agent in crew)

    def call(
        self, tool: str, args: Mapping[str, Any], session: Session, *, allowed: frozenset[str] | None = None
    ) -> Outcome:
        """See `FlowContext`."""
        return self._gate.call_sync(tool, args, session=session, allowed_tools=allowed)

    def find(self, receipt_id: str) -> Receipt | None:
        """See `FlowContext`."""
        return self._gate.ledger.find(receipt_id)

    def recorded(self, session_id: str, step: str) -> tuple[Receipt, ...]:
        """See `FlowContext`."""
        # A dead worker may have left started calls without an outcome; recovery closes them as `unknown`.
        self._gate.ledger.recover()
        found: dict[str, Receipt] = {}
        for one in self._gate.ledger.session(session_id):
            # The outcome of a held or interrupted call links to its start record and does not name the step.
            follows = not found.keys().isdisjoint(one.header.get("links", {}).values())
            if one.header.get(STEP) == step or follows:
                found[one.receipt_id] = one
        return tuple(one for one in found.values() if one.header["kind"] in _KINDS)

    def note(self, session: Session, action: str, resource: str, metadata: Mapping[str, Any]) -> str:
        """See `FlowContext`."""
        audit = {"subject": session.caller.subject, "action": action, "resource": resource, "metadata": dict(metadata)}
        return self._gate.ledger.record_sync(Draft(kind="note", session=session, audit=audit)).receipt_id

    def ask(self, question: Question) -> Answer:
        """See `FlowContext`."""
        fault = fault_of(question.message)
        to = self._recipient(question) if fault is None else fault
        if isinstance(to, Unanswered):
            return Answer(code=to.code, advice=to.advice)
        result = asyncio.run(self._turn(question, to))
        if question.agent is None:
            # Only the workspace's own agents earn credits.
            self._conversation.recorder.credit(to, result.findings)
        self._conversation.recorder.counter.count_turn(result, question.session.within(agent_id=to.agent.agent_id))
        if result.model_error is not None:
            failure = model_failure(result.model_error)
            return Answer(code=failure.code, advice=failure.advice)
        return Answer(result=result)

    def check(self, reply: str, session: Session, *, form: Form = "line") -> Findings:
        """See `FlowContext`."""
        return self._gate.check_reply(reply, session=session, agent=session.agent_id, form=form)

    def _recipient(self, question: Question) -> Recipient | Unanswered:
        crew = self._conversation.crew
        if question.agent is None:
            return crew.recipient(question.agent_id)
        endpoint = question.endpoint or crew.registry.load().endpoint(question.agent_id)
        caps = crew.tiers.caps_for(question.agent_id, endpoint.model)
        return Recipient(agent=question.agent, endpoint=endpoint, caps=caps)

    async def _turn(self, question: Question, to: Recipient) -> TurnResult:
        crew = self._conversation.crew
        # As in a conference's second phase, the tools have already run and there may be many results.
        budget = question.budget or crew.budget(to, conference=True)
        injected, left_out = self._shown(question.results, budget)
        message = question.message
        if left_out:
            message += f"\n\n({left_out} further results had no room here; say so where it matters.)"
        async with crew.place(to.endpoint, None):
            turn = self._gate.turn(
                session=question.session,
                agent=to.agent.agent_id,
                caller=question.session.caller,
                limits=budget,
                allowed_tools=crew.tools_of(to.agent) if question.tools is None else None,
                may_finish=bool(injected),
                user_texts=question.user_texts or (question.message,),
            )
            for text in question.heard:
                turn.hear({"message": text})
            request = Request(
                message=message,
                agent=to.agent,
                policy=TurnToolPolicy(allowed_tools=question.tools),
                skip_tools=question.raw,
                schema=question.schema,
                tool_phase=question.tools_only,
                injected=injected,
                max_steps=_steps(question, budget),
                cot=self._gate.settings.gate.cot,
                reply_retries=self._gate.settings.turns.reply_retries,
                max_tokens=question.max_tokens or to.tokens(),
                temperature=to.endpoint.temperature,
                form=question.form,
            )
            check = crew.checker(turn.session, to.agent, form=question.form)
            return await run_turn(request, model=crew.model(to.endpoint), turn=turn, check=check)

    def _shown(self, receipts: Sequence[str], budget: Budget) -> tuple[tuple[Injected, ...], int]:
        """Return the results for the prompt, and how many did not fit."""
        found = [receipt for receipt in map(self._gate.ledger.find, receipts) if receipt is not None]
        whole = budget.limits.bytes or budget.step_bytes
        fitting = found[: max(1, whole // LEAST_SHOWN)]
        each = min(budget.step_bytes, whole // max(1, len(fitting)))
        return tuple(_injected(receipt, each) for receipt in fitting), len(found) - len(fitting)


def _steps(question: Question, budget: Budget) -> int:
    """Return the step limit; one more for a given budget, so that the gate refuses and records the extra call."""
    return budget.steps if question.budget is None else budget.steps + 1


def _injected(receipt: Receipt, most: int) -> Injected:
    shown = show(to_output(receipt.outputs), step_bytes=most, left_bytes=most)
    return Injected(
        tool=receipt.header.get("tool_id") or "",
        receipt_id=receipt.receipt_id,
        text=shown.text,
        sha256=shown.sha256,
        full_size=shown.full_size,
        truncated=shown.truncated,
    )
