"""Who wrote a piece of a ticket's evidence, for people to read."""

from collections.abc import Mapping
from typing import Any

WORDS: Mapping[str, str] = {
    "document": "a document", "memory": "recorded in memory", "customer": "an earlier ticket", "log": "a log",
    "web": "a web page", "tool": "another tool",
}  # fmt: skip


def context_label(piece: Mapping[str, Any]) -> str:
    """What to say of evidence that answers no customer; empty: it counts, or the ticket is older than the question."""
    if piece.get("counts") is not False:
        return ""
    return f"context only: {WORDS.get(str(piece.get('author')), WORDS['tool'])}"
