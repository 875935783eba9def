"""The outcome of a call for people: the status in its receipt, but `failed` if the tool ran and failed."""

from collections.abc import Mapping
from typing import Any


def outcome_status(header: Mapping[str, Any]) -> str | None:
    """Return `failed` for an accepted call whose tool ran and failed, else the receipt's status, if it has one."""
    from tallystick.gate.codes import FAULTS  # noqa: PLC0415 - the command line's help does not need the table

    outcome = header.get("outcome") or {}
    fault = FAULTS.get(outcome.get("fault", ""))
    status: str | None = outcome.get("status")
    return "failed" if status != "rejected" and fault is not None and fault.ran else status


def outcome_code(header: Mapping[str, Any]) -> str | None:
    """Return the code of a refusal (`INVALID_PAYLOAD`, …) or failure (`tool_failed`, `timeout`, …); None if neither."""
    outcome = header.get("outcome") or {}
    code: str | None = outcome.get("code") or outcome.get("fault")
    return code
