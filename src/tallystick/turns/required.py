"""Whether step one of a turn must be a tool call.

The flag says so plainly. The phrases are what the documents this product comes from looked for; they stay as a
fallback, and a turn that was required by them says so, because they are easy to miss and easy to hit by chance.
"""

import re
from collections.abc import Iterable

from tallystick.turns.request import Request
from tallystick.turns.result import RequiredBy

_PHRASES = ("return only the json tool call object", "respond with exactly one json object")
_TOOL_FIRST = re.compile(r"\buse the [`'\"]?([a-z0-9_.-]{1,128})[`'\"]? tool first\b")
_MAX_READ = 20_000
"""Characters of a message that are searched: an instruction stands at its beginning or its end."""


def required_by(request: Request, names: Iterable[str]) -> RequiredBy | None:
    """Why step one must be a call; None: it need not be.

    Args:
        request: Its own message counts; history and results never do.
        names: The tools of the turn: what the turn does not have cannot be required.
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
    """Prompts write `file-locator` for `file_locator`."""
    return name.casefold().replace("-", "_")
