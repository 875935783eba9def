"""Rooms, opened for a workspace and asked for what they bring. Nothing here knows a room by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from tallystick.app.discovery import manifests, resolve
from tallystick.errors import ConfigError
from tallystick.plugin import Manifest, Room
from tallystick.turns.wording import Wording, Wordings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tallystick.app.wiring import Parts
    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.recorder import Observer
    from tallystick.gate.tool import Card
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources
    from tallystick.turns.hands import Hands


def options_of(manifest: Manifest, settings: "Settings") -> Any:
    """The room's section of the configuration, checked by the room's own model; None if it takes no settings.

    Raises:
        ConfigError: An unknown key or a wrong value; the message names it.
    """
    raw = settings.rooms.get(manifest.name, {})
    if manifest.settings is None:
        if raw:
            message = f"tallystick.toml: the room '{manifest.name}' takes no settings. Remove [rooms.{manifest.name}]."
            raise ConfigError(message, code="config_unknown_key")
        return None
    model: type[BaseModel] = resolve(manifest.settings)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(("rooms", manifest.name, *(str(part) for part in first["loc"])))
        if first["type"] == "extra_forbidden":
            message = f"tallystick.toml: unknown key '{key}'. Remove it, or check its spelling."
            raise ConfigError(message, code="config_unknown_key") from None
        raise ConfigError(f"tallystick.toml: '{key}': {first['msg']}.", code="config_bad_value") from None


@dataclass(kw_only=True, eq=False)
class OpenedRoomContext:
    """What one room is given of an open workspace; satisfies `RoomContext`."""

    parts: "Parts"
    manifest: Manifest
    flow_context: "Callable[[], Hands]"

    @property
    def workspace(self) -> Path:
        """See `RoomContext`."""
        return self.parts.workspace

    @property
    def settings(self) -> "Settings":
        """See `RoomContext`."""
        return self.parts.settings

    @cached_property
    def options(self) -> Any:
        """See `RoomContext`."""
        return options_of(self.manifest, self.parts.settings)

    @property
    def ledger(self) -> "Ledger":
        """See `RoomContext`."""
        return self.parts.ledger

    @cached_property
    def engine(self) -> "Engine":
        """See `RoomContext`."""
        engine = self.parts.engine
        if self.manifest.migrations is not None:
            from tallystick.storage.database import migrate_room  # noqa: PLC0415 - loads the SQL toolkit

            migrate_room(engine, self.manifest.name, import_module(self.manifest.migrations))
        return engine

    @property
    def sources(self) -> "FileSources":
        """See `RoomContext`."""
        return self.parts.sources

    @property
    def embeddings(self) -> Any:
        """See `RoomContext`."""
        return self.parts.embeddings

    @property
    def observer(self) -> "Observer | None":
        """See `RoomContext`."""
        return self.parts.observer

    def cards(self) -> "Mapping[str, Card]":
        """See `RoomContext`."""
        return {entry.card.name: entry.card for entry in self.parts.pipeline.catalogue.entries()}

    def now_ms(self) -> int:
        """See `RoomContext`."""
        return self.parts.now_ms()

    def monotonic(self) -> float:
        """See `RoomContext`."""
        return self.parts.monotonic()

    def new_id(self, kind: str) -> str:
        """See `RoomContext`."""
        return self.parts.new_id(kind)

    def random(self, size: int) -> bytes:
        """See `RoomContext`."""
        return self.parts.random(size)


def open_rooms(parts: "Parts", flow_context: "Callable[[], Hands]") -> Iterator[Room]:
    """Open every room whose requirements are installed; `parts.rooms` holds them from then on.

    Raises:
        ConfigError: The room's settings are wrong.
    """
    for manifest in manifests().values():
        if manifest.missing():
            continue
        context = OpenedRoomContext(parts=parts, manifest=manifest, flow_context=flow_context)
        room: Room = resolve(manifest.room)(context)
        parts.rooms[manifest.name] = room
        yield room


def close_rooms(rooms: Iterable[Room]) -> None:
    """Close every room, also when one of them fails to."""
    from contextlib import ExitStack  # noqa: PLC0415 - only at the end

    with ExitStack() as stack:
        for room in rooms:
            stack.callback(room.close)


def wordings_of(rooms: Iterable[Room]) -> Wordings:
    """How the rooms word tools for models."""
    wordings: dict[str, Wording] = {}
    for room in rooms:
        wordings |= room.wordings()
    return wordings


class RoomRecords(Mapping[str, Callable[[str], str | None]]):
    """What replies may cite of the rooms: prefix (`ticket`) → what gives a record's text. Rooms may open later."""

    def __init__(self, rooms: Mapping[str, Room]) -> None:
        self._rooms = rooms

    def __getitem__(self, prefix: str) -> Callable[[str], str | None]:
        """The function of one prefix."""
        return self._all()[prefix]

    def __iter__(self) -> Iterator[str]:
        """The prefixes."""
        return iter(self._all())

    def __len__(self) -> int:
        """The number of prefixes."""
        return len(self._all())

    def _all(self) -> dict[str, Callable[[str], str | None]]:
        return {prefix: text for room in self._rooms.values() for prefix, text in room.records().items()}


def recompute(rooms: Mapping[str, Room], query: str) -> Decimal | None:
    """A figure, from the first room that knows the query."""
    values = (room.figure(query) for room in rooms.values())
    return next((value for value in values if value is not None), None)
