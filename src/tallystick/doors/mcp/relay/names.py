"""Derive the ids of servers and their tools."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import SplitResult, urlsplit

LAUNCHERS = frozenset(
    {
        "npx",
        "npm",
        "node",
        "bunx",
        "bun",
        "deno",
        "pnpm",
        "yarn",
        "uvx",
        "uv",
        "pipx",
        "python",
        "python3",
        "pypy",
        "docker",
        "podman",
        "env",
        "sh",
        "bash",
        "cmd",
        "ruby",
        "java",
        "dotnet",
        "go",
        "cargo",
        "exec",
        "run",
        "dlx",
        "x",
        "tool",
    }
)
"""Words that start a server but do not name it."""

_OPTION_WITH_VALUE = frozenset(
    {"-m", "--from", "--with", "--directory", "--project", "-p", "--python", "-v", "-e", "--name"}
)
_DECORATION = re.compile(
    r"^(?:mcp[-_.]?server|server[-_.]?mcp|mcp|server)[-_.]+|(?<![-_.])[-_.]+(?:mcp[-_.]?server|server|mcp)$"
)
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_NO_TOOL = re.compile(r"[^A-Za-z0-9_.-]")
LONGEST = 40
SEPARATOR = "__"
"""Between a server's name and a tool's behind a gateway; no name of a server there contains it."""
_LOOKED_AT = 400
FALLBACK = "server"


def server_name(command: Sequence[str]) -> str:
    """Derive a short server name from its command: `npx -y @org/server-git` becomes `git`."""
    skip = False
    for place, word in enumerate(command):
        if skip:
            skip = False
            continue
        if word == "-m" and place + 1 < len(command):
            return plain_name(command[place + 1])
        if word.startswith("-"):
            skip = word in _OPTION_WITH_VALUE
            continue
        stem = _stem(word)
        if stem.rstrip("0123456789.") not in LAUNCHERS and "=" not in word:
            return plain_name(stem)
    return plain_name(_stem(command[0])) if command else FALLBACK


def host_name(url: str) -> str:
    """Derive a short server name from its URL."""
    parts = urlsplit(url)
    return plain_name(f"{parts.hostname or FALLBACK}{f'-{port}' if (port := _port(parts)) else ''}")


def shown_url(url: str) -> str:
    """Return a URL that is safe to show: without user name, password and query."""
    parts = urlsplit(url)
    port = _port(parts)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{port}' if port else ''}{parts.path}"


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None  # Not a valid port; connecting reports the error.


def safe_name(given: str) -> str:
    """Return a name that is valid as a folder and as the first part of a tool id."""
    return _NO_NAME.sub("-", given)[:LONGEST].strip("-_") or FALLBACK


def plain_name(given: str) -> str:
    """Like `safe_name`, but without words that only mark a server: `mcp-server-git` becomes `git`."""
    name = _NO_NAME.sub("-", given.rpartition("/")[2].partition("@")[0][:_LOOKED_AT]).strip("-_")
    while (shorter := _DECORATION.sub("", name.lower())) and shorter != name.lower():
        name = shorter
    return name[:LONGEST].strip("-_") or FALLBACK


def tool_id(server: str, name: str) -> str:
    """Return the id of a server's tool; characters that ids do not allow are written as numbers."""
    return f"{server}.{_NO_TOOL.sub(lambda odd: f'-x{ord(odd[0]):x}-', name)}"


def split_name(shown: str) -> tuple[str, str]:
    """Return the server and the server's own name of a tool or prompt behind a gateway."""
    server, _, name = shown.partition(SEPARATOR)
    return server, name


def _stem(word: str) -> str:
    """Strip path, scope, version and suffix: `build/index.js` becomes `build`, `@org/server-git@1.2` `server-git`."""
    if word.startswith("@") or "/" not in word:
        name = word.rpartition("/")[2].partition("@")[0]
        return re.sub(r"\.(?:py|js|mjs|cjs|ts|exe|sh|jar|rb)$", "", name)
    path = PurePath(word)
    generic = path.stem in {"index", "main", "server", "__main__", "cli", "dist", "app"}
    if generic:
        folders = (folder.name for folder in path.parents)
        return next((name for name in folders if name not in {"", "dist", "build", "src", "bin", "lib"}), FALLBACK)
    return re.sub(r"\.(?:py|js|mjs|cjs|ts|exe|sh|jar|rb)$", "", path.name)
