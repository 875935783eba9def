"""Lets a room remove data that must not be stored from the arguments (see `Tool.clean`), before any other step."""

import logging
from typing import Any

from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import CANCELLED

_log = logging.getLogger(__name__)

LONG = 4_096
"""Characters of arguments; more than this is cleaned in a worker thread, so that it does not delay other calls."""
CALLER_LEFT = Rejection(fault=CANCELLED, reason="the caller left before the call was admitted")


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
    except (RecursionError, TypeError):
        # Not JSON: a later check rejects it for that, and it is never recorded unchanged.
        return args
    except Exception:  # noqa: BLE001 - room code may raise any exception
        _log.exception("the arguments of %s cannot be cleaned", entry.card.name)
        return None
