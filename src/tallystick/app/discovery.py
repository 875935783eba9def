"""Find installed rooms by their entry points and load their manifests, but no room."""

import functools
from collections.abc import Container, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tallystick.errors import ConfigError, PartMissing, RoomOff
from tallystick.extras import part_of
from tallystick.plugin import GROUP, Manifest


@functools.cache
def manifests() -> Mapping[str, Manifest]:
    """Return the manifests of all installed rooms, by name.

    Raises:
        ConfigError: An entry point does not load or is not a manifest, or two rooms have the same name.
    """
    found: dict[str, Manifest] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        manifest = _manifest_at(point)
        if found.setdefault(manifest.name, manifest) is not manifest:
            message = f"Two installed distributions bring a room named '{manifest.name}'. Uninstall one of them."
            raise ConfigError(message, code="room_name_taken")
    return found


def _manifest_at(point: EntryPoint) -> Manifest:
    try:
        manifest = point.load()
    except Exception as error:
        message = f"The room '{point.name}' cannot be loaded: {type(error).__name__}: {error}. Reinstall or remove it."
        raise ConfigError(message, code="room_broken") from error
    if not isinstance(manifest, Manifest):
        message = f"The entry point '{point.name}' names {point.value}, which is no tallystick.plugin.Manifest."
        raise ConfigError(message, code="room_broken")
    return manifest


def resolve(manifest: Manifest, field: str, reference: str) -> Any:
    """Import the object that a field of a manifest references as `package.module:attribute`.

    Raises:
        PartMissing: The module needs an extra that is not installed.
        ConfigError: The module cannot be imported or has no such attribute; the message names room and field.
    """
    module, _, attribute = reference.partition(":")
    try:
        return functools.reduce(getattr, attribute.split("."), import_module(module))
    except Exception as error:
        if isinstance(error, ImportError) and (part := part_of(error)) is not None:
            raise part from error
        message = f"The room '{manifest.name}' cannot load {field} ({reference}): {type(error).__name__}: {error}."
        raise ConfigError(message, code="room_broken") from error


def room_unknown(name: str) -> PartMissing:
    """Build the error for a room that no installed distribution brings."""
    known = ", ".join(manifests())
    return PartMissing(f"No room named '{name}' is installed. Installed: {known}.", code="room_unknown")


def room_off(manifest: Manifest) -> RoomOff:
    """Build the error for a room that is switched off, with the command that switches it on."""
    name = manifest.name
    return RoomOff(f"The room {name} is off in this workspace. Switch it on with: tally rooms on {name}")


def room_hint(tool: str, opened: Container[str]) -> str | None:
    """Return the advice for an unknown tool that a closed room would bring; None if no closed room has it."""
    closed = (each for name, each in manifests().items() if name not in opened and tool in each.tools)
    return next((str(closed_room(each)) for each in closed), None)


def closed_room(manifest: Manifest) -> PartMissing:
    """Build the error for an installed room that is not open: a requirement is missing, or the room is off."""
    return unavailable(manifest) if manifest.missing() else room_off(manifest)


def unavailable(manifest: Manifest) -> PartMissing:
    """Build the error for a room whose requirements are not installed, with the command that installs them."""
    return PartMissing(f"Not installed: the room {manifest.name}. Install it with: {manifest.install}")
