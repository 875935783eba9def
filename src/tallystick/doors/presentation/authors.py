"""Labels for the authors of a ticket's evidence."""

from collections.abc import Mapping
from typing import Any

WORDS: Mapping[str, str] = {
    "document": "a document",
    "memory": "recorded in memory",
    "customer": "an earlier ticket",
    "log": "a log",
    "web": "a web page",
    "tool": "another tool",
}


def context_label(piece: Mapping[str, Any]) -> str:
    """Return the label of evidence that is only context; empty if it counts, or if an old ticket does not say."""
    if piece.get("counts") is not False:
        return ""
    return f"context only: {WORDS.get(str(piece.get('author')), WORDS['tool'])}"
