"""What a tool may do: from what its server says about it, and from how it is named.

Both are claims, so the worse one counts. A tool that says it only reads and is called `delete_file` is taken to write.
One that says nothing at all is taken by its name: it must begin with a word that reads, and hold none that may do more.
In doubt it is taken to write, and a person is asked.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.gate.tool import Effect

READS = frozenset({
    "calculate", "compare", "compute", "count", "describe", "diff", "estimate", "explore", "find", "get", "grep",
    "inspect", "list", "lookup", "parse", "preview", "read", "search", "show", "stat", "summarise", "summarize", "tail",
    "view",
})  # fmt: skip
"""Words with which the name of a tool begins that looks and touches nothing.

Not here, for they are as often something else: query (any SQL), check (in), log (a workout), resolve (an issue).
"""
KNOWN = frozenset({
    "cat", "convert_time", "current_time", "directory_tree", "echo", "git_diff", "git_diff_staged", "git_diff_unstaged",
    "git_log", "git_show", "git_status", "head", "help", "info", "ls", "open_nodes", "ping", "pwd",
    "resolve_library_id", "status", "tree", "version", "wc", "whoami",
})  # fmt: skip
"""Whole names that are known to read, whatever their words could mean elsewhere: mostly of servers that many have."""
STRONG = frozenset({
    "abort", "activate", "add", "adjust", "alter", "amend", "append", "apply", "approve", "archive", "assign",
    "attach", "authorise", "authorize", "ban", "buy", "bypass", "cancel", "change", "checkout", "chmod", "chown",
    "clear", "click", "clone", "commit", "configure", "copy", "corrupt", "cp", "create", "deactivate",
    "decommission", "decrement", "del", "delete", "demote", "deny", "deploy", "deregister", "destroy", "detach",
    "disable", "discard", "disconnect", "dismiss", "dispatch", "dispose", "downgrade", "downvote", "drop", "edit",
    "eject", "enable", "enqueue", "enroll", "erase", "escalate", "eval", "evict", "exec", "execute", "export",
    "flush", "forget", "fork", "grant", "halt", "hibernate", "impersonate", "import", "increment", "init", "inject",
    "insert", "install", "instantiate", "invalidate", "invite", "invoke", "kick", "kill", "launch", "liquidate",
    "mark", "merge", "migrate", "mkdir", "modify", "move", "mutate", "mv", "navigate", "notify", "nuke",
    "obliterate", "overwrite", "patch", "pay", "persist", "populate", "post", "prepend", "promote", "provision",
    "prune", "publish", "purchase", "purge", "push", "put", "quit", "reboot", "rebuild", "recreate", "redeem",
    "refund", "register", "reinstate", "reject", "release", "remediate", "remove", "rename", "replace", "reply",
    "reset", "restart", "restore", "revert", "revoke", "rewrite", "rid", "rm", "rmdir", "rollback", "save", "send",
    "share", "shred", "shut", "shutdown", "spawn", "submit", "subscribe", "suspend", "sync", "terminate", "toggle",
    "transfer", "transmit", "truncate", "tweet", "undo", "uninstall", "unlink", "unlock", "unset", "update",
    "upgrade", "upload", "upsert", "upvote", "vacuum", "wipe", "withdraw", "write", "zap",
})  # fmt: skip
"""Words that say that something is changed, wherever in the name they stand."""
MILD = frozenset({
    "accept", "acknowledge", "allocate", "allow", "arm", "autofix", "backup", "bash", "begin", "bind", "block",
    "book", "boot", "borrow", "broadcast", "burn", "capture", "charge", "close", "cmd", "command", "compile",
    "complete", "compress", "confirm", "connect", "convert", "crash", "cut", "debit", "decline", "decrypt",
    "deduct", "defer", "deposit", "do", "donate", "download", "drag", "drain", "draw", "dump", "duplicate", "emit",
    "empty", "encrypt", "expire", "extend", "fill", "finish", "fire", "fix", "flash", "follow", "force", "forge",
    "forward", "freeze", "generate", "give", "hide", "hire", "hover", "ingest", "join", "lease", "leave", "lock",
    "login", "logoff", "logout", "make", "mint", "mount", "mute", "offer", "open", "order", "pause", "pin", "play",
    "poke", "press", "prevent", "print", "procure", "proxy", "raise", "react", "rebase", "recover", "redirect",
    "refresh", "rent", "repair", "reserve", "resize", "resolve", "respond", "resume", "retire", "retry", "rotate",
    "run", "sale", "schedule", "scroll", "seed", "sell", "set", "sh", "shell", "ship", "sign", "sleep", "sms",
    "snooze", "spend", "sql", "stage", "start", "stash", "stop", "store", "strip", "sudo", "suppress", "swap",
    "sweep", "switch", "tag", "take", "tap", "throttle", "touch", "trade", "train", "transform", "trash", "trigger",
    "trim", "turn", "type", "unzip", "vote", "wake",
})  # fmt: skip
"""Words that say so, too, but are often nouns, or mean little: a server that says its tool only reads is believed."""
WRITES = STRONG | MILD
AGAIN = ("re", "un")
"""What is done again or undone is done: `resend`, `unpublish`."""
JOINS = frozenset({"and", "or", "then"})
"""Words behind which stands a second thing that a tool does."""
OUTSIDE = frozenset({
    "browse", "crawl", "download", "fetch", "http", "internet", "navigate", "scrape", "url", "web",
})  # fmt: skip
"""Words of tools that go where they are told: what they are asked for is itself a message to the outside."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def effect_of(definition: Mapping[str, Any]) -> "tuple[Effect, str]":
    """The effect of one tool of `tools/list`, and in a few words why."""
    hints = definition.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    name = str(definition.get("name", ""))
    words = [word.lower() for word in _WORDS.findall(name)]
    beyond: Effect = "write" if hints.get("openWorldHint") is False else "external"
    if hints.get("readOnlyHint") is True:
        doubtful = next((word for word in words if _means(word, STRONG) or word in OUTSIDE), None)
        if doubtful is None:
            return "read", "the server says that it only reads"
        return beyond, f"the server says that it only reads, but it is named '{doubtful}'"
    if "readOnlyHint" in hints or hints.get("destructiveHint") is True:
        return beyond, "the server says that it writes"
    if not name.isascii():
        # Letters that are not looked at could spell anything.
        return beyond, "nothing says that it only reads"
    return _by_name(words, beyond)


def _by_name(words: list[str], beyond: "Effect") -> "tuple[Effect, str]":
    if "_".join(words) in KNOWN:
        return "read", "named like a tool that reads"
    writing = next((word for word in words if _means(word, WRITES)), None)
    if writing is not None:
        return beyond, f"named '{writing}'"
    going_out = next((word for word in words if word in OUTSIDE), None)
    if going_out is not None:
        return "external", f"named '{going_out}': it goes where it is told"
    if words and words[0] in READS and JOINS.isdisjoint(words):
        return "read", "named like a tool that reads"
    return beyond, "nothing says that it only reads"


def _means(word: str, meant: frozenset[str]) -> bool:
    return word in meant or (word.startswith(AGAIN) and word[2:] in meant and word not in MILD)
