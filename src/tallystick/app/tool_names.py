"""Which registered tool a function or a decorated function means, so that a call can name the function itself."""

from collections.abc import Callable
from typing import Any

from tallystick.errors import RegistrationError
from tallystick.gate.annotations import Codec
from tallystick.gate.tool import Tool


class ToolNames:
    """The names and the result types of the registered tools. Handlers are not kept here, only their identity."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._registered: set[str] = set()
        self._codecs: dict[str, Codec] = {}

    def add(self, tool: Tool) -> None:
        """Take a tool that was registered."""
        # The runner holds the handler as long as it is registered, so that its id is not used again.
        self._names[id(tool.handler)] = tool.card.name
        self._registered.add(tool.card.name)
        if tool.codec is not None and tool.codec.result is not None:
            self._codecs[tool.card.name] = tool.codec

    def remove(self, name: str) -> None:
        """Forget a tool."""
        self._names = {key: known for key, known in self._names.items() if known != name}
        self._registered.discard(name)
        self._codecs.pop(name, None)

    def known(self, given: Callable[..., Any]) -> str | None:
        """The id under which a function is registered; None: it is not."""
        return self._names.get(id(given.handler if isinstance(given, Tool) else given))

    def name_of(self, given: Callable[..., Any]) -> str:
        """The id of the tool that is meant.

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
        """What reads a recorded result of this tool as its declared type; None: it is the same in JSON."""
        codec = self._codecs.get(name)
        return None if codec is None else codec.read_result
