"""Create cards for the tools of an MCP server from its `tools/list` response."""

from collections.abc import Mapping
from typing import Any

from tallystick.errors import RegistrationError
from tallystick.gate.tool import Card, Effect

SEPARATOR = "."
"""Between server and tool, so that tools of the same name on two servers stay distinct."""


def card_from_mcp(definition: Mapping[str, Any], *, server: str, strict: bool = False, **card: Any) -> Card:
    """Create the card of one MCP tool; its schemas stay as published.

    A server's annotations are claims, so a missing or doubtful hint counts as the worse case: a tool is `read` only if
    it says so, and `external` unless it says that it is closed-world.

    Args:
        definition: One entry of `tools/list`.
        server: The server's name, used as a prefix.
        strict: Refuse a schema with an unsupported pattern instead of dropping the pattern.
        card: Other fields of `Card` to set.
    """
    name, schema = definition.get("name"), definition.get("inputSchema")
    if not isinstance(name, str) or not isinstance(schema, Mapping):
        raise RegistrationError(f"{server}: a tool without a name or an inputSchema", code="definition_invalid")
    output = definition.get("outputSchema")
    if output is not None and not isinstance(output, Mapping):
        # If it were ignored, any result could be returned in spite of the promised schema.
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
