"""Tool syntax in prose: a call that was written down instead of proposed.

A final answer that contains one is refused, because its reader would take a call that never ran for one that did.
Ordinary prose must pass: "chapter two (the storm)" is no call. Everything here takes time linear in the text.
"""

import re
from collections.abc import Iterable

MAX_NAME = 128
"""Longest tool id; no more than this is looked at before a parenthesis."""

# Tags and fences that chat templates use around native calls.
_TAGS = re.compile(
    r"<\|?/?(?:[a-z]{1,8}:)?(?:tool_calls?|function_calls?|tool_use|tool_code|invoke[\s>]|function=)"
    r"|<\uff5ctool|\[/?tool_calls?\]|<\|python_tag\|>|```[ \t]{0,8}tool_(?:call|code|use)",
    re.IGNORECASE,
)
# Two lines, as agents of the ReAct kind write them; one alone is ordinary prose.
_ACTION = re.compile(r"^[ \t>*_-]*+Action[*_]{0,2}:[*_ \t]*+\S", re.IGNORECASE | re.MULTILINE)
_ACTION_INPUT = re.compile(r"^[ \t>*_-]*+Action Input[*_]{0,2}:", re.IGNORECASE | re.MULTILINE)
# Our own envelope, quoted or escaped; the two keys together appear in no prose.
_TOOL_KEY = re.compile(r"""\\?["']tool\\?["']\s*+:""")
_CALL_KEY = re.compile(r"""\\?["'](?:args|nonce)\\?["']\s*+:""")
# A native call: any object may have a name and parameters, so the name must be a tool's.
_NAME_KEY = re.compile(
    r"""\\?["'](?:tool|tool_name|name|function|action|recipient_name)\\?["']\s*+:\s*+\\?["']([^"'\\\n]{1,140})"""
)
_INPUT_KEY = re.compile(
    r"""\\?["'](?:args|arguments|parameters|params|input|tool_input|action_input|nonce)\\?["']\s*+:"""
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
# "note(s)" is a plural.
_PLURAL = re.compile(r"\((?:e?s|ies)\)")
# After a space, a parenthesis opens a remark more often than a call: only what cannot be a remark counts.
_SPACED_CALL = re.compile(r"\(\s{0,8}(?:\{|[A-Za-z_]\w{0,63}\s{0,8}=[^=])")


def looks_like_tool_call(text: str, names: Iterable[str] = ()) -> bool:
    """Whether a text contains a tool call in any syntax models are known to write.

    Args:
        text: A final answer, or any other text that must not hold a call.
        names: Ids and aliases of the tools; `name(` counts as a call only for these.
    """
    if _TAGS.search(text) or (_ACTION.search(text) and _ACTION_INPUT.search(text)):
        return True
    if _TOOL_KEY.search(text) and _CALL_KEY.search(text):
        return True
    known = {_folded(name) for name in names}
    return bool(known) and (_names_in_an_object(text, known) or _calls(text, known))


def _names_in_an_object(text: str, known: set[str]) -> bool:
    """`{"name": "file_reader", "arguments": …}`, as native tool calls are written."""
    if not _INPUT_KEY.search(text):
        return False
    return any(_is_known(match[1], known) for match in _NAME_KEY.finditer(text))


def _calls(text: str, known: set[str]) -> bool:
    """`file_locator(…)`, with or without a module in front."""
    # From each parenthesis backwards, and never further than a name is long.
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
    """Whether a name, or what follows one of its dots, is a tool's."""
    folded = _folded(name)
    while folded:
        if folded in known:
            return True
        # functions.file_reader → file_reader
        folded = folded.partition(".")[2]
    return False


def _folded(name: str) -> str:
    """Prompts write `file-locator`, models write `File_Locator`; here both count."""
    return name.strip("-_.").replace("-", "_").lower()
