"""A pipeline run on the durable port.

    begin → phase A, step by step → phase B, step by step → the definition of done → tell

Every arrow is a step boundary: a worker may die there or in between, and another goes on behind the last finished
step. Nothing of a step's value is kept by the engine, only its digest; values are in the run's own cache.
"""

import logging
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.errors import TallyError
from tallystick.rooms.studio.flows.asking import Asking
from tallystick.rooms.studio.flows.calling import Calling
from tallystick.rooms.studio.flows.recording import Recording, StepStopped
from tallystick.rooms.studio.runs.desk import RunFiles
from tallystick.rooms.studio.runs.done import judge
from tallystick.rooms.studio.runs.folder import Result
from tallystick.rooms.studio.runs.ports import Level, Surroundings
from tallystick.rooms.studio.runs.reading import recipe_from
from tallystick.rooms.studio.runs.recipe import BOOK, ITEM, AgentStep, Recipe, Step, ToolStep
from tallystick.rooms.studio.runs.references import holds, resolve
from tallystick.rooms.studio.runs.states import StepStatus
from tallystick.turns.durable import Run
from tallystick.turns.flow_context import FlowContext
from tallystick.turns.runs import StepFailed

_log = logging.getLogger(__name__)
BEGIN, DONE, TELL = "run.begin", "run.done", "run.tell"
"""Steps of every run; a recipe's own have no dot in their names."""
MAX_ITEMS = 1_000
"""Items of one `for_each`: more is a recipe gone wrong."""


class Pipeline:
    """The flow, with what it needs."""

    def __init__(self, *, hands: FlowContext, runs: RunFiles, around: Surroundings) -> None:
        self._hands = hands
        self._runs = runs
        self._around = around
        self._calling = Calling(hands, around)
        self._asking = Asking(hands, around)

    def flow(self, run: Run, args: dict[str, Any]) -> dict[str, Any]:
        """One run, from its beginning or from where it stopped."""
        del args  # the id names everything
        folder = self._runs.folder(run.id)
        record = Recording(folder)
        recipe = recipe_from(folder.document()["recipe"])
        if isinstance(recipe, Problem):
            # It was read before the run began: somebody changed the run's own file since.
            folder.become("failed", code="run_damaged", message=recipe.message)
            raise StepStopped(f"run.json: {recipe.message}", code="run_damaged")
        try:
            run.step(BEGIN, self._begin, record)
            for step in recipe.steps:
                self._step(run, record, step)
            run.step(DONE, self._judge, record, recipe)
        except StepFailed as failed:
            run.emit({"event": "run", "status": str(folder.document()["status"]), "code": failed.failure.code})
            run.step(f"{TELL}.failed", self._tell, record)
            raise
        run.emit({"event": "run", "status": "done"})
        run.step(TELL, self._tell, record)
        return {"status": "done"}

    # -- the steps -----------------------------------------------------------------------------------------------------

    def _begin(self, record: Recording) -> dict[str, Any]:
        """Find the book's files once: steps that go over all of them must all see the same."""
        return record.once(
            BEGIN, lambda _before: Result(status="done", value=self._around.book()), slot=BOOK, kind="book"
        )

    def _step(self, run: Run, record: Recording, step: Step) -> None:
        if step.when is not None and not holds(step.when, record.scope()):
            self._leave_out(run, record, step, "condition_false", "Its condition does not hold.")
        elif isinstance(step, AgentStep):
            self._agent(run, record, step)
        elif step.for_each is None:
            self._told(run, step.id, run.step(step.id, self._calling.do, record, step, step.id, {}))
        else:
            self._each(run, record, step)

    def _each(self, run: Run, record: Recording, step: ToolStep) -> None:
        found = resolve(step.for_each, record.scope())
        if isinstance(found, Problem) or not isinstance(found, list) or len(found) > MAX_ITEMS:
            run.step(step.id, self._no_list, record, step, found.message if isinstance(found, Problem) else "")
            return
        items = (
            found if step.batch is None else [found[at : at + step.batch] for at in range(0, len(found), step.batch)]
        )
        if not items:
            self._leave_out(run, record, step, "nothing_to_do", "There is nothing to do it for.")
            return
        names = [f"{step.id}.{at}" for at in range(len(items))]
        for name, item in zip(names, items, strict=True):
            done = run.step(name, self._calling.do, record, step, name, {ITEM: item})
            self._told(run, name, done, of=len(items))
        run.step(step.id, self._joined, record, step, names)

    def _agent(self, run: Run, record: Recording, step: AgentStep) -> None:
        done = run.step(step.id, self._asking.ask, record, step)
        self._told(run, step.id, done)
        if step.writes is not None and done["status"] == "done":
            name = f"{step.id}.patch"
            self._told(run, name, run.step(name, self._asking.propose, record, step, name))

    def _leave_out(self, run: Run, record: Recording, step: Step, code: str, message: str) -> None:
        def skip() -> dict[str, Any]:
            phase = "a" if isinstance(step, ToolStep) else "b"
            return record.skip(step.id, code, message, slot=step.slot, phase=phase)

        self._told(run, step.id, run.step(step.id, skip))

    def _no_list(self, record: Recording, step: ToolStep, why: str) -> dict[str, Any]:
        message = why or f"for_each takes a list of up to {MAX_ITEMS} items."
        failed = Result(status="failed", code="for_each_invalid", message=message)
        return record.once(step.id, lambda _before: failed, slot=step.slot, optional=step.optional, phase="a")

    def _joined(self, record: Recording, step: ToolStep, names: list[str]) -> dict[str, Any]:
        """All items are through: the slot is the list of what they gave."""
        record.folder.join(step.slot, names)
        cache = record.folder.cache()
        bad = [name for name in names if cache.results[name]["status"] != "done"]
        status: StepStatus = "failed" if len(bad) == len(names) else "done"
        record.folder.tell(step.id, status, phase="a", kind="tool", tool=step.tool, items=len(names), failed=bad)
        return {"status": status}

    def _told(self, run: Run, name: str, done: dict[str, Any], **more: Any) -> None:
        run.emit({"event": "step", "step": name, "status": done["status"], "code": done.get("code"), **more})

    # -- the end -------------------------------------------------------------------------------------------------------

    def _judge(self, record: Recording, recipe: Recipe) -> dict[str, Any]:
        """Look whether the run is done; if not it is incomplete, and resuming looks again."""
        judged = judge(recipe.done, record.scope(), exists=self._around.exists, find=self._hands.find)
        record.folder.become("running", step=DONE)
        record.folder.put(done=[one.as_dict() for one in judged])
        missing = [one.message for one in judged if not one.ok]
        if missing:
            message = f"Not done: {missing[0]}" + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            record.folder.become("incomplete", code="not_done", message=message)
            raise StepStopped(message, code="not_done")
        record.folder.become("done")
        return {"status": "done"}

    def _tell(self, record: Recording) -> dict[str, Any]:
        """Notify whoever waits; that it could not be told does not make the run another."""
        document = record.folder.document()
        status, title = document["status"], document["recipe"]["title"]
        level: Level = "info" if status == "done" else "warn" if status == "incomplete" else "error"
        why = f": {document['message']}" if document.get("message") else ""
        try:
            self._around.notify(level=level, text=f"{title}: {status}{why}", run_id=record.folder.run_id)
        except TallyError as error:
            _log.warning("a run's end could not be told: %s (%s)", error, error.code)
        return {"told": status}
