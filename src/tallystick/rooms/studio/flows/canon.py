"""The canon index by model, as long work: a step a card, so that a crash costs one card and not the book."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.session import Caller, Session
from tallystick.rooms.studio.canon.index import CanonIndex
from tallystick.rooms.studio.model_answers import AskModel, ModelUnavailable
from tallystick.turns.durable import Durable, Run
from tallystick.turns.flow_context import STEP, FlowContext, Question
from tallystick.turns.runs import Queue

FLOW = "studio.canon"
QUEUE = "studio-canon"


def register_canon(index: CanonIndex, durable: Durable, context: FlowContext) -> "CanonFlow":
    """Register the flow, before workers start."""
    flow = CanonFlow(index, context)
    # One at a time: two runs would send the same cards to the same model.
    durable.add_queue(Queue(name=QUEUE, per_worker=1))
    durable.register(FLOW, flow.flow, queue=QUEUE)
    return flow


class CanonFlow:
    """Makes the index with a model."""

    def __init__(self, index: CanonIndex, context: FlowContext) -> None:
        self._index = index
        self._context = context

    def flow(self, run: Run, args: dict[str, Any]) -> dict[str, Any]:
        """Extract each card, then compile.

        Args:
            run: The run.
            args: `agent`, `fresh`, and the `caller` on whose behalf.
        """
        paths: list[str] = run.step("cards", self._index.cards)
        problems: dict[str, str] = {}
        silent = False
        for done, path in enumerate(paths, start=1):
            name = f"card-{done}"
            told: dict[str, Any] = run.step(name, self._take, run.id, name, path, args, silent)
            silent = silent or told["silent"]
            if told["problem"]:
                problems[path] = told["problem"]
            shown = {"path": path, "by": told["by"], "problem": told["problem"], "done": done, "total": len(paths)}
            run.emit({"event": "card", **shown})
        return run.step("compile", self._compile, run.id, args, problems)

    def _take(self, run_id: str, step: str, path: str, args: Mapping[str, Any], silent: bool) -> dict[str, Any]:  # noqa: FBT001
        ask = None if silent else model_prompt(self._context, args["agent"], _session(run_id, step, args))
        return self._index.take(path, agent=args["agent"], ask=ask, fresh=args["fresh"])

    def _compile(self, run_id: str, args: Mapping[str, Any], problems: dict[str, str]) -> dict[str, Any]:
        status = self._index.compile(agent=args["agent"], problems=problems)
        metadata = {"by": "model", "agent": args["agent"], "sha256": status["index_sha256"]}
        self._context.note(_session(run_id, "compile", args), "canon.index", "Canon.md", metadata)
        return status


def model_prompt(context: FlowContext, agent: str, session: Session) -> AskModel:
    """Returns a function that sends a bare prompt to an agent's model, without tools."""

    def ask(prompt: str) -> str | ModelUnavailable:
        answer = context.ask(Question(agent_id=agent, message=prompt, session=session, raw=True))
        if answer.result is None:
            return ModelUnavailable(code=answer.code or "model_silent")
        return answer.result.reply or ""

    return ask


def _session(run_id: str, step: str, args: Mapping[str, Any]) -> Session:
    given = args["caller"]
    caller = Caller(subject=given["subject"], roles=frozenset(given["roles"]), channel="worker")
    return Session(session_id=run_id, run_id=run_id, agent_id=args["agent"], caller=caller, extra={STEP: step})
