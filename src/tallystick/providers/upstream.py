"""Cards for the tools of an MCP server, from what its `tools/list` says."""

from collections.abc import Mapping
from typing import Any

from tallystick.errors import RegistrationError
from tallystick.gate.tool import Card, Effect

SEPARATOR = "."
"""Between server and tool: two servers may offer a tool of the same name, and it stays two tools."""


def card_from_mcp(definition: Mapping[str, Any], *, server: str, strict: bool = False, **card: Any) -> Card:
    """Make a card of one tool of an MCP server; its schemas stay as published.

    What a server says about its own tools is a claim, so a missing or doubtful hint counts as the worse case: a tool
    is `read` only if it says so, and `external` unless it says that it stays at home.

    Args:
        definition: One entry of `tools/list`.
        server: The server's name, put before the tool's.
        strict: Refuse a schema with a pattern that cannot be run, instead of leaving the pattern out.
        card: Fields of `Card` to set besides.
    """
    name, schema = definition.get("name"), definition.get("inputSchema")
    if not isinstance(name, str) or not isinstance(schema, Mapping):
        raise RegistrationError(f"{server}: a tool without a name or an inputSchema", code="definition_invalid")
    output = definition.get("outputSchema")
    if output is not None and not isinstance(output, Mapping):
        # Left unchecked, anything at all could come back under a schema that was promised.
        raise RegistrationError(f"{server}: the outputSchema of '{name:.100}' is no object", code="definition_invalid")
    fields: dict[str, Any] = {
        "name": f"{server}{SEPARATOR}{name}",
        "description": str(definition.get("description") or definition.get("title") or name),
        "input_schema": schema,
        "output_schema": output,
        "effect": _effect(definition.get("annotations")),
        "idempotent": _says(definition.get("annotations"), "idempotentHint"),
        "origin": "upstream",
        "how": "async",
        "strict": strict,
        **card,
    }
    return Card(**fields)


def _effect(annotations: object) -> Effect:
    if _says(annotations, "readOnlyHint"):
        return "read"
    at_home = isinstance(annotations, Mapping) and annotations.get("openWorldHint") is False
    return "write" if at_home else "external"


def _says(annotations: object, hint: str) -> bool:
    return isinstance(annotations, Mapping) and annotations.get(hint) is True
