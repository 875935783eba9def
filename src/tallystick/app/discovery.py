"""Find installed rooms by their entry points and load their manifests, but no room."""

import functools
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tallystick.errors import ConfigError, PartMissing
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


def resolve(reference: str) -> Any:
    """Import the object that a manifest references as `package.module:attribute`.

    Raises:
        ConfigError: The module has no such attribute.
    """
    module, _, attribute = reference.partition(":")
    try:
        return functools.reduce(getattr, attribute.split("."), import_module(module))
    except AttributeError as error:
        raise ConfigError(
            f"The reference {reference!r} of a room leads nowhere: {error}.", code="room_broken"
        ) from error


def unavailable(manifest: Manifest) -> PartMissing:
    """Build the error for a room whose requirements are not installed, with the command that installs them."""
    return PartMissing(f"Not installed: the room {manifest.name}. Install it with: {manifest.install}")
