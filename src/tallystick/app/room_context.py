"""Open rooms: each receives its validated settings and its context, the workspace components it may use."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from tallystick.app.discovery import manifests, resolve
from tallystick.app.wiring import Parts
from tallystick.errors import ConfigError
from tallystick.plugin import Manifest, Room

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.recorder import Observer
    from tallystick.gate.tool import Card
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources
    from tallystick.turns.flow_context import FlowContext


def open_rooms(parts: Parts, flow_context: "Callable[[], FlowContext]") -> Iterator[Room]:
    """Open every room whose requirements are installed, add it to `parts.rooms` and yield it.

    Raises:
        ConfigError: A room's settings are invalid.
    """
    for manifest in manifests().values():
        if manifest.missing():
            continue
        context = OpenedRoomContext(
            parts=parts, manifest=manifest, options=options_of(manifest, parts.settings), flow_context=flow_context
        )
        room: Room = resolve(manifest.room)(context)
        parts.rooms[manifest.name] = room
        yield room


def options_of(manifest: Manifest, settings: "Settings") -> Any:
    """Return the room's configuration section, validated by the room's model; None if it takes no settings.

    Raises:
        ConfigError: A key is unknown or a value is invalid; the message names it.
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
    """Implements `RoomContext` for one room of an open workspace."""

    parts: Parts
    manifest: Manifest
    options: Any
    flow_context: "Callable[[], FlowContext]"

    @property
    def workspace(self) -> Path:
        """See `RoomContext`."""
        return self.parts.workspace

    @property
    def settings(self) -> "Settings":
        """See `RoomContext`."""
        return self.parts.settings

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
