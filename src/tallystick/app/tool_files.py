"""Load tools from the configured Python files and modules, and find registered tools by their functions."""

import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tallystick.errors import ConfigError, RegistrationError
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.annotations import Codec
from tallystick.gate.tool import Card, Tool


def load_tools(workspace: Path, named: Iterable[str]) -> Iterator[Tool]:
    """Import the named files and modules and yield every tool they define.

    Raises:
        ConfigError: A file is missing, fails to import or defines no tool.
    """
    for name in named:
        module = _from_file(workspace / name, name) if name.endswith(".py") else _from_module(name)
        found = [value for value in vars(module).values() if isinstance(value, Tool)]
        if not found:
            raise ConfigError(f"gate.tools: '{name}' holds no tool. Decorate a function with @tool.", code="no_tools")
        yield from found


def _from_file(path: Path, name: str) -> ModuleType:
    # A unique module name keeps the tools.py of two workspaces apart in `sys.modules`.
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
    """Build the catalogue of tools that a client runs itself and store their definitions for replay.

    Returns:
        None if the client has no tools.

    Raises:
        RegistrationError: A card's origin is not `client`.
    """
    catalogue: Catalogue | None = None
    for card in cards:
        if card.origin != "client":
            raise RegistrationError(f"{card.name}: a client's tool is a card with origin 'client'")
        catalogue = catalogue or Catalogue()
        catalogue.add(card)
        keep(card)
    return catalogue


class ToolNames:
    """Names and result types of the registered tools. It stores the `id()` of handlers, not the handlers."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._registered: set[str] = set()
        self._codecs: dict[str, Codec] = {}

    def add(self, tool: Tool) -> None:
        """Add a registered tool."""
        # The runner references the handler while it is registered, so its `id()` is not reused.
        self._names[id(tool.handler)] = tool.card.name
        self._registered.add(tool.card.name)
        if tool.codec is not None and tool.codec.result is not None:
            self._codecs[tool.card.name] = tool.codec

    def remove(self, name: str) -> None:
        """Remove a tool."""
        self._names = {key: known for key, known in self._names.items() if known != name}
        self._registered.discard(name)
        self._codecs.pop(name, None)

    def known(self, given: Callable[..., Any]) -> str | None:
        """Return the id under which a function is registered; None if it is not."""
        return self._names.get(id(given.handler if isinstance(given, Tool) else given))

    def name_of(self, given: Callable[..., Any]) -> str:
        """Return the tool id for a function; an unregistered function's own name if no tool has that name.

        Raises:
            RegistrationError: Another function is registered under this name.
        """
        known = self.known(given)
        name = given.card.name if isinstance(given, Tool) else getattr(given, "__name__", type(given).__name__)
        if known is None and name in self._registered:
            message = f"The tool '{name}' is another function than the one given. Register this one, or call by name."
            raise RegistrationError(message, code="tool_other")
        return known or name

    def reader_of(self, name: str) -> Callable[[Any], Any] | None:
        """Return the function that converts a recorded JSON result to the declared type; None if none is needed."""
        codec = self._codecs.get(name)
        return None if codec is None else codec.read_result
