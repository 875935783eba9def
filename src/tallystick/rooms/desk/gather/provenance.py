"""Provenance of evidence: who wrote it, and whether it may answer a customer.

Both follow from the tool that gave the piece and from the piece as the signed receipt holds it, never from what a
worker says of it. Memory, earlier tickets and logs hold what agents, customers and programs wrote, so nothing of them
counts, whatever class or status it has there: a fact's words are those of its proposer. Of a log record, the
fields that the settings name count. What does not count is context for people.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tallystick.gate.quotes import Folded, find_quote, fold_text
from tallystick.rooms.desk.gather.limits import INSIGHT, LOGS, MEMORY, WEB
from tallystick.rooms.desk.model import Author
from tallystick.rooms.desk.options import DOCUMENT_TOOLS, VerdictPolicy

ECHOED_WORDS = 4
"""A result that contains an argument of so many words echoes it: the words are the caller's."""
_AUTHORS: Mapping[str, Author] = {
    **dict.fromkeys(DOCUMENT_TOOLS, "document"),
    MEMORY: "memory",
    "mem.explain": "memory",
    INSIGHT: "customer",
    LOGS: "log",
    WEB: "web",
}
_DOCUMENT_TEXTS = ("snippet", "text")


def author_of(tool: str) -> Author:
    """The author of a tool's results; `tool`: unknown."""
    return _AUTHORS.get(tool, "tool")


def counts(
    snippet: str, *, tool: str, piece: Mapping[str, Any], args: Mapping[str, Any], policy: VerdictPolicy
) -> bool:
    """Whether a snippet of a result may cover a need and be quoted to a customer.

    Args:
        snippet: Verbatim.
        tool: Which gave it, by the receipt.
        piece: The part of its result in which the snippet stands.
        args: What the tool was called with.
        policy: Names the tools and the log fields that the owner trusts.
    """
    if not snippet or not any(
        find_quote(snippet, fold_text(text)) is not None for text in quotable_texts(tool, piece, policy)
    ):
        return False
    return tool in DOCUMENT_TOOLS or not _is_echo(snippet, args)


def quotable_texts(tool: str, piece: Mapping[str, Any], policy: VerdictPolicy) -> tuple[str, ...]:
    """The texts of a piece that may be quoted to a customer; none: it is context for people."""
    if tool == LOGS:
        return tuple(_log_values(piece, policy.log_fields))
    if tool not in policy.answer_sources:
        return ()
    if tool in DOCUMENT_TOOLS:
        current = "doc" in piece and piece.get("status", "current") == "current"
        return tuple(_texts(piece.get(name) for name in _DOCUMENT_TEXTS)) if current else ()
    return tuple(_texts(piece.values()))


def _log_values(piece: Mapping[str, Any], fields: tuple[str, ...]) -> Iterator[str]:
    """The named fields of a log record; a line that is no whole JSON object has none."""
    line = piece.get("text")
    if not fields or not isinstance(line, str):
        return
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        return
    if isinstance(entry, dict):
        yield from _texts(entry.get(name) for name in fields)


def _texts(values: Any) -> Iterator[str]:
    return (value for value in values if isinstance(value, str) and value)


def _is_echo(snippet: str, args: Mapping[str, Any]) -> bool:
    """Whether a tool only repeats what it was called with: then the caller wrote it."""
    said: Folded = fold_text(snippet)
    return any(
        find_quote(snippet, fold_text(value)) is not None
        or (len(value.split()) >= ECHOED_WORDS and find_quote(value, said) is not None)
        for value in _all_texts(args)
    )


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _all_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _all_texts(inner)
