"""Tools that the configuration names, and rooms that are installed."""

import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tallystick.bootstrap.rooms import Room
from tallystick.errors import ConfigError, PartMissing, RegistrationError
from tallystick.extras import EXTRAS, need, part_of
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.tool import Card, Tool

if TYPE_CHECKING:
    from tallystick.bootstrap.wiring import Parts
    from tallystick.turns.hands import Hands

GROUP = "tallystick.rooms"


def load_tools(workspace: Path, named: Iterable[str]) -> Iterator[Tool]:
    """Import the named files and modules, and give every tool that stands in them.

    Raises:
        ConfigError: A file that is not there or fails to import.
    """
    for name in named:
        module = _from_file(workspace / name, name) if name.endswith(".py") else _from_module(name)
        found = [value for value in vars(module).values() if isinstance(value, Tool)]
        if not found:
            raise ConfigError(f"gate.tools: '{name}' holds no tool. Decorate a function with @tool.", code="no_tools")
        yield from found


def known_rooms() -> Iterator[tuple[str, Callable[[Any], Room] | PartMissing]]:
    """Every room that a distribution offers: by its name what makes it, or why it is unavailable."""
    for found in entry_points(group=GROUP):
        yield found.name, _loaded(found)


def room_names() -> frozenset[str]:
    """The names of all rooms that a distribution offers, available or not."""
    return frozenset(found.name for found in entry_points(group=GROUP))


def _loaded(found: EntryPoint) -> Callable[[Any], Room] | PartMissing:
    """A room's entry point. Without its packages the room is unavailable, and everything else works."""
    try:
        if found.module.startswith("tallystick.") and found.name in EXTRAS:
            need(found.name)
        made: Callable[[Any], Room] = found.load()
    except PartMissing as missing:
        return missing
    except ModuleNotFoundError as error:
        return part_of(error) or PartMissing(
            f"The room {found.name} needs the module '{error.name}', which is not installed."
        )
    return made


def load_rooms(parts: "Parts", gate: Any) -> Iterator[Tool]:
    """The tools of every available room; the rooms themselves are kept with the parts, for the doors."""
    for name, made in known_rooms():
        if isinstance(made, PartMissing):
            parts.unavailable[name] = made
            continue
        room = made(parts)
        parts.rooms[room.name] = room
        join = getattr(room, "join", None)
        if join is not None:
            join(lambda: _hands_at(gate))
        yield from room.tools()


def _hands_at(gate: Any) -> "Hands":
    """What a room's tool asks agents with. Hands need the gate, and the gate loads rooms: so they are made on use."""
    hands: Hands = import_module("tallystick.bootstrap.hands").GateHands(gate)
    return hands


def _from_file(path: Path, name: str) -> ModuleType:
    # A name of its own, so that two workspaces' tools.py do not meet.
    unique = f"tallystick_tools_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(unique, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ConfigError(f"gate.tools: '{name}' is not there. Paths are relative to the workspace.", code="no_tools")
    module = module_from_spec(spec)
    sys.modules[unique] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"gate.tools: '{name}' fails: {type(error).__name__}: {error}", code="no_tools") from error
    return module


def _from_module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(f"gate.tools: module '{name}' cannot be imported: {error}", code="no_tools") from error


def client_catalogue(cards: Iterable[Card], keep: Callable[[Card], None]) -> Catalogue | None:
    """The tools that a client runs itself, their definitions kept for replay; None if it has none."""
    catalogue: Catalogue | None = None
    for card in cards:
        if card.origin != "client":
            raise RegistrationError(f"{card.name}: a client's tool is a card with origin 'client'")
        catalogue = catalogue or Catalogue()
        catalogue.add(card)
        keep(card)
    return catalogue
