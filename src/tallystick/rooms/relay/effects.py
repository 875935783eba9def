"""What a tool may do: from what its server says about it, and from how it is named.

Both are claims, so the worse one counts. A tool that says it only reads and is called `delete_file` is taken to write.
One that says nothing at all is taken by its name, and by nothing else to be harmless.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.gate.tool import Effect

READS = frozenset({
    "get", "list", "read", "search", "find", "show", "describe", "view", "fetch", "lookup", "query", "count",
    "status", "diff", "log", "check", "validate", "help", "info", "inspect", "browse", "explore", "summarize",
    "summarise", "stat", "tree", "head", "tail", "grep", "echo", "ping", "convert", "current", "compare", "resolve",
    "preview", "estimate", "calculate", "compute", "parse", "explain",
})  # fmt: skip
"""Words with which the name of a tool begins or ends that looks and touches nothing."""
WRITES = frozenset({
    "add", "append", "apply", "approve", "archive", "assign", "book", "buy", "cancel", "change", "checkout", "click",
    "clear", "clone", "close", "commit", "copy", "create", "delete", "deploy", "disable", "drop", "edit", "enable",
    "erase", "exec", "execute", "export", "fill", "fork", "grant", "import", "init", "insert", "install", "invite",
    "kill", "launch", "merge", "modify", "move", "mutate", "navigate", "open", "order", "patch", "pay", "play",
    "post", "publish", "purchase", "push", "put", "reject", "release", "remove", "rename", "replace", "reply",
    "reset", "restart", "restore", "revoke", "rm", "run", "save", "schedule", "send", "set", "share", "start", "stop",
    "store", "submit", "subscribe", "sync", "transfer", "trigger", "type", "undo", "uninstall", "unset", "update",
    "upload", "upsert", "write", "wipe",
})  # fmt: skip
"""Words that say that something is changed, wherever in the name they stand."""
MILD = frozenset({
    "book", "close", "fill", "open", "order", "play", "run", "schedule", "set", "start", "stop", "store", "trigger",
    "type",
})  # fmt: skip
"""Of those, words that are often nouns, or mean little: a server that says its tool only reads is believed."""
OUTSIDE = frozenset({
    "browse", "crawl", "download", "fetch", "http", "internet", "navigate", "scrape", "url", "web",
})  # fmt: skip
"""Words of tools that go where they are told: what they are asked for is itself a message to the outside."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def effect_of(definition: Mapping[str, Any]) -> "tuple[Effect, str]":
    """The effect of one tool of `tools/list`, and in a few words why."""
    hints = definition.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    words = [word.lower() for word in _WORDS.findall(str(definition.get("name", "")))]
    writing = next((word for word in words if word in WRITES), None)
    beyond: Effect = "write" if hints.get("openWorldHint") is False else "external"
    if hints.get("readOnlyHint") is True:
        doubtful = next((word for word in words if word in (WRITES - MILD) | OUTSIDE), None)
        if doubtful is None:
            return "read", "the server says that it only reads"
        return beyond, f"the server says that it only reads, but it is named '{doubtful}'"
    if "readOnlyHint" in hints or hints.get("destructiveHint") is True:
        return beyond, "the server says that it writes"
    return (beyond, f"named '{writing}'") if writing is not None else _by_name(words, beyond)


def _by_name(words: list[str], beyond: "Effect") -> "tuple[Effect, str]":
    going_out = next((word for word in words if word in OUTSIDE), None)
    if going_out is not None:
        return "external", f"named '{going_out}': it goes where it is told"
    if words and not READS.isdisjoint((words[0], words[-1], *words[1:2])):
        return "read", "named like a tool that reads"
    return beyond, "nothing says that it only reads"
