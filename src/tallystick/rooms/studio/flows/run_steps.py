"""The two kinds of steps of a run.

Tool steps call a tool through the gate, with run and step in the receipt. A step that was in progress when its worker
died is repeated. A read-only or idempotent tool is called again, unless the ledger already holds its result. For any
other tool a start without an end stops the run: nobody can tell whether it took effect, so a person decides.

Agent steps run a turn on the results of phase A; the reply is checked, and a draft becomes a patch proposal. The agent
may call read-only tools: its turn is repeated when its worker dies, and that must have no effect.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.tool import Card
from tallystick.rooms.studio.flows.step_log import Before, RunEnvironment, StepRecorder, StepStopped, stopped_by
from tallystick.rooms.studio.runs.folder import Result, digest_of
from tallystick.rooms.studio.runs.recipe import AgentStep, ToolStep
from tallystick.rooms.studio.runs.references import render, resolve
from tallystick.turns.flow_context import Answer, FlowContext, Question
from tallystick.turns.result import TurnResult

_FENCE = re.compile(r"`{3,}+|~{3,}+")


class AgentSteps:
    """Does agent steps."""

    def __init__(self, context: FlowContext, environment: RunEnvironment) -> None:
        self._context = context
        self._environment = environment

    def ask(self, record: StepRecorder, step: AgentStep) -> dict[str, Any]:
        """Ask the agent and store its reply if the check accepts it."""

        def work(_before: Before) -> Result:
            prompt = render(step.prompt, record.scope())
            if isinstance(prompt, Problem):
                raise stopped_by(prompt)
            answer = self._context.ask(self._question(record, step, prompt))
            return _kept(step, answer)

        return record.once(
            step.id, work, slot=step.slot, optional=step.optional, phase="b", kind="agent", agent=step.agent
        )

    def propose(self, record: StepRecorder, step: AgentStep, name: str) -> dict[str, Any]:
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
            made = self._environment.patches(str(where), text, by=step.agent, key=f"{record.folder.run_id}/{name}")
            if isinstance(made, Problem):
                raise stopped_by(made)
            note = self._context.note(
                record.session(name), "run.propose_patch", str(where), {"patch_id": str(made.get("patch_id"))}
            )
            return Result(status="done", value=dict(made), receipts=(note,))

        return record.once(
            name, work, slot=step.patch_slot, optional=step.optional, phase="b", kind="patch", agent=step.agent
        )

    def _question(self, record: StepRecorder, step: AgentStep, prompt: str) -> Question:
        cache = record.folder.cache()
        shown = [receipt for slot in step.uses for receipt in cache.receipts(slot)]
        reading = {name for name, card in self._context.cards().items() if card.effect == "read"}
        allowed = reading if step.tools is None else reading.intersection(step.tools)
        given = (str(value) for value in record.inputs.values())
        return Question(
            agent_id=step.agent,
            message=prompt,
            session=record.session(step.id),
            results=tuple(dict.fromkeys(shown)),
            tools=frozenset(allowed),
            raw=step.evidence == "none",
            user_texts=(step.prompt, *given),
        )


def _kept(step: AgentStep, answer: Answer) -> Result:
    """The slot value of a reply.

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
        "agent": step.agent,
        "reply": turn.reply,
        "evidence": turn.evidence,
        "receipts": list(turn.receipts),
        "check_receipt": None if turn.findings is None else turn.findings.receipt_id,
        "model": turn.model,
    }
    return Result(status="done", value=value, receipts=receipts)


def _silence(step: AgentStep, turn: TurnResult) -> tuple[str, str]:
    """Why there is no reply, and the code for it."""
    if turn.abstained:
        return (
            f"{step.agent} abstained. Give it a model, or other material.",
            "abstained",
        )
    return f"{step.agent} gave no reply ({turn.stop_hook or 'stopped'}).", "no_reply"


def _receipts(turn: TurnResult) -> tuple[str, ...]:
    checked = None if turn.findings is None else turn.findings.receipt_id
    if turn.rejected is not None and turn.rejected.findings is not None:
        checked = turn.rejected.findings.receipt_id
    return (*turn.receipts, checked) if checked else tuple(turn.receipts)


def _fenced(reply: str) -> str | None:
    """The content of the first fenced block; the longest matching fence closes it."""
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


_GIVEN = frozenset({"accepted", "transformed"})
HELD = "held"


class ToolSteps:
    """Does tool steps and actions."""

    def __init__(self, context: FlowContext, environment: RunEnvironment) -> None:
        self._context = context
        self._environment = environment

    def do(self, record: StepRecorder, step: ToolStep, name: str, item: Mapping[str, Any]) -> dict[str, Any]:
        """One step, or one item of it.

        Args:
            record: Of the run.
            step: The step.
            name: Of the step or the item.
            item: `{"item": …}` with `for_each`, else empty.
        """

        def work(before: Before) -> Result:
            args = resolve(dict(step.args), record.scope(**item))
            if isinstance(args, Problem):
                raise stopped_by(args)
            if step.tool is None:
                return self._act(record, step, name, args)
            return self._call(record, step, name, args, before)

        about = {"kind": "action", "action": step.action} if step.tool is None else {"kind": "tool", "tool": step.tool}
        # An item's result is the slot's only together with the others.
        slot = None if item else step.slot
        return record.once(name, work, slot=slot, optional=step.optional, phase="a", **about)

    def _act(self, record: StepRecorder, step: ToolStep, name: str, args: Mapping[str, Any]) -> Result:
        action = self._environment.actions.get(step.action or "")
        if action is None:
            raise StepStopped(f"There is no action '{step.action}' here.", code="action_unknown")
        value = action(args)
        resource = f"runs/{record.folder.run_id}/{name}"
        noted = self._context.note(record.session(name), f"run.{step.action}", resource, {"sha256": digest_of(value)})
        return Result(status="done", value=value, receipts=(noted,))

    def _call(self, record: StepRecorder, step: ToolStep, name: str, args: Mapping[str, Any], before: Before) -> Result:
        tool = step.tool or ""
        card = self._context.cards().get(tool)
        if card is None:
            raise StepStopped(f"There is no tool '{tool}' here any more.", code="tool_unknown")
        once_only = not _may_repeat(card)
        with record.exclusive() if once_only else nullcontext():
            # The previous holder of the lock may have finished the step.
            earlier = record.folder.cache().result(name) or self._earlier(record, name, before, once_only=once_only)
            return earlier or self._called(record, tool, name, args)

    def _called(self, record: StepRecorder, tool: str, name: str, args: Mapping[str, Any]) -> Result:
        outcome = self._context.call(tool, args, record.session(name))
        receipts = (outcome.receipt_id,) if outcome.receipt_id else ()
        if outcome.held is not None:
            message = f"The call waits for a person ({outcome.held.approval_id}). Answer it, run it, then resume."
            raise StepStopped(message, code=HELD, receipts=receipts)
        if outcome.rejection is not None:
            where = f" at {outcome.rejection.pointer}" if outcome.rejection.pointer else ""
            reason = f"{tool} was refused: {outcome.rejection.reason}{where}"
            raise StepStopped(reason, code=str(outcome.rejection.call_code or "call_refused"), receipts=receipts)
        if outcome.failure is not None:
            hint = f" {outcome.failure.hint}" if outcome.failure.hint else ""
            message = f"{tool} failed: {outcome.failure.message}{hint}"
            raise StepStopped(message, code=outcome.failure.fault.name, receipts=receipts)
        return Result(status="done", value=outcome.result, receipts=receipts)

    def _earlier(self, record: StepRecorder, name: str, before: Before, *, once_only: bool) -> Result | None:
        """The result in the ledger: from a worker that died, or from an approved call."""
        if before is None:
            return None
        found = self._context.recorded(record.folder.run_id, name)
        given = [one for one in found if _gave(one)]
        if given:
            return Result(status="done", value=given[-1].outputs, receipts=(given[-1].receipt_id,))
        if before["status"] == "running" and once_only and any(map(_may_have_run, found)):
            message = (
                "The tool was running when its worker died; its effect is unknown. Check, then resume to call it again."
            )
            raise StepStopped(message, code="outcome_unknown", receipts=tuple(one.receipt_id for one in found))
        return None


def _may_repeat(card: Card) -> bool:
    return card.effect == "read" or card.idempotent


def _gave(receipt: Receipt) -> bool:
    outcome = receipt.header.get("outcome") or {}
    ended_well = outcome.get("status") in _GIVEN and "fault" not in outcome
    return receipt.header["kind"] == "outcome" and ended_well and not receipt.erased


def _may_have_run(receipt: Receipt) -> bool:
    """Whether the call may have run: a start without an end; a refused call never ran."""
    status = (receipt.header.get("outcome") or {}).get("status")
    return receipt.header["kind"] == "started" or status in {"unknown", *_GIVEN}
