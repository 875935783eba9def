"""Runs as HTTP, command line and pages see them: start, show, cancel, resume.

The durable engine knows whether a worker has a run; the run's folder knows what it is and what it produced. This module
combines both, so that every interface shows the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.agents.problem import Problem, misfit
from tallystick.errors import ConfigError
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.gate.session import Caller, valid_session_id
from tallystick.records import record
from tallystick.rooms.studio.runs.catalogue import Catalogue
from tallystick.rooms.studio.runs.folder import RUNS, Cache, RunFolder
from tallystick.rooms.studio.runs.recipe import BOOK, Recipe
from tallystick.rooms.studio.runs.states import RESUMABLE, Status, shown
from tallystick.turns.durable import Durable
from tallystick.turns.runs import DurableError, Event, RunFailure

_HEAD = ("run_id", "recipe_id", "source", "recipe_sha256", "created_at", "started_at", "ended_at", "step")
_WHY = ("code", "message")
_LOST = {"code": "run_lost", "message": "It was lost before its first step. Resume it to let it begin."}


def summary(document: Mapping[str, Any], status: Status, failure: RunFailure | None) -> dict[str, Any]:
    """The head of a run: what a list shows.

    Args:
        document: What `run.json` says.
        status: As the run stands now.
        failure: What the durable engine says of a failed run, for one that could not say it itself.
    """
    head = {name: document[name] for name in _HEAD if name in document}
    why = {name: document[name] for name in _WHY if document.get(name)}
    if status == "failed" and not why:
        why = _LOST if failure is None else {"code": failure.code or "step_broke", "message": failure.message}
    return {**head, "title": document["recipe"]["title"], "status": status, **why}


def step_list(recipe: Mapping[str, Any], log: Sequence[Mapping[str, Any]], cache: Cache) -> list[dict[str, Any]]:
    """The recipe's steps in order, those that have not begun too; items of a step stand below it."""
    last: dict[str, Mapping[str, Any]] = {line["step"]: line for line in log}
    began: dict[str, str] = {}
    for line in log:
        if line["status"] == "running":
            began.setdefault(line["step"], line["at"])
    return [_step(step, phase, last, began, cache) for phase, step in _steps(recipe)]


def _steps(recipe: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for phase in ("a", "b"):
        for step in recipe.get(f"phase_{phase}", ()):
            yield phase, step
            if "writes" in step:
                yield phase, {"id": f"{step['id']}.patch", "slot": f"{step.get('slot', step['id'])}_patch"}


def _step(
    step: Mapping[str, Any], phase: str, last: Mapping[str, Mapping[str, Any]], began: Mapping[str, str], cache: Cache
) -> dict[str, Any]:
    name = step["id"]
    items = [line for key, line in last.items() if _is_item(name, key)]
    line = last.get(name) or ({"status": "running"} if items else {"status": "pending"})
    slot = step.get("slot", name)
    made: dict[str, Any] = {"step": name, "phase": phase, "slot": slot, "status": _status(line, items)}
    made |= {key: step[key] for key in ("tool", "action", "agent") if key in step}
    made |= {key: line[key] for key in ("code", "message") if key in line}
    if name in began:
        made["began_at"] = began[name]
    if "at" in line and made["status"] not in {"running", "pending"}:
        made["ended_at"] = line["at"]
    made["receipts"] = list(cache.receipts(slot)) or list(line.get("receipts", ()))
    if items:
        # A failed item explains its step where the step itself has no line yet.
        failed = next((item for item in items if item["status"] == "failed"), {})
        made |= {key: failed[key] for key in ("code", "message") if key in failed and key not in made}
        made["items"] = {"total": len(items), "done": sum(item["status"] == "done" for item in items)}
    return made


def _status(line: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> str:
    """A step whose item failed has failed, unless it went on to its end without it."""
    if line["status"] == "running" and any(item["status"] == "failed" for item in items):
        return "failed"
    return str(line["status"])


def _is_item(name: str, key: str) -> bool:
    head, _, tail = key.rpartition(".")
    return head == name and tail.isdigit()


FLOW, QUEUE = "studio.run", "studio.runs"


class RunFiles:
    """The runs of one workspace, as folders."""

    def __init__(self, control_room: Path, *, now: Callable[[], str]) -> None:
        self._control_room = control_room
        self._now = now

    def folder(self, run_id: str) -> RunFolder:
        """One run."""
        return RunFolder(self._control_room, run_id, now=self._now)

    def ids(self) -> list[str]:
        """All of them, the newest first: an id begins with the time it was made at."""
        try:
            names = [entry.name for entry in (self._control_room / RUNS).iterdir()]
        except FileNotFoundError:
            return []
        return sorted((name for name in names if valid_session_id(name)), reverse=True)


@record
class Slot:
    """What a slot of the cache holds, and the receipts behind it."""

    slot: str
    value: Any
    receipts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"slot": self.slot, "value": self.value, "receipts": list(self.receipts)}


class RunService:
    """Reads and writes files and the engine's database: not for the event loop."""

    def __init__(self, *, files: RunFiles, durable: Durable, catalogue: Catalogue, new_id: Callable[[], str]) -> None:
        self._files = files
        self._durable = durable
        self.recipes = catalogue
        self._new_id = new_id

    def start(self, recipe_id: str, inputs: Mapping[str, Any], caller: Caller) -> dict[str, Any] | Problem:
        """Start a run; it is queued for a worker.

        Args:
            recipe_id: Which recipe.
            inputs: What it is given.
            caller: On whose behalf every step is done.
        """
        listed = self.recipes.get(recipe_id)
        if listed is None:
            known = ", ".join(one.id for one in self.recipes.list())
            return Problem(code="recipe_unknown", message=f"There is no such recipe. There are: {known}.")
        if listed.problem is not None or listed.recipe is None:
            return listed.problem or Problem(code="recipe_invalid", message="The recipe cannot be read.")
        given = _given(listed.recipe, inputs)
        if isinstance(given, Problem):
            return given
        folder = self._files.folder(self._new_id())
        document = dict(listed.recipe.document)
        folder.create(
            {
                "recipe_id": listed.recipe.id,
                "source": listed.source,
                "inputs": given,
                "caller": {"subject": caller.subject, "roles": sorted(caller.roles)},
                "recipe_sha256": sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest(),
                "recipe": document,
            }
        )
        try:
            self._durable.start(FLOW, {}, run_id=folder.run_id)
        except DurableError as error:
            folder.become("failed", code=error.code, message=str(error))
            raise
        return self._told(folder)

    def page(
        self, caller: Caller, *, limit: int, offset: int, status: Status | None = None
    ) -> tuple[list[dict[str, Any]], int]:
        """A page of runs, the newest first, and how many there are in all."""
        ids = self._files.ids()
        if caller.has_any(AUDIT_ROLES) and status is None:
            return [self._line(run_id) for run_id in ids[offset : offset + limit]], len(ids)
        lines = [line for line in map(self._line, ids) if _his(line, caller) and status in {None, line["status"]}]
        return lines[offset : offset + limit], len(lines)

    def show(self, run_id: str, caller: Caller) -> dict[str, Any] | None:
        """A run with its steps; None if this caller has no such run."""
        folder = self._mine(run_id, caller)
        return None if folder is None else self._told(folder)

    def steps(self, run_id: str, caller: Caller) -> list[dict[str, Any]] | None:
        """The full log of its steps, line by line."""
        folder = self._mine(run_id, caller)
        return None if folder is None else folder.log()

    def slot(self, run_id: str, slot: str, caller: Caller) -> Slot | None:
        """What a slot holds."""
        folder = self._mine(run_id, caller)
        cache = None if folder is None else folder.cache()
        if cache is None or slot not in cache.slots:
            return None
        return Slot(slot=slot, value=cache.value(slot), receipts=cache.receipts(slot))

    def replies(self, run_id: str, caller: Caller) -> list[dict[str, str]]:
        """The replies of its agents, in the order of the steps."""
        told = self.show(run_id, caller)
        said = []
        for step in () if told is None else told["steps"]:
            held = self.slot(run_id, step["slot"], caller) if "agent" in step and step.get("slot") else None
            reply = held.value.get("reply") if held is not None and isinstance(held.value, dict) else None
            if isinstance(reply, str):
                said.append({"step": step["step"], "agent": step["agent"], "reply": reply})
        return said

    def events(self, run_id: str, *, after: int = -1) -> list[Event]:
        """The run's events after a number."""
        return self._durable.events(run_id, after=after)

    def cancel(self, run_id: str, caller: Caller) -> dict[str, Any] | None:
        """End a run before its next step; an ended one stays as it is."""
        folder = self._mine(run_id, caller)
        if folder is None:
            return None
        status = self._durable.cancel(run_id)
        if status is not None and status.state == "cancelled":
            folder.become("cancelled", code="cancelled", message=f"Cancelled by {caller.subject}.")
        return self._told(folder)

    def resume(self, run_id: str, caller: Caller) -> dict[str, Any] | Problem | None:
        """Resume a failed, cancelled or incomplete run after its last finished step."""
        folder = self._mine(run_id, caller)
        if folder is None:
            return None
        status = self._told(folder)["status"]
        if status not in RESUMABLE:
            return Problem(code="run_not_resumable", message=f"The run is {status}; only a stopped run can be resumed.")
        if not folder.become("queued"):
            # The file still says queued or running: the worker was lost.
            folder.become("failed")
            folder.become("queued")
        if self._durable.status(run_id) is None:
            self._durable.start(FLOW, {}, run_id=run_id)
        else:
            self._durable.resume(run_id)
        return self._told(folder)

    def _mine(self, run_id: str, caller: Caller) -> RunFolder | None:
        if not valid_session_id(run_id):
            return None
        folder = self._files.folder(run_id)
        document = folder.read()
        return folder if document is not None and _his(document, caller) else None

    def _told(self, folder: RunFolder) -> dict[str, Any]:
        document, head = self._standing(folder)
        cache, log = folder.cache(), folder.log()
        return head | {
            "inputs": document["inputs"],
            "done": document.get("done", []),
            "steps": step_list(document["recipe"], log, cache),
            "slots": {slot: list(cache.receipts(slot)) for slot in cache.slots if slot != BOOK},
        }

    def _line(self, run_id: str) -> dict[str, Any]:
        try:
            document, head = self._standing(self._files.folder(run_id))
        except ConfigError as damaged:
            return {"run_id": run_id, "status": "failed", "code": damaged.code, "message": str(damaged), "caller": {}}
        return head | {"caller": document["caller"]}

    def _standing(self, folder: RunFolder) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """The run's document and its summary."""
        document = folder.document()
        if document["status"] == "done":
            return document, summary(document, "done", None)
        engine = self._durable.status(document["run_id"])
        # Read after the engine was asked: a run that ended between the two looks would seem lost.
        document = folder.document()
        written: Status = document["status"]
        status = shown(written, None if engine is None else engine.state)
        return document, summary(document, status, None if engine is None else engine.failure)


def _his(document: Mapping[str, Any], caller: Caller) -> bool:
    return caller.has_any(AUDIT_ROLES) or document.get("caller", {}).get("subject") == caller.subject


def _given(recipe: Recipe, inputs: Mapping[str, Any]) -> dict[str, Any] | Problem:
    """The inputs with defaults filled in, or what does not fit."""
    fields: Mapping[str, Any] = recipe.inputs["properties"]
    given = {name: field["default"] for name, field in fields.items() if "default" in field} | dict(inputs)
    lacking = [name for name in recipe.inputs["required"] if name not in given]
    foreign = [name for name in given if name not in fields]
    if lacking or foreign:
        wrong = f"missing: {', '.join(lacking)}" if lacking else f"not known: {min(foreign):.60}"
        message = f"The recipe takes {', '.join(fields) or 'no inputs'}; {wrong}."
        return Problem(code="inputs_invalid", message=message, pointer=f"/{lacking[0]}" if lacking else "")
    problem = misfit(compile_schema(recipe.inputs, closed=True), given, code="inputs_invalid", what="inputs")
    return given if problem is None else problem
