"""Map plain and decorated functions to registered tools, so that a call can be given the function itself."""

from collections.abc import Callable
from typing import Any

from tallystick.errors import RegistrationError
from tallystick.gate.annotations import Codec
from tallystick.gate.tool import Tool


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
