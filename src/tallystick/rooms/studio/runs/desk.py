"""Runs seen from outside: start one, look at it, cancel it, let it go on.

The durable engine knows whether somebody works on a run; the run's folder knows what it is and what came of it. Here
the two are put together, so that every door tells the same.
"""

from collections.abc import Callable, Mapping
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
from tallystick.rooms.studio.runs.folder import RUNS, RunFolder
from tallystick.rooms.studio.runs.recipe import BOOK, Recipe
from tallystick.rooms.studio.runs.states import RESUMABLE, Status, shown
from tallystick.rooms.studio.runs.view import step_list, summary
from tallystick.turns.durable import Durable
from tallystick.turns.runs import DurableError, Event

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
        """The wire form."""
        return {"slot": self.slot, "value": self.value, "receipts": list(self.receipts)}


class RunDesk:
    """Where the doors ask. Reads and writes files and the engine's database: not for the event loop."""

    def __init__(
        self, *, files: RunFiles, durable: Durable, catalogue: Catalogue, new_id: Callable[[], str]
    ) -> None:  # fmt: skip
        self._files = files
        self._durable = durable
        self.recipes = catalogue
        self._new_id = new_id

    def start(self, recipe_id: str, inputs: Mapping[str, Any], caller: Caller) -> dict[str, Any] | Problem:
        """Begin a run; it waits for a worker.

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
        """All about a run in one answer, for whoever polls; None: there is none for this caller."""
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
        """What its agents said, in the order of the steps: what a person wants of a run that has ended."""
        told = self.show(run_id, caller)
        said = []
        for step in () if told is None else told["steps"]:
            held = self.slot(run_id, step["slot"], caller) if "agent" in step and step.get("slot") else None
            reply = held.value.get("reply") if held is not None and isinstance(held.value, dict) else None
            if isinstance(reply, str):
                said.append({"step": step["step"], "agent": step["agent"], "reply": reply})
        return said

    def events(self, run_id: str, *, after: int = -1) -> list[Event]:
        """What it told since."""
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
        """Let a failed, cancelled or incomplete run go on behind its last finished step."""
        folder = self._mine(run_id, caller)
        if folder is None:
            return None
        status = self._told(folder)["status"]
        if status not in RESUMABLE:
            return Problem(code="run_not_resumable", message=f"The run is {status}; only what stopped can go on.")
        if not folder.become("queued"):
            # The file still says queued or running: the worker was lost before it could say more.
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
        """What a run's file says, and its head as it is shown."""
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
