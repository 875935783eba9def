"""Infer the effect of a tool from its server's annotations and from its name.

Both are claims, so the more dangerous one counts: a tool annotated as read-only and named `delete_file` is a write. A
tool without annotations is judged by its name: it counts as a read only if the name starts with a reading word and
contains no word that may do more. In doubt it is a write, which needs approval.
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
"""First words of names of read-only tools.

Left out because they often mean something else: query (any SQL), check (in), log (a workout), resolve (an issue).
"""
KNOWN = frozenset({
    "cat", "convert_time", "current_time", "directory_tree", "echo", "git_diff", "git_diff_staged", "git_diff_unstaged",
    "git_log", "git_show", "git_status", "head", "help", "info", "ls", "open_nodes", "ping", "pwd",
    "resolve_library_id", "status", "tree", "version", "wc", "whoami",
})  # fmt: skip
"""Complete names known to be read-only, whatever their words mean elsewhere; mostly from popular servers."""
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
"""Words that indicate a change anywhere in the name."""
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
"""Words that may indicate a change but are often nouns or vague: here a read-only annotation is believed."""
WRITES = STRONG | MILD
AGAIN = ("re", "un")
"""Prefixes to strip before the word lists are checked: `resend`, `unpublish`."""
JOINS = frozenset({"and", "or", "then"})
"""Words that join a second action to the first."""
OUTSIDE = frozenset({
    "browse", "crawl", "download", "fetch", "http", "internet", "navigate", "scrape", "url", "web",
})  # fmt: skip
"""Words of tools that fetch a given address: the request itself sends data to the outside."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def effect_of(definition: Mapping[str, Any]) -> "tuple[Effect, str]":
    """Return the effect of one tool from `tools/list`, with a short reason."""
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
        # The word patterns are ASCII only; other letters could spell anything.
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
