"""The definition of done: conditions that are checked at the end of a run."""

from collections.abc import Callable
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.gate.record.receipt import Receipt
from tallystick.records import record
from tallystick.rooms.studio.runs.recipe import Check
from tallystick.rooms.studio.runs.references import Scope, render, resolve


@record
class CheckResult:
    """One condition, and whether it holds."""

    check: Check
    ok: bool
    message: str = ""
    """What is missing."""

    def as_dict(self) -> dict[str, Any]:
        """As `run.json` keeps it."""
        kept = self.check.as_dict() | {"ok": self.ok}
        return kept if self.ok else kept | {"message": self.message}


def judge(
    checks: tuple[Check, ...], scope: Scope, *, exists: Callable[[str], bool], find: Callable[[str], Receipt | None]
) -> list[CheckResult]:
    """Check every condition.

    Args:
        checks: The recipe's.
        scope: What the run's slots hold.
        exists: Whether a file is there.
        find: A receipt of the ledger.
    """
    judged: list[CheckResult] = []
    for check in checks:
        missing = _missing(check, scope, exists, find)
        judged.append(CheckResult(check=check, ok=missing is None, message=missing or ""))
    return judged


def _missing(
    check: Check, scope: Scope, exists: Callable[[str], bool], find: Callable[[str], Receipt | None]
) -> str | None:
    """What is missing; None if the condition holds."""
    if check.kind == "file_exists":
        return _no_file(check.path, scope, exists)
    value = scope.get(check.slot or "")
    if value is None:
        return f"'{check.slot}' is empty: its step was skipped, failed or gave nothing"
    if check.kind == "slot_field_equals":
        found = resolve({"$ref": f"{check.slot}.{check.field}"}, scope)
        return None if found == check.equals else f"'{check.slot}.{check.field}' is not what it should be"
    if check.kind == "evidence_ok":
        return _unproved(check.slot or "", value, find)
    return None


def _no_file(path: Any, scope: Scope, exists: Callable[[str], bool]) -> str | None:
    named = render(path, scope) if isinstance(path, str) else resolve(path, scope)
    if isinstance(named, Problem):
        return named.message
    return None if isinstance(named, str) and exists(named) else f"there is no file {named}"


def _unproved(slot: str, value: Any, find: Callable[[str], Receipt | None]) -> str | None:
    """A reply is proved by the receipt of its check, not by what its slot says of itself."""
    receipt_id = value.get("check_receipt") if isinstance(value, dict) else None
    receipt = find(receipt_id) if isinstance(receipt_id, str) else None
    if receipt is None or receipt.header.get("kind") != "reply_check":
        return f"'{slot}' holds no reply that was checked"
    passed = (receipt.header.get("outcome") or {}).get("status") == "accepted"
    return None if passed else f"the reply in '{slot}' did not pass its check"
