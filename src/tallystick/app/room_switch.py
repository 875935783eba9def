"""Which rooms of a workspace are on, and the key `rooms` of `tallystick.toml` that says so.

    rooms = ["studio"]

A room that is off opens nothing: no tools, no routes, no pages. Its data stays. A workspace without the key opens with
every room that it holds data or settings of, so that workspaces older than the key go on.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import orjson

from tallystick.app.config_file import write_config
from tallystick.app.discovery import manifests, room_off, room_unknown, unavailable
from tallystick.errors import ConfigError, malformed_toml
from tallystick.plugin import Manifest
from tallystick.records import record
from tallystick.settings import CONFIG_NAME, CONTROL_ROOM, Settings, load_settings
from tallystick.storage.ledger import audit_folder
from tallystick.storage.table_rows import filled_tables

KEY = "rooms"
INNER_KEY = "enabled"
"""The key in the table `[rooms]`, for files that also hold `[rooms.NAME]`: TOML allows no list beside a table."""

Availability = Literal["on", "off", "missing", "unknown"]


@record
class RoomState:
    """One room as a workspace sees it."""

    name: str
    state: Availability
    """`missing`: on, but a requirement is not installed; `unknown`: named, but no such room is installed."""
    summary: str
    advice: str
    """What to do to use the room; empty if it is on."""


# -- which rooms are on ------------------------------------------------------------------------------------------------


def rooms_on(workspace: Path, settings: Settings) -> tuple[str, ...]:
    """Return the names of the rooms that are on in a workspace, sorted; they need not be installed."""
    chosen = settings.rooms.enabled
    if chosen is not None:
        return tuple(sorted(set(chosen)))
    if not (workspace / CONTROL_ROOM).is_dir():
        # A new workspace holds no data; do not load a database driver to find that out.
        return tuple(sorted(name for name in manifests() if settings.rooms.section(name)))
    return tuple(sorted(name for name, each in manifests().items() if _in_use(each, workspace, settings)))


def room_states(workspace: Path, settings: Settings) -> tuple[RoomState, ...]:
    """Return the state of every room that is installed or named, sorted by name."""
    on = frozenset(rooms_on(workspace, settings))
    return tuple(_state_of(name, is_on=name in on) for name in sorted(on | manifests().keys()))


def unused_sections(settings: Settings) -> tuple[str, ...]:
    """Say which sections `[rooms.NAME]` have no effect, because no such room is installed."""
    unknown = (name for name in settings.rooms.sections() if name not in manifests())
    return tuple(f"[rooms.{name}] has no effect. {room_unknown(name)}" for name in unknown)


def required_manifest(name: str) -> Manifest:
    """Return the manifest of a room that somebody asked for by name.

    Raises:
        PartMissing: No such room is installed, or a requirement of it is not.
    """
    manifest = manifests().get(name)
    if manifest is None:
        raise room_unknown(name)
    if manifest.missing():
        raise unavailable(manifest)
    return manifest


def _state_of(name: str, *, is_on: bool) -> RoomState:
    manifest = manifests().get(name)
    if manifest is None:
        return RoomState(name=name, state="unknown", summary="", advice=str(room_unknown(name)))
    if manifest.missing():
        advice = str(unavailable(manifest))
        return RoomState(name=name, state="missing" if is_on else "off", summary=manifest.summary, advice=advice)
    advice = "" if is_on else str(room_off(manifest))
    return RoomState(name=name, state="on" if is_on else "off", summary=manifest.summary, advice=advice)


def _in_use(manifest: Manifest, workspace: Path, settings: Settings) -> bool:
    """Return whether a workspace holds settings or data of a room."""
    if settings.rooms.section(manifest.name):
        return True
    own, shared = _split(manifest.data_files)
    if _any_file(workspace, own) or filled_tables(settings, workspace, manifest.data_tables):
        return True
    # The user's own files, such as a folder of documents, belong to a room only if the room was open here before.
    return _any_file(workspace, shared) and not kept_tools(workspace).isdisjoint(manifest.tools)


def _split(patterns: Iterable[str]) -> tuple[list[str], list[str]]:
    own = [pattern for pattern in patterns if pattern.startswith(f"{CONTROL_ROOM}/")]
    return own, [pattern for pattern in patterns if pattern not in own]


def _any_file(workspace: Path, patterns: Iterable[str]) -> bool:
    return any(next(workspace.glob(pattern), None) is not None for pattern in patterns)


def kept_tools(workspace: Path) -> frozenset[str]:
    """Return the names of all tools that were ever registered in a workspace."""
    cards = (audit_folder(workspace) / "tools").glob("*.json")
    return frozenset(orjson.loads(card.read_bytes())["name"] for card in cards)


# -- switching ---------------------------------------------------------------------------------------------------------


def switch_rooms(workspace: Path, *, on: Iterable[str] = (), off: Iterable[str] = ()) -> tuple[str, ...]:
    """Write the key `rooms`, with some rooms added or removed, and return the rooms that are on then.

    The first write lists the rooms that were on without the key. Comments and everything else in the file stay.

    Raises:
        ConfigError: The file cannot be read, changed or written, or the environment decides which rooms are on.
    """
    now = rooms_on(workspace, load_settings(workspace))
    wanted = tuple(sorted((frozenset(now) | frozenset(on)) - frozenset(off)))
    path = workspace / CONFIG_NAME
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    changed = _with_rooms(text, wanted)
    if changed != text:
        write_config(path, changed)
    if rooms_on(workspace, load_settings(workspace)) != wanted:
        message = "The environment (TALLY_ROOMS) decides which rooms are on here. Change it there."
        raise ConfigError(message, code="config_from_environment")
    return wanted


def _with_rooms(text: str, names: tuple[str, ...]) -> str:
    """Return the text of a TOML file with another list of rooms."""
    # Loaded here: opening a workspace reads the key and changes nothing.
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import ParseError  # noqa: PLC0415
    from tomlkit.items import Array  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
    except ParseError as error:
        raise malformed_toml(CONFIG_NAME, error) from None
    found = document.get(KEY)
    if found is None:
        # A new key must come before the first table.
        return tomlkit.dumps({KEY: list(names)}) + ("\n" + text if text else "")
    if isinstance(found, Array):
        document[KEY] = list(names)
    else:
        found[INNER_KEY] = list(names)
    return tomlkit.dumps(document)
