"""How a run is shown at the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import Screen, counted, visible_json

if TYPE_CHECKING:
    from tallystick.rooms.studio.runs.desk import Slot

MARKS = {"done": "+", "failed": "x", "skipped": "-", "running": ">", "pending": "."}


@dataclass(frozen=True, kw_only=False)
class RunScreen:
    """Runs, for people and with `--json` for machines."""

    screen: Screen

    def run(self, run: dict[str, Any], replies: Sequence[Mapping[str, str]] = ()) -> None:
        """All about a run, and what its agents said."""
        self.screen.data(run | {"replies": list(replies)})
        self.screen.line(f"{run['run_id']}  {run['title']}: {run['status']}")
        if run.get("message"):
            self.screen.line(f"  {run['message']} ({run.get('code', '')})")
        for step in run["steps"]:
            self.screen.line(_step_line(step))
        for check in run["done"]:
            named = check.get("slot") or check.get("path") or ""
            missing = "" if check["ok"] else f": {check['message']}"
            self.screen.line(f"  {'+' if check['ok'] else 'x'} {check['check']} {named}{missing}")
        for said in replies:
            self.screen.line()
            self.screen.line(f"{said['step']} ({said['agent']}):")
            self.screen.block(said["reply"])
        if run["slots"]:
            names = ", ".join(run["slots"])
            self.screen.note(f"to see one of {names}: tally run show {run['run_id']} --slot NAME{self.screen.there}")

    def slot(self, slot: "Slot") -> None:
        """What a slot holds; of an agent's step the reply itself."""
        self.screen.data(slot.as_dict())
        value = slot.value
        reply = value.get("reply") if isinstance(value, dict) else None
        self.screen.block(reply if isinstance(reply, str) else visible_json(value, indent=2))
        self.screen.note(f"receipts: {', '.join(slot.receipts) or 'none'}")

    def recipes(self, found: list[dict[str, Any]]) -> None:
        """What can be run, and what is wrong with the rest."""
        rows = [(one["id"], one["source"], _takes(one), one.get("title", "")) for one in found if "problem" not in one]
        self.screen.table(["recipe", "source", "inputs", "what it does"], rows)
        for one in found:
            if "problem" in one:
                problem = one["problem"]
                self.screen.note(f"{one['id']} cannot run: {problem['message']} {problem['pointer']}".rstrip())

    def event(self, told: dict[str, Any]) -> None:
        """One step that ended, as it ends."""
        if told.get("event") == "step":
            why = f" ({told['code']})" if told.get("code") else ""
            self.screen.note(f"  {MARKS.get(told['status'], ' ')} {told['step']}: {told['status']}{why}")


def _step_line(step: dict[str, Any]) -> str:
    doer = step.get("tool") or step.get("action") or step.get("agent") or "patch"
    items = f" {step['items']['done']}/{step['items']['total']}" if "items" in step else ""
    why = f": {step['message']}" if step.get("message") else ""
    receipts = f"  [{counted(len(step['receipts']), 'receipt')}]" if step["receipts"] else ""
    return f"  {MARKS.get(step['status'], ' ')} {step['step']} ({doer}) {step['status']}{items}{why}{receipts}"


def _takes(recipe: dict[str, Any]) -> str:
    """Inputs as they are typed; those with a default in brackets."""
    required = recipe["inputs"]["required"]
    return " ".join(name if name in required else f"[{name}]" for name in recipe["inputs"]["properties"])
