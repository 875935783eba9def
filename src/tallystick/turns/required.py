"""Decide whether step one of a turn must be a tool call.

The request flag is explicit. The phrases come from the product's original documents and remain as a fallback; a turn
that matched one is marked `heuristic`, because phrases are easy to miss and easy to match by accident.
"""

import re
from collections.abc import Iterable

from tallystick.turns.request import Request
from tallystick.turns.result import RequiredBy

_PHRASES = ("return only the json tool call object", "respond with exactly one json object")
_TOOL_FIRST = re.compile(r"\buse the [`'\"]?([a-z0-9_.-]{1,128})[`'\"]? tool first\b")
_MAX_READ = 20_000
"""Characters searched at each end of a long message, because instructions are at its beginning or its end."""


def required_by(request: Request, names: Iterable[str]) -> RequiredBy | None:
    """Return why step one must be a call; None: no call is required.

    Args:
        request: Only its message is searched, never history or results.
        names: The tools of the turn; a tool that the turn does not have cannot be required.
    """
    if request.policy.require_tool or request.tool_phase:
        return "flag"
    message = request.message
    if len(message) > 2 * _MAX_READ:
        message = f"{message[:_MAX_READ]}\n{message[-_MAX_READ:]}"
    text = " ".join(message.casefold().split())
    if any(phrase in text for phrase in _PHRASES):
        return "heuristic"
    named = {_folded(name) for name in _TOOL_FIRST.findall(text)}
    return "heuristic" if named and not named.isdisjoint(map(_folded, names)) else None


def _folded(name: str) -> str:
    """Normalise a tool name, because prompts write `file-locator` for `file_locator`."""
    return name.casefold().replace("-", "_")
