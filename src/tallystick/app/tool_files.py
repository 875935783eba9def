"""Load tools from the configured Python files and modules."""

import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tallystick.errors import ConfigError, RegistrationError
from tallystick.gate.admit.names import Catalogue
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
