"""Headers sent with each request to an HTTP server: from the user, from the server's responses, and for routing.

Revisions without a session require routing headers (protocol revision, method, name and arguments) and refuse a request
whose headers and body differ. The relay's client uses stdio, so the relay derives these headers from the message and
from the server's published schemas: a property with `x-mcp-header` is repeated in a header of that name.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.doors.mcp.answers import params_of, sessionless_revision
from tallystick.doors.mcp.jsonrpc import CALL, Message
from tallystick.errors import ConfigError
from tallystick.providers.net.connection_pool import can_be_sent
from tallystick.settings import key_variable

LONGEST_KEPT = 4096
"""Maximum characters of a header value that the server supplied."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def given_header(text: str) -> tuple[str, str]:
    """Parse a `Name: value` header and insert environment variables, so that config files need not contain tokens.

    Raises:
        ConfigError: A variable is not set, or the header is not valid.
    """
    name, _, value = text.partition(":")

    def variable(found: re.Match[str]) -> str:
        known = key_variable(found[1])
        if known is None:
            message = (
                f"--header {name}: the environment variable {found[1]} is not set. Set it where the client starts."
            )
            raise ConfigError(message, code="variable_not_set")
        return known

    # A variable that was read from a file often ends with a line break.
    made = name.strip(), _VARIABLE.sub(variable, value).strip()
    if not can_be_sent(made[1], name=made[0]):
        # The value may be a secret, so it is not shown.
        message = f"--header {name}: a header holds letters, digits and signs of ASCII, on one line. Correct its value."
        raise ConfigError(message, code="header_unusable")
    return made


def can_be_kept(value: str) -> bool:
    """Return whether a value from the server is valid as a header of later requests."""
    return len(value) <= LONGEST_KEPT and can_be_sent(value)


REVISION = "Mcp-Protocol-Version"
METHOD, NAME, ARGUMENT = "Mcp-Method", "Mcp-Name", "Mcp-Param-"
NAMED_BY = {
    CALL: "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **{f"tasks/{verb}": "taskId" for verb in ("get", "update", "cancel")},
}
"""Method → the parameter that `Mcp-Name` repeats."""
DECLARED = "x-mcp-header"
DEEPEST = 64
"""Maximum depth of a schema that is searched."""
_ENCODED = re.compile(r"=\?base64\?.*\?=", re.DOTALL)
Path = tuple[str, ...]


class RoutingHeaders:
    """Knows which arguments the server's tools repeat in headers, and builds the headers of each request."""

    def __init__(self) -> None:
        self._declared: dict[str, dict[Path, str]] = {}
        """Tool → path of a property → name of its header."""

    def learn(self, response: Message) -> None:
        """Read the header declarations from a tool list."""
        result = response.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._declared[name] = dict(_declared(tool.get("inputSchema"), ()))

    def headers_of(self, message: Any) -> dict[str, str]:
        """Return the headers of a message; none for a message within a session."""
        revision = sessionless_revision(message) if isinstance(message, dict) else None
        if revision is None:
            return {}
        method, params = str(message.get("method")), params_of(message)
        headers = {REVISION: _encoded(revision), METHOD: _encoded(method)}
        name = params.get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers[NAME] = _encoded(name)
            if method == CALL:
                headers |= self._arguments(name, params.get("arguments"))
        return headers

    def _arguments(self, tool: str, args: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        for path, header in self._declared.get(tool, {}).items():
            text = _text(_at(args, path))
            if text is not None:
                found[ARGUMENT + header] = _encoded(text)
        return found


def _declared(schema: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield each property that asks for a header; only nested `properties` are searched."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or len(path) >= DEEPEST:
        return
    for name, inner in properties.items():
        header = inner.get(DECLARED) if isinstance(inner, Mapping) else None
        if isinstance(header, str) and can_be_sent("", name=ARGUMENT + header):
            yield (*path, name), header
        yield from _declared(inner, (*path, name))


def _at(args: Any, path: Path) -> Any:
    for name in path:
        args = args.get(name) if isinstance(args, Mapping) else None
    return args


def _text(value: Any) -> str | None:
    """Return a value as header text; None if it is not a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _encoded(text: str) -> str:
    """Encode header text: unchanged if it is valid, else in Base64."""
    if can_be_sent(text) and "\t" not in text and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='surrogatepass')).decode()}?="
