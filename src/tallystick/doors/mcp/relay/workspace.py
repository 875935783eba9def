"""Workspaces of wrapped servers: how the settings apply there, and which policy rules concern the server's tools."""

from collections.abc import Iterable
from pathlib import Path

from tallystick.doors.mcp.relay.default_policy import with_defaults
from tallystick.doors.mcp.relay.names import SEPARATOR, split_name, tool_id
from tallystick.doors.mcp.relay.pins import PinBook
from tallystick.settings import Settings


def is_wrapped(workspace: Path) -> bool:
    """Return whether this is the workspace of a wrapped server.

    Raises:
        ConfigError: The pins are damaged.
    """
    return bool(PinBook(workspace).read())


def as_taken(settings: Settings, workspace: Path) -> Settings:
    """Return the settings with the relay's defaults in the workspace of a wrapped server; elsewhere unchanged.

    Raises:
        ConfigError: The pins are damaged.
    """
    return with_defaults(settings) if is_wrapped(workspace) else settings


def relayed(names: Iterable[str], workspace: Path) -> frozenset[str]:
    """Return those tool ids that belong to the wrapped server, whose tools are registered only while it runs.

    Raises:
        ConfigError: The pins are damaged.
    """
    pinned_names = PinBook(workspace).read()
    own = {split_name(name)[1] for name in pinned_names if SEPARATOR in name}
    pinned = {tool_id("", name) for name in own.union(pinned_names)}
    return frozenset(name for name in names if f".{name.partition('.')[2]}" in pinned)
