"""A tool from an operation of an OpenAPI 3.1 document.

The operation's parameters and its JSON body become one input schema; the caller brings the function that sends. Nothing
is fetched: references must lie inside the document, and the gate refuses any that do not.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tallystick.errors import RegistrationError
from tallystick.gate.tool import Card, Tool

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_SAFE = frozenset({"get", "head", "options"})
_COMPONENTS = "#/components/schemas/"
BODY = "body"
"""The argument that carries the request's body."""


@dataclass(frozen=True, kw_only=True)
class Sending:
    """One request, ready to be sent by whoever knows the server."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None


Send = Callable[[Sending], Awaitable[Any]]


def tool_from_operation(document: Mapping[str, Any], operation_id: str, send: Send, **card: Any) -> Tool:
    """Make a tool of one operation.

    Args:
        document: The OpenAPI document.
        operation_id: Which operation.
        send: Sends the request and gives back the JSON answer.
        card: Fields of `Card` to set besides: name, roles, effect, ….

    Raises:
        RegistrationError: There is no such operation, or it cannot be told as JSON Schema.
    """
    path, method, operation = _find(document, operation_id)
    parameters = [_resolved(document, each) for each in operation.get("parameters", [])]
    fields: dict[str, Any] = {
        "name": operation_id,
        "description": operation.get("description") or operation.get("summary") or operation_id,
        "input_schema": _input_schema(document, operation, parameters),
        "output_schema": _output_schema(document, operation),
        "effect": "read" if method in _SAFE else "external",
        "idempotent": method in {*_SAFE, "put", "delete"},
        "origin": "upstream",
        "how": "async",
        **card,
    }

    async def handler(**args: Any) -> Any:
        return await send(_sending(method, path, parameters, args))

    return Tool(card=Card(**fields), handler=handler)


def _find(document: Mapping[str, Any], operation_id: str) -> tuple[str, str, Mapping[str, Any]]:
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            operation = item.get(method)
            if isinstance(operation, Mapping) and operation.get("operationId") == operation_id:
                shared = item.get("parameters", [])
                return path, method, {**operation, "parameters": [*shared, *operation.get("parameters", [])]}
    raise RegistrationError(f"the document has no operation '{operation_id}'", code="operation_unknown")


def _input_schema(
    document: Mapping[str, Any], operation: Mapping[str, Any], parameters: list[Mapping[str, Any]]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        name = parameter["name"]
        if name in properties or name == BODY:
            raise RegistrationError(f"two parameters are called '{name}'", code="operation_ambiguous")
        properties[name] = {"description": parameter.get("description", ""), **_local(parameter.get("schema", {}))}
        if parameter.get("required"):
            required.append(name)
    body = _resolved(document, operation.get("requestBody", {}))
    schema = _json_schema(body)
    if schema is not None:
        properties[BODY] = _local(schema)
        if body.get("required"):
            required.append(BODY)
    made = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return _with_definitions(document, made)


def _output_schema(document: Mapping[str, Any], operation: Mapping[str, Any]) -> dict[str, Any] | None:
    for status, answer in operation.get("responses", {}).items():
        if str(status).startswith("2"):
            schema = _json_schema(_resolved(document, answer))
            return None if schema is None else _with_definitions(document, _local(schema))
    return None


def _json_schema(content_holder: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = content_holder.get("content", {}).get("application/json", {}).get("schema")
    return schema if isinstance(schema, Mapping) else None


def _with_definitions(document: Mapping[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Bring along the components, so that references stay inside the schema."""
    components = document.get("components", {}).get("schemas", {})
    if components and "$ref" in str(schema):
        schema["$defs"] = {name: _local(component) for name, component in components.items()}
    return schema


def _local(schema: Any) -> Any:
    """The same schema with `#/components/schemas/X` said as `#/$defs/X`."""
    if isinstance(schema, Mapping):
        return {
            key: value.replace(_COMPONENTS, "#/$defs/") if key == "$ref" and isinstance(value, str) else _local(value)
            for key, value in schema.items()
        }
    return [_local(item) for item in schema] if isinstance(schema, list) else schema


def _resolved(document: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference to a shared parameter, body or answer, inside the document only."""
    reference = part.get("$ref")
    if reference is None:
        return part
    found: Any = document
    for step in str(reference).removeprefix("#/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    if not str(reference).startswith("#/") or not isinstance(found, Mapping):
        raise RegistrationError(f"'{reference}' is not in the document", code="reference_unknown")
    return found


def _sending(method: str, path: str, parameters: list[Mapping[str, Any]], args: Mapping[str, Any]) -> Sending:
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for parameter in parameters:
        name = parameter["name"]
        if name not in args:
            continue
        place = parameter["in"]
        if place == "path":
            # Everything is quoted, the slash too: an argument must not become another path.
            path = path.replace(f"{{{name}}}", quote(str(args[name]), safe=""))
        elif place == "query":
            query[name] = args[name]
        elif place == "header":
            headers[name] = str(args[name])
    return Sending(method=method.upper(), path=path, query=query, headers=headers, body=args.get(BODY))
