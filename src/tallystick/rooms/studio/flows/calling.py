"""Tool steps: a call through the gate, with the run and the step in its receipt.

A step that was under way when its worker died is done again. For a tool that only reads, or changes nothing the second
time, that means: call it again, unless the ledger already has its result. For any other tool a beginning without an
end is the end: nobody can say whether it took effect, so the run stops and a person decides.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.tool import Card
from tallystick.rooms.studio.flows.recording import Before, Recording, StepStopped, stopped_by
from tallystick.rooms.studio.runs.folder import Result, digest_of
from tallystick.rooms.studio.runs.ports import Surroundings
from tallystick.rooms.studio.runs.recipe import ToolStep
from tallystick.rooms.studio.runs.references import resolve
from tallystick.turns.flow_context import FlowContext

_GIVEN = frozenset({"accepted", "transformed"})
HELD = "held"


class Calling:
    """Does tool steps and actions."""

    def __init__(self, hands: FlowContext, around: Surroundings) -> None:
        self._hands = hands
        self._around = around

    def do(self, record: Recording, step: ToolStep, name: str, item: Mapping[str, Any]) -> dict[str, Any]:
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

    def _act(self, record: Recording, step: ToolStep, name: str, args: Mapping[str, Any]) -> Result:
        action = self._around.actions.get(step.action or "")
        if action is None:
            raise StepStopped(f"There is no action '{step.action}' here.", code="action_unknown")
        value = action(args)
        resource = f"runs/{record.folder.run_id}/{name}"
        noted = self._hands.note(record.session(name), f"run.{step.action}", resource, {"sha256": digest_of(value)})
        return Result(status="done", value=value, receipts=(noted,))

    def _call(self, record: Recording, step: ToolStep, name: str, args: Mapping[str, Any], before: Before) -> Result:
        tool = step.tool or ""
        card = self._hands.cards().get(tool)
        if card is None:
            raise StepStopped(f"There is no tool '{tool}' here any more.", code="tool_unknown")
        once_only = not _may_repeat(card)
        with record.exclusive() if once_only else nullcontext():
            # Whoever held this before us may have done the step meanwhile.
            earlier = record.folder.cache().result(name) or self._earlier(record, name, before, once_only=once_only)
            return earlier or self._called(record, tool, name, args)

    def _called(self, record: Recording, tool: str, name: str, args: Mapping[str, Any]) -> Result:
        outcome = self._hands.call(tool, args, record.session(name))
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

    def _earlier(self, record: Recording, name: str, before: Before, *, once_only: bool) -> Result | None:
        """What the ledger has of this step: from a worker that died, or from a person who let a held call through."""
        if before is None:
            return None
        found = self._hands.recorded(record.folder.run_id, name)
        given = [one for one in found if _gave(one)]
        if given:
            return Result(status="done", value=given[-1].outputs, receipts=(given[-1].receipt_id,))
        if before["status"] == "running" and once_only and any(map(_may_have_run, found)):
            message = (
                "The tool had begun when its worker died, and nobody saw its end. Look, then resume to call it again."
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
    """A beginning, or an end that nobody saw; a call that was refused never ran."""
    status = (receipt.header.get("outcome") or {}).get("status")
    return receipt.header["kind"] == "started" or status in {"unknown", *_GIVEN}
