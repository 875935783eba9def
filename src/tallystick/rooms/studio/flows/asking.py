"""Agent steps: a turn with the results of phase A before the agent, its reply checked, a draft made a patch proposal.

The agent may call tools that only read: its turn is done again when its worker dies, and nothing must come of that.
"""

import re
from bisect import bisect_right
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.flows.recording import Before, Recording, StepStopped, stopped_by
from tallystick.rooms.studio.runs.folder import Result
from tallystick.rooms.studio.runs.ports import Surroundings
from tallystick.rooms.studio.runs.recipe import AgentStep
from tallystick.rooms.studio.runs.references import render, resolve
from tallystick.turns.flow_context import Answer, FlowContext, Question
from tallystick.turns.result import TurnResult

_FENCE = re.compile(r"`{3,}+|~{3,}+")


class Asking:
    """Does agent steps."""

    def __init__(self, hands: FlowContext, around: Surroundings) -> None:
        self._hands = hands
        self._around = around

    def ask(self, record: Recording, step: AgentStep) -> dict[str, Any]:
        """Ask the agent and keep its reply, if it stands."""

        def work(_before: Before) -> Result:
            prompt = render(step.prompt, record.scope())
            if isinstance(prompt, Problem):
                raise stopped_by(prompt)
            answer = self._hands.ask(self._question(record, step, prompt))
            return _kept(step, answer)

        return record.once(
            step.id, work, slot=step.slot, optional=step.optional, phase="b", kind="agent", agent=step.agent
        )

    def propose(self, record: Recording, step: AgentStep, name: str) -> dict[str, Any]:
        """Make the draft in the reply a patch proposal; the file itself stays as it is."""

        def work(_before: Before) -> Result:
            scope = record.scope()
            assert step.writes is not None  # noqa: S101 - asked only for steps that write
            path = step.writes.path
            where = render(path, scope) if isinstance(path, str) else resolve(path, scope)
            if isinstance(where, Problem):
                raise stopped_by(where)
            reply = scope[step.slot]["reply"]
            draft = _fenced(reply)
            if draft is None and step.evidence == "required":
                message = f"{step.agent}'s reply holds no draft between ``` fences. Give the agent a model that writes."
                raise StepStopped(message, code="draft_missing")
            text = reply if draft is None else draft
            made = self._around.patches(str(where), text, by=step.agent, key=f"{record.folder.run_id}/{name}")
            if isinstance(made, Problem):
                raise stopped_by(made)
            note = self._hands.note(
                record.session(name), "run.propose_patch", str(where), {"patch_id": str(made.get("patch_id"))}
            )
            return Result(status="done", value=dict(made), receipts=(note,))

        return record.once(
            name, work, slot=step.patch_slot, optional=step.optional, phase="b", kind="patch", agent=step.agent
        )

    def _question(self, record: Recording, step: AgentStep, prompt: str) -> Question:
        cache = record.folder.cache()
        shown = [receipt for slot in step.uses for receipt in cache.receipts(slot)]
        reading = {name for name, card in self._hands.cards().items() if card.effect == "read"}
        allowed = reading if step.tools is None else reading.intersection(step.tools)
        given = (str(value) for value in record.inputs.values())
        return Question(
            agent_id=step.agent, message=prompt, session=record.session(step.id), results=tuple(dict.fromkeys(shown)),
            tools=frozenset(allowed), raw=step.evidence == "none", user_texts=(step.prompt, *given),
        )  # fmt: skip


def _kept(step: AgentStep, answer: Answer) -> Result:
    """The reply as its slot holds it.

    Raises:
        StepStopped: There is none that stands.
    """
    turn = answer.result
    if turn is None:
        raise StepStopped(f"{step.agent}: {answer.advice}", code=answer.code or "unanswered")
    receipts = _receipts(turn)
    if turn.rejected is not None:
        why = turn.rejected.findings.reason if turn.rejected.findings is not None else ""
        message = f"{step.agent}'s reply did not pass its check: {why or turn.rejected.code}"
        raise StepStopped(message, code=turn.rejected.code, receipts=receipts)
    if turn.reply is None:
        raise StepStopped(*_silence(step, turn), receipts=receipts)
    proved = turn.findings is not None and turn.findings.ok
    if step.evidence == "required" and not proved:
        raise StepStopped(f"{step.agent}'s reply was not checked.", code="evidence_missing", receipts=receipts)
    value = {
        "agent": step.agent, "reply": turn.reply, "evidence": turn.evidence, "receipts": list(turn.receipts),
        "check_receipt": None if turn.findings is None else turn.findings.receipt_id, "model": turn.model,
    }  # fmt: skip
    return Result(status="done", value=value, receipts=receipts)


def _silence(step: AgentStep, turn: TurnResult) -> tuple[str, str]:
    """Why there is no reply, and the code for it."""
    if turn.abstained:
        return (
            f"{step.agent} abstained: it has nothing to say to this. Give it a model, or other material.",
            "abstained",
        )
    return f"{step.agent} gave no reply ({turn.stop_hook or 'stopped'}).", "no_reply"


def _receipts(turn: TurnResult) -> tuple[str, ...]:
    checked = None if turn.findings is None else turn.findings.receipt_id
    if turn.rejected is not None and turn.rejected.findings is not None:
        checked = turn.rejected.findings.receipt_id
    return (*turn.receipts, checked) if checked else tuple(turn.receipts)


def _fenced(reply: str) -> str | None:
    """What stands between the first fences that belong together: of those that could close one, the longest mark."""
    lines = reply.split("\n")
    closing: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        mark = line.rstrip(" \t")
        if _FENCE.fullmatch(mark):
            closing.setdefault(mark, []).append(number)
    marks = sorted(closing, key=len, reverse=True)
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        for mark in marks if opened else ():
            after = bisect_right(closing[mark], number)
            if line.startswith(mark) and after < len(closing[mark]):
                return "".join(f"{inner}\n" for inner in lines[number + 1 : closing[mark][after]])
    return None
