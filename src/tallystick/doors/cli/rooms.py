"""Commands of rooms: listed from their manifests, loaded when one runs."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import typer
from typer.main import get_group

from tallystick.app.discovery import manifests, resolve, unavailable
from tallystick.plugin import CommandReference


@cache
def room_commands() -> Mapping[str, CommandReference]:
    """Return the top-level commands of all installed rooms, by name."""
    return {command.name: command for manifest in manifests().values() for command in manifest.commands}


@cache
def room_command(name: str) -> Any:
    """Load a room's command; None if no room has one with this name.

    Raises:
        PartMissing: The room requires something that is not installed.
    """
    manifest = next((each for each in manifests().values() if any(name == one.name for one in each.commands)), None)
    if manifest is None:
        return None
    if manifest.missing():
        raise unavailable(manifest)
    root = typer.Typer(rich_markup_mode=None, add_completion=False)
    resolve(room_commands()[name].reference)(root)
    return get_group(root).commands.get(name)
