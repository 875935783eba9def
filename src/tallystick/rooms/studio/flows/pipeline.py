"""A pipeline run on the durable engine.

    begin → phase A, step by step → phase B, step by step → the definition of done → notify

Every arrow is a step boundary: if a worker dies, another continues after the last finished step. The engine keeps only
the digest of a step's value; values are in the run's own cache.
"""

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused, TallyError
from tallystick.records import record
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.flows.run_steps import AgentSteps, ToolSteps
from tallystick.rooms.studio.flows.step_log import Action, Level, RunEnvironment, StepRecorder, StepStopped
from tallystick.rooms.studio.runs.catalogue import Catalogue
from tallystick.rooms.studio.runs.done import judge
from tallystick.rooms.studio.runs.folder import Result
from tallystick.rooms.studio.runs.recipe import BOOK, ITEM, AgentStep, Recipe, Step, ToolStep
from tallystick.rooms.studio.runs.recipe_reader import recipe_from
from tallystick.rooms.studio.runs.references import holds, resolve
from tallystick.rooms.studio.runs.service import FLOW, QUEUE, RunFiles, RunService
from tallystick.rooms.studio.runs.states import StepStatus
from tallystick.rooms.studio.workspace.model import Change
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.files import FileSources
from tallystick.storage.notifications import Notifications, place_of
from tallystick.turns.durable import Durable, Run
from tallystick.turns.flow_context import FlowContext
from tallystick.turns.runs import Queue, StepFailed

_log = logging.getLogger(__name__)
BEGIN, DONE, TELL = "run.begin", "run.done", "run.tell"
"""Steps of every run; a recipe's own have no dot in their names."""
MAX_ITEMS = 1_000
"""Items of one `for_each`: more is a recipe gone wrong."""


class Pipeline:
    """The flow of a pipeline run."""

    def __init__(self, *, context: FlowContext, runs: RunFiles, environment: RunEnvironment) -> None:
        self._context = context
        self._runs = runs
        self._environment = environment
        self._tool_steps = ToolSteps(context, environment)
        self._agent_steps = AgentSteps(context, environment)

    def flow(self, run: Run, args: dict[str, Any]) -> dict[str, Any]:
        """One run, from its beginning or from where it stopped."""
        del args  # the id names everything
        folder = self._runs.folder(run.id)
        record = StepRecorder(folder)
        recipe = recipe_from(folder.document()["recipe"])
        if isinstance(recipe, Problem):
            # It was valid when the run started, so the run's file was changed since.
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

    def _begin(self, record: StepRecorder) -> dict[str, Any]:
        """List the book's files once, so that all steps see the same files."""
        return record.once(
            BEGIN, lambda _before: Result(status="done", value=self._environment.book()), slot=BOOK, kind="book"
        )

    def _step(self, run: Run, record: StepRecorder, step: Step) -> None:
        if step.when is not None and not holds(step.when, record.scope()):
            self._leave_out(run, record, step, "condition_false", "Its condition does not hold.")
        elif isinstance(step, AgentStep):
            self._agent(run, record, step)
        elif step.for_each is None:
            self._told(run, step.id, run.step(step.id, self._tool_steps.do, record, step, step.id, {}))
        else:
            self._each(run, record, step)

    def _each(self, run: Run, record: StepRecorder, step: ToolStep) -> None:
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
            done = run.step(name, self._tool_steps.do, record, step, name, {ITEM: item})
            self._told(run, name, done, of=len(items))
        run.step(step.id, self._joined, record, step, names)

    def _agent(self, run: Run, record: StepRecorder, step: AgentStep) -> None:
        done = run.step(step.id, self._agent_steps.ask, record, step)
        self._told(run, step.id, done)
        if step.writes is not None and done["status"] == "done":
            name = f"{step.id}.patch"
            self._told(run, name, run.step(name, self._agent_steps.propose, record, step, name))

    def _leave_out(self, run: Run, record: StepRecorder, step: Step, code: str, message: str) -> None:
        def skip() -> dict[str, Any]:
            phase = "a" if isinstance(step, ToolStep) else "b"
            return record.skip(step.id, code, message, slot=step.slot, phase=phase)

        self._told(run, step.id, run.step(step.id, skip))

    def _no_list(self, record: StepRecorder, step: ToolStep, why: str) -> dict[str, Any]:
        message = why or f"for_each takes a list of up to {MAX_ITEMS} items."
        failed = Result(status="failed", code="for_each_invalid", message=message)
        return record.once(step.id, lambda _before: failed, slot=step.slot, optional=step.optional, phase="a")

    def _joined(self, record: StepRecorder, step: ToolStep, names: list[str]) -> dict[str, Any]:
        """Fill the slot with the list of item results."""
        record.folder.join(step.slot, names)
        cache = record.folder.cache()
        bad = [name for name in names if cache.results[name]["status"] != "done"]
        status: StepStatus = "failed" if len(bad) == len(names) else "done"
        record.folder.tell(step.id, status, phase="a", kind="tool", tool=step.tool, items=len(names), failed=bad)
        return {"status": status}

    def _told(self, run: Run, name: str, done: dict[str, Any], **more: Any) -> None:
        run.emit({"event": "step", "step": name, "status": done["status"], "code": done.get("code"), **more})

    # -- the end -------------------------------------------------------------------------------------------------------

    def _judge(self, record: StepRecorder, recipe: Recipe) -> dict[str, Any]:
        """Check the definition of done; an incomplete run is checked again when resumed."""
        judged = judge(recipe.done, record.scope(), exists=self._environment.exists, find=self._context.find)
        record.folder.become("running", step=DONE)
        record.folder.put(done=[one.as_dict() for one in judged])
        missing = [one.message for one in judged if not one.ok]
        if missing:
            message = f"Not done: {missing[0]}" + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            record.folder.become("incomplete", code="not_done", message=message)
            raise StepStopped(message, code="not_done")
        record.folder.become("done")
        return {"status": "done"}

    def _tell(self, record: StepRecorder) -> dict[str, Any]:
        """Send the notification; a failure to send does not change the run's status."""
        document = record.folder.document()
        status, title = document["status"], document["recipe"]["title"]
        level: Level = "info" if status == "done" else "warn" if status == "incomplete" else "error"
        why = f": {document['message']}" if document.get("message") else ""
        try:
            self._environment.notify(level=level, text=f"{title}: {status}{why}", run_id=record.folder.run_id)
        except TallyError as error:
            _log.warning("the notification about the end of a run failed: %s (%s)", error, error.code)
        return {"told": status}


PER_WORKER = 2
"""Runs at once in one worker: each holds a thread, and their agents queue for the same models."""
_ID_DIGITS = 24


@record
class RunDependencies:
    """The parts of the room that runs need."""

    workspace: Path
    sources: FileSources
    books: BookReader
    actions: Mapping[str, Action]
    now: Callable[[], str]
    """RFC 3339."""
    chance: Callable[[], str]
    """Some hex digits of chance."""


def register_runs(parts: RunDependencies, durable: Durable, context: FlowContext) -> RunService:
    """Register the flow before workers start; return the service of its runs."""
    control_room = parts.workspace / CONTROL_ROOM
    files = RunFiles(control_room, now=parts.now)
    pipeline = Pipeline(context=context, runs=files, environment=_environment_of(parts))
    durable.add_queue(Queue(name=QUEUE, per_worker=PER_WORKER))
    durable.register(FLOW, pipeline.flow, queue=QUEUE)
    catalogue = Catalogue(control_room, cards=context.cards, agents=context.agents, actions=frozenset(parts.actions))
    return RunService(files=files, durable=durable, catalogue=catalogue, new_id=lambda: _run_id(parts))


def _environment_of(parts: RunDependencies) -> RunEnvironment:
    def book() -> dict[str, Any]:
        found = parts.books.book()
        return {
            "scenes": [scene.path for scene in found.scenes],
            "cards": [card.path for card in found.cards],
            "outline": None if found.outline is None else found.outline.path,
        }

    def exists(path: str) -> bool:
        try:
            return parts.sources.read(path) is not None
        except PathRefused:
            return False

    def propose(path: str, text: str, *, by: str, key: str) -> Mapping[str, Any] | Problem:
        patch_id = f"patch_{sha256(key.encode()).hexdigest()[:_ID_DIGITS]}"
        kept = PatchStore(parts.workspace)
        found = kept.patch(patch_id)
        if found is None:
            revisions = Revisions(parts.sources, kept, new_id=lambda: patch_id)
            change = Change(path=path, base_sha256=None, text=text, note=f"Drafted by {by} in a run.")
            made = revisions.propose(change, by=by, now=parts.now(), origin="run")
            if isinstance(made, Problem):
                return made
            found = made
        return {"patch_id": found.patch_id, "path": found.path, "base_sha256": found.base_sha256}

    def notify(*, level: Level, text: str, run_id: str) -> None:
        Notifications(parts.workspace).add(level=level, source="runs", text=text, link=place_of("run", run_id))

    return RunEnvironment(
        book=book, exists=exists, actions=parts.actions, patches=propose, notify=notify, now=parts.now
    )


def _run_id(parts: RunDependencies) -> str:
    """The time first, so that a list by name is a list by age."""
    stamp = "".join(sign for sign in parts.now() if sign.isalnum())
    return f"run_{stamp.removesuffix('Z')}_{parts.chance()}"
