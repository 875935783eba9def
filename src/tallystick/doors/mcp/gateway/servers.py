"""The servers of a gateway, from `servers.json` in its workspace.

The file has the form that MCP clients use, so entries move between a client's config and the gateway unchanged:

    {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}, "docs": {"url": "https://example.org/mcp"}},
     "views": {"cursor": ["git"]}}
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.doors.mcp.relay.clients import ADDRESSES
from tallystick.doors.mcp.relay.names import LONGEST
from tallystick.errors import ConfigError
from tallystick.records import record

FILE = "servers.json"
TABLE, VIEWS = "mcpServers", "views"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_))*(?<!_)")


@record
class GatewayServer:
    """How one server is reached."""

    name: str
    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    url: str | None = None
    headers: tuple[str, ...] = ()


@record
class ServerList:
    """All servers of a gateway, and which of them each view shows."""

    servers: Mapping[str, GatewayServer]
    views: Mapping[str, frozenset[str]]

    def shown(self, view: str | None) -> frozenset[str]:
        """Return the names of the servers in a view; all without one.

        Raises:
            ConfigError: There is no such view.
        """
        if view is None:
            return frozenset(self.servers)
        if view not in self.views:
            known = ", ".join(sorted(self.views)) or "none"
            raise ConfigError(f"{FILE} has no view '{view}'. It has: {known}.", code="view_unknown")
        return self.views[view]


def read_servers(workspace: Path) -> ServerList:
    """Return the servers of a gateway; none if the file does not exist.

    Raises:
        ConfigError: The file cannot be used.
    """
    path = workspace / FILE
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ServerList(servers={}, views={})
    except (OSError, ValueError) as error:
        raise _unusable(path, f"cannot be read: {error}") from None
    entries = whole.get(TABLE, {}) if isinstance(whole, dict) else None
    views = whole.get(VIEWS, {}) if isinstance(whole, dict) else None
    if not isinstance(entries, dict) or not isinstance(views, dict):
        raise _unusable(path, f"'{TABLE}' and '{VIEWS}' are tables")
    servers = {name: _server(path, name, entry) for name, entry in entries.items()}
    return ServerList(servers=servers, views={name: _view(path, name, shown, servers) for name, shown in views.items()})


def is_server_name(name: str) -> bool:
    """Return whether a name can stand before a tool's name without ambiguity."""
    return len(name) <= LONGEST and _NAME.fullmatch(name) is not None


def _server(path: Path, name: str, entry: Any) -> GatewayServer:
    if not is_server_name(name):
        raise _unusable(path, f"'{name}' is no name of a server: use letters, digits, '-' and single '_'")
    if not isinstance(entry, dict):
        raise _unusable(path, f"'{name}' is not a table")
    command, args, env = entry.get("command"), entry.get("args", []), entry.get("env") or {}
    url = next((entry[key] for key in ADDRESSES if isinstance(entry.get(key), str)), None)
    headers = entry.get("headers") or {}
    words = [command, *args] if isinstance(command, str) and isinstance(args, list) else []
    texts = [*words, *(env.values() if isinstance(env, dict) else [None])]
    texts += headers.values() if isinstance(headers, dict) else [None]
    if (url is None) == (not words) or not all(isinstance(text, str) for text in texts):
        raise _unusable(path, f"'{name}' needs a command with its args, or a url; env and headers hold texts")
    cwd = entry.get("cwd")
    return GatewayServer(
        name=name,
        command=tuple(words),
        env=tuple(env.items()),
        cwd=cwd if isinstance(cwd, str) else None,
        url=url,
        headers=tuple(f"{header}: {value}" for header, value in headers.items()),
    )


def _view(path: Path, name: str, shown: Any, servers: Mapping[str, GatewayServer]) -> frozenset[str]:
    unknown = [one for one in shown if one not in servers] if isinstance(shown, list) else [shown]
    if unknown:
        raise _unusable(path, f"the view '{name}' names '{unknown[0]}', which is no server there")
    return frozenset(shown)


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{path}: {why}. Correct the file.", code="servers_unusable")
