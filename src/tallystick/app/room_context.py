"""Open rooms: each receives its validated settings and its context, the workspace components it may use."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tallystick.app.discovery import manifests, resolve
from tallystick.app.wiring import Parts
from tallystick.errors import ConfigError
from tallystick.plugin import Manifest, Room
from tallystick.section_values import read_section
from tallystick.settings import CONFIG_NAME

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.recorder import Observer
    from tallystick.gate.tool import Card
    from tallystick.http_port import HttpClient
    from tallystick.mail_port import MailClient
    from tallystick.reading.retriever import ReadDocument, Retriever
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources
    from tallystick.turns.flow_context import FlowContext


def open_rooms(
    parts: Parts, flow_context: "Callable[[], FlowContext]", names: Iterable[str]
) -> Iterator[tuple[str, Room]]:
    """Open the named rooms whose requirements are installed, add each to `parts.rooms` and yield its name and itself.

    Raises:
        ConfigError: The settings of an installed room are invalid, whether it is on or not.
    """
    for each in manifests().values():
        if not each.missing() and parts.settings.rooms.section(each.name):
            options_of(each, parts.settings)
    for name in names:
        manifest = manifests().get(name)
        if manifest is None or manifest.missing():
            continue
        context = OpenedRoomContext(
            parts=parts, manifest=manifest, options=options_of(manifest, parts.settings), flow_context=flow_context
        )
        room: Room = resolve(manifest, "room", manifest.room)(context)
        parts.rooms[manifest.name] = room
        yield manifest.name, room


def check_listed(room: str, tools: Iterable[str]) -> None:
    """Check that the manifest of a room lists the tools that the room registers.

    Raises:
        ConfigError: One is not listed, so a call of it while the room is off would not say how to switch it on.
    """
    unlisted = sorted(frozenset(tools) - frozenset(manifests()[room].tools))
    if unlisted:
        message = f"The room '{room}' registers {', '.join(unlisted)}; its manifest must list them under `tools`."
        raise ConfigError(message, code="room_broken")


def options_of(manifest: Manifest, settings: "Settings") -> Any:
    """Return the room's configuration section, validated by the room's model; None if it takes no settings.

    Raises:
        ConfigError: A key is unknown or a value is invalid; the message names it.
    """
    raw = settings.rooms.section(manifest.name)
    if manifest.settings is None:
        if raw:
            message = f"{CONFIG_NAME}: the room '{manifest.name}' takes no settings. Remove [rooms.{manifest.name}]."
            raise ConfigError(message, code="config_unknown_key")
        return None
    model: type[BaseModel] = resolve(manifest, "settings", manifest.settings)
    return read_section(model, raw, source=CONFIG_NAME, key=f"rooms.{manifest.name}", strict=True)


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

    def retriever(self, corpus: str, read: "ReadDocument") -> "Retriever":
        """See `RoomContext`."""
        return self.parts.retriever(f"{self.manifest.name}-{corpus}", read)

    @property
    def observer(self) -> "Observer | None":
        """See `RoomContext`."""
        return self.parts.observer

    @property
    def http(self) -> "HttpClient":
        """See `RoomContext`."""
        return self.parts.http

    @property
    def mail(self) -> "MailClient":
        """See `RoomContext`."""
        return self.parts.mail

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
