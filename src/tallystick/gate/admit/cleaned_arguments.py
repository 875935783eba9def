"""Runs the tool's own cleaning function (`Tool.clean`), before any other step.

It removes data that must not be stored from the arguments.
"""

import logging
from typing import Any

from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import check_json_value
from tallystick.gate.codes import CANCELLED

_log = logging.getLogger(__name__)

LONG = 4_096
"""Characters of arguments; more than this is cleaned in a worker thread, so that it does not delay other calls."""
CALLER_LEFT = Rejection(fault=CANCELLED, reason="the caller cancelled the call before it was admitted")


def is_long_to_clean(catalogue: Catalogue, tool: object, args: object) -> bool:
    """Whether this tool has a cleaning function and its arguments are longer than `LONG`."""
    entry = catalogue.meant(tool)
    return entry is not None and entry.clean is not None and _is_long(args)


def _is_long(args: object) -> bool:
    waiting, left = [args], LONG
    # The budget also bounds the traversal of deep or self-referencing values.
    while waiting and left >= 0:
        value = waiting.pop()
        left -= len(value) if isinstance(value, str) else 1
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
    return left < 0


def cleaned(entry: Entry | None, args: Any) -> Any:
    """Return the arguments that may be stored; None: cleaning failed, so none of them may be stored."""
    if entry is None or entry.clean is None or type(args) is not dict:
        return args
    try:
        return entry.clean(args)
    except Exception:  # noqa: BLE001 - third-party code may raise any exception
        # A cleaning function expects JSON; with other values an exception is no fault of it (admit rejects the call).
        if check_json_value(args) is None:
            _log.exception("the arguments of %s cannot be cleaned", entry.card.name)
        return None
