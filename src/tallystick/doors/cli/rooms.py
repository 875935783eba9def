"""Commands of rooms: listed from their manifests, loaded when one runs."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import typer
from typer.main import get_group

from tallystick.app.discovery import manifests, resolve, unavailable
from tallystick.errors import ConfigError
from tallystick.plugin import CommandReference


@cache
def room_commands() -> Mapping[str, CommandReference]:
    """Return the top-level commands of all installed rooms, by name."""
    return {command.name: command for manifest in manifests().values() for command in manifest.commands}


def room_of(command: str) -> str | None:
    """Return the name of the room that brings a top-level command; None if the command is the gate's own."""
    owners = (each.name for each in manifests().values() for one in each.commands if one.name == command)
    return next(owners, None)


@cache
def room_command(name: str) -> Any:
    """Load a room's command; None if no room has one with this name.

    Raises:
        PartMissing: The room requires something that is not installed.
        ConfigError: The room's function adds no command of this name.
    """
    manifest = next((each for each in manifests().values() if any(name == one.name for one in each.commands)), None)
    if manifest is None:
        return None
    if manifest.missing():
        raise unavailable(manifest)
    root = typer.Typer(rich_markup_mode=None, add_completion=False)
    resolve(manifest, "commands", room_commands()[name].reference)(root)
    found = get_group(root).commands
    if name not in found:
        message = f"The room '{manifest.name}' lists the command '{name}' but adds {', '.join(found) or 'none'}."
        raise ConfigError(message, code="room_broken")
    return found[name]
