"""A run as it is shown: its head, and every step of its recipe with what became of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.rooms.studio.runs.folder import Cache
from tallystick.rooms.studio.runs.states import Status
from tallystick.turns.runs import Failure

_HEAD = ("run_id", "recipe_id", "source", "recipe_sha256", "created_at", "started_at", "ended_at", "step")
_WHY = ("code", "message")
_LOST = {"code": "run_lost", "message": "It was lost before its first step. Resume it to let it begin."}


def summary(document: Mapping[str, Any], status: Status, failure: Failure | None) -> dict[str, Any]:
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
