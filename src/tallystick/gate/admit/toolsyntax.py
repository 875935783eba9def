"""Detects tool calls that a model wrote as text instead of proposing them.

A final answer that contains one is rejected, because a reader would assume that the call ran. Ordinary prose must
pass: "chapter two (the storm)" is not a call. Everything here takes time linear in the length of the text.
"""

import re
from collections.abc import Iterable

MAX_NAME = 128
"""Longest tool id, in characters; limits how much text before a parenthesis is examined."""

# Tags and code fences that chat templates use around native calls.
_TAGS = re.compile(
    r"<\|?/?(?:[a-z]{1,8}:)?(?:tool_calls?|function_calls?|tool_use|tool_code|invoke[\s>]|function=)"
    r"|<\uff5ctool|\[/?tool_calls?\]|<\|python_tag\|>|```[ \t]{0,8}tool_(?:call|code|use)",
    re.IGNORECASE,
)
# The two parts of a ReAct-style call; one of them alone is ordinary prose. The name may stand on a line of its own.
_ACTION = re.compile(r"^[ \t>*_-]*+Action[*_]{0,2}:[*_\s]*+\S", re.IGNORECASE | re.MULTILINE)
_ACTION_INPUT = re.compile(r"^[ \t>*_-]*+Action Input[*_]{0,2}:", re.IGNORECASE | re.MULTILINE)
# The gate's own envelope, quoted or escaped; the two keys together do not appear in prose.
_TOOL_KEY = re.compile(r"""\\?["']tool\\?["']\s*+:""")
_CALL_KEY = re.compile(r"""\\?["'](?:args|nonce)\\?["']\s*+:""")
# A native call: any object may have a name and parameters, so the name must be that of a tool.
_NAME_KEY = re.compile(
    r"""\\?["'](?:tool|tool_name|name|function|action|recipient_name)\\?["']\s*+:\s*+\\?["']([^"'\\\n]{1,140})"""
)
_INPUT_KEY = re.compile(
    r"""\\?["'](?:args|arguments|parameters|params|input|tool_input|action_input|nonce)\\?["']\s*+:"""
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
# "note(s)" is a plural.
_PLURAL = re.compile(r"\((?:e?s|ies)\)")
# After a space, a parenthesis usually opens a remark, so only `{` or `name=` after it counts as a call.
_SPACED_CALL = re.compile(r"\(\s{0,8}(?:\{|[A-Za-z_]\w{0,63}\s{0,8}=[^=])")


def looks_like_tool_call(text: str, names: Iterable[str] = ()) -> bool:
    """Whether a text contains a tool call in any syntax that models are known to write.

    Args:
        text: A final answer, or any other text that must not contain a call.
        names: Ids and aliases of the tools; `name(` counts as a call only for these.
    """
    if _TAGS.search(text) or (_ACTION.search(text) and _ACTION_INPUT.search(text)):
        return True
    if _TOOL_KEY.search(text) and _CALL_KEY.search(text):
        return True
    known = {_folded(name) for name in names}
    return bool(known) and (_names_in_an_object(text, known) or _calls(text, known))


def _names_in_an_object(text: str, known: set[str]) -> bool:
    """Whether the text contains a native tool call such as `{"name": "file_reader", "arguments": …}`."""
    if not _INPUT_KEY.search(text):
        return False
    return any(_is_known(match[1], known) for match in _NAME_KEY.finditer(text))


def _calls(text: str, known: set[str]) -> bool:
    """Whether the text contains a call such as `file_locator(…)`, with or without a module prefix."""
    # Search backwards from each parenthesis, at most the length of a name, which keeps the time linear.
    at = text.find("(")
    while at >= 0:
        before = text[max(0, at - MAX_NAME - 2) : at]
        name = before.rstrip(" \t")
        spaced = len(name) != len(before)
        name = name[len(name.rstrip(_NAME_CHARACTERS)) :]
        shape = _SPACED_CALL.match(text, at) if spaced else not _PLURAL.match(text, at)
        if name and shape and _is_known(name, known):
            return True
        at = text.find("(", at + 1)
    return False


def _is_known(name: str, known: set[str]) -> bool:
    """Whether a name, or the part after one of its dots, is that of a tool."""
    folded = _folded(name)
    while folded:
        if folded in known:
            return True
        # functions.file_reader → file_reader
        folded = folded.partition(".")[2]
    return False


def _folded(name: str) -> str:
    """Normalise a name for comparison, since prompts write `file-locator` and models write `File_Locator`."""
    return name.strip("-_.").replace("-", "_").lower()
