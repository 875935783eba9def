"""Arguments as they may be kept: a room takes out what must not be (see `Tool.clean`), before anything else is done."""

import logging
from typing import Any

from tallystick.gate.admit.names import Catalogue, Entry
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import CANCELLED

_log = logging.getLogger(__name__)

LONG = 4_096
"""Characters of arguments that are cleaned in a thread of their own: more takes longer than others may wait."""
CALLER_LEFT = Rejection(fault=CANCELLED, reason="the caller left before the call was admitted")


def is_long_to_clean(catalogue: Catalogue, tool: object, args: object) -> bool:
    """Whether a room cleans the arguments of this tool, and there is much of them."""
    entry = catalogue.meant(tool)
    return entry is not None and entry.clean is not None and _is_long(args)


def _is_long(args: object) -> bool:
    waiting, left = [args], LONG
    # Ends with what is counted: nothing is gone into deeper than that, and nothing for ever.
    while waiting and left >= 0:
        value = waiting.pop()
        left -= len(value) if isinstance(value, str) else 1
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
    return left < 0


def cleaned(entry: Entry | None, args: Any) -> Any:
    """The arguments as they may be kept; None: that could not be found out, so nothing of them is."""
    if entry is None or entry.clean is None or type(args) is not dict:
        return args
    try:
        return entry.clean(args)
    except (RecursionError, TypeError):
        # No JSON: refused for that, and never recorded as it stands.
        return args
    except Exception:  # noqa: BLE001 - a part of the room's, of which anything may come
        _log.exception("the arguments of %s cannot be cleaned", entry.card.name)
        return None
