"""A workspace in which a server was wrapped: what its configuration means there, and which rules are for its tools."""

from collections.abc import Iterable
from pathlib import Path

from tallystick.doors.mcp.relay.default_policy import with_defaults
from tallystick.doors.mcp.relay.names import tool_id
from tallystick.doors.mcp.relay.pins import PinBook
from tallystick.settings import Settings


def is_wrapped(workspace: Path) -> bool:
    """Whether a server was met here.

    Raises:
        ConfigError: What is known about it is damaged.
    """
    return bool(PinBook(workspace).read())


def as_taken(settings: Settings, workspace: Path) -> Settings:
    """A configuration as the relay takes it where a server was wrapped; elsewhere it is as it is.

    Raises:
        ConfigError: What is known about the server is damaged.
    """
    return with_defaults(settings) if is_wrapped(workspace) else settings


def relayed(names: Iterable[str], workspace: Path) -> frozenset[str]:
    """Of some tools' ids, those of the wrapped server: its tools are registered only while it runs.

    Raises:
        ConfigError: What is known about the server is damaged.
    """
    pinned = {tool_id("", name) for name in PinBook(workspace).read()}
    return frozenset(name for name in names if f".{name.partition('.')[2]}" in pinned)
