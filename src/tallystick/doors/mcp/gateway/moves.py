"""Move the servers of a client's config behind the gateway, and back.

Entries move as they are. A view named after the client remembers which servers came from it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.doors.mcp.gateway.servers import FILE, TABLE, VIEWS, is_server_name, read_servers
from tallystick.doors.mcp.relay.clients import ADDRESSES, Client, is_wrapped, unwrapped
from tallystick.records import record
from tallystick.storage.json_file import JsonFile

GATEWAY = "tallystick"
"""The name of the gateway's entry in a client's config."""
Entries = dict[str, Any]


@record
class ConfigMove:
    """What a move changes."""

    client: Entries
    """The entries in the client's config afterwards."""
    gateway: dict[str, Any]
    """The content of `servers.json` afterwards."""
    moved: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    """Servers that stay where they are, and why."""


def moved_in(
    entries: Mapping[str, Any], client: Client, workspace: Path, *, tally: str, login: frozenset[str]
) -> ConfigMove:
    """Return a client's entries behind the gateway.

    Args:
        entries: The servers in the client's config.
        client: The client.
        workspace: The gateway's workspace.
        tally: The path of the command.
        login: Names of servers that need a login of the client's own.

    Raises:
        ConfigError: The gateway's list cannot be used.
    """
    whole = _read(workspace)
    servers, moved, left = dict(whole.get(TABLE, {})), dict[str, Any](), list[tuple[str, str]]()
    for name, entry in entries.items():
        if name == GATEWAY:
            continue
        made = unwrapped(entry, address=client.address, typed=client.typed) if _wrapped(entry) else entry
        why = _not_carried(name, made, servers.get(name)) or (LOGIN if name in login else None)
        if why is not None:
            left.append((name, why))
        else:
            moved[name] = made
    if not moved:
        return ConfigMove(client=dict(entries), gateway=whole, moved=(), left=tuple(left))
    view = list(dict.fromkeys([*whole.get(VIEWS, {}).get(client.name, []), *moved]))
    own = {**dict(client.more), "command": tally, "args": ["mcp", "gateway", "--view", client.name]}
    kept = {name: entry for name, entry in entries.items() if name not in moved and name != GATEWAY}
    made_client = {**kept, GATEWAY: {"type": "stdio", **own} if client.typed else own}
    views = {**whole.get(VIEWS, {}), client.name: view}
    whole = {**whole, TABLE: {**servers, **moved}, VIEWS: views}
    return ConfigMove(client=made_client, gateway=whole, moved=tuple(moved), left=tuple(left))


def moved_out(entries: Mapping[str, Any], client: Client, workspace: Path) -> ConfigMove:
    """Return a client's entries without the gateway, with the servers of its view.

    Raises:
        ConfigError: The gateway's list cannot be used.
    """
    whole = _read(workspace)
    servers, views = dict(whole.get(TABLE, {})), dict(whole.get(VIEWS, {}))
    back = {name: servers[name] for name in views.pop(client.name, [])}
    if GATEWAY not in entries:
        return ConfigMove(client=dict(entries), gateway=_read(workspace), moved=(), left=())
    others = {name for shown in views.values() for name in shown}
    # A server that other clients still see stays behind the gateway, too.
    left = {name: entry for name, entry in servers.items() if name in others or name not in back}
    kept = {name: entry for name, entry in entries.items() if name != GATEWAY}
    whole = {**whole, TABLE: left, VIEWS: views}
    return ConfigMove(client={**back, **kept}, gateway=whole, moved=tuple(back), left=())


def write_list(workspace: Path, whole: dict[str, Any]) -> None:
    """Write the gateway's list of servers, readable by its owner alone: environments hold tokens.

    Raises:
        ConfigError: The folder is not writable.
    """
    file = JsonFile(workspace / FILE, code="servers_unusable")
    with file.locked():
        file.write(whole)
    (workspace / FILE).chmod(0o600)


LOGIN = "it asks for a login (OAuth), which only the client itself can do"


def _not_carried(name: str, entry: Any, other: Any) -> str | None:
    """Return why an entry cannot move; None if it can."""
    if not isinstance(entry, dict) or not any(isinstance(entry.get(key), str) for key in ("command", *ADDRESSES)):
        return "it has no command and no address"
    if not is_server_name(name):
        return "its name cannot stand before a tool's; rename it"
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return "it is switched off"
    if entry.get("type", entry.get("transport")) == "sse":
        return "the older HTTP+SSE transport is not spoken"
    if "${" in json.dumps(entry):
        return "it has variables that only the client knows"
    return None if other in (None, entry) else "another server behind the gateway has this name"


def _wrapped(entry: Any) -> bool:
    return isinstance(entry, Mapping) and is_wrapped(entry)


def _read(workspace: Path) -> dict[str, Any]:
    read_servers(workspace)
    try:
        whole: dict[str, Any] = json.loads((workspace / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return whole
