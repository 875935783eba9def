"""Create a tool from an operation of an OpenAPI 3.1 document.

The operation's parameters and its JSON body become one input schema; the caller supplies the function that sends the
request. Nothing is fetched: references must point into the document, and the gate refuses any that do not. Parts that
JSON Schema cannot express, or that would be lost, are refused when the tool is created.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import Unpack

from tallystick.errors import RegistrationError
from tallystick.gate.tool import Card, CardFields, Tool
from tallystick.providers.operation_request import Parameter, Send, build_request

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_SAFE = frozenset({"get", "head", "options"})
_COMPONENTS = "#/components/schemas/"
_OURS_TO_SEND = frozenset({"accept", "content-type", "authorization"})
"""Headers that an OpenAPI parameter cannot set, because the sender sets them."""
_MAX_STEPS = 16
"""Maximum length of a chain of references; longer ones are treated as cycles."""
BODY = "body"
"""The argument that contains the request body."""


def tool_from_operation(
    document: Mapping[str, Any], operation_id: str, send: Send, *, name: str | None = None, **card: Unpack[CardFields]
) -> Tool:
    """Create a tool from one operation.

    Args:
        document: The OpenAPI document.
        operation_id: The operation.
        send: Sends the request and returns the JSON response, such as `HttpSender(base_url)`.
        name: The tool's name; by default the operation's.
        card: Other fields of `Card` to set: roles, effect, ….

    Raises:
        RegistrationError: There is no such operation, or JSON Schema cannot express it.
    """
    path, method, item, operation = _find(document, operation_id)
    parameters = _parameters(document, item, operation)
    body = _body(document, operation)
    fields: dict[str, Any] = {
        "name": name or operation_id,
        "description": operation.get("description") or operation.get("summary") or operation_id,
        "input_schema": _input_schema(document, parameters, body),
        "output_schema": _output_schema(document, operation),
        "effect": "read" if method in _SAFE else "external",
        "idempotent": method in {*_SAFE, "put", "delete"},
        "origin": "upstream",
        "how": "async",
        **card,
    }

    async def handler(**args: Any) -> Any:
        return await send(build_request(method, path, parameters, args, body=None if body is None else BODY))

    return Tool(card=Card(**fields), handler=handler)


def _find(document: Mapping[str, Any], operation_id: str) -> tuple[str, str, Mapping[str, Any], Mapping[str, Any]]:
    """Return path, method, path item and operation."""
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, Mapping) else ():
        for method in _METHODS if isinstance(item, Mapping) else ():
            operation = item.get(method)
            if isinstance(operation, Mapping) and operation.get("operationId") == operation_id:
                return path, method, item, operation
    raise RegistrationError(f"the document has no operation '{operation_id}'", code="operation_unknown")


def _parameters(document: Mapping[str, Any], item: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Parameter]:
    """Return the parameters; an operation's own parameter overrides the path's of the same name and place."""
    found: dict[tuple[str, str], Parameter] = {}
    for holder in (item, operation):
        for parameter in _read_parameters(document, holder.get("parameters", [])):
            found[parameter.name, parameter.place] = parameter
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RegistrationError(f"two parameters are called '{twice}'", code="operation_ambiguous")
    return list(found.values())


def _read_parameters(document: Mapping[str, Any], parts: Any) -> Iterator[Parameter]:
    for part in parts if isinstance(parts, list) else ():
        given = _resolved(document, part)
        name, place, required = given.get("name"), given.get("in"), given.get("required") is True
        if not isinstance(name, str) or place not in {"path", "query", "header", "cookie"}:
            raise RegistrationError("a parameter has no name or no place", code="operation_invalid")
        if place == "header" and name.lower() in _OURS_TO_SEND:
            continue
        schema = given.get("schema")
        if place == "cookie" or not isinstance(schema, Mapping):
            if required:
                message = f"parameter '{name}' is a cookie or has no schema; it cannot be given as an argument"
                raise RegistrationError(message, code="operation_unsupported")
            continue
        described = {"description": given.get("description", ""), **_local(schema)}
        yield Parameter(name=name, place=place, required=required or place == "path", schema=described)


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[Any, bool] | None:
    """Return the schema of the JSON body, and whether it is required."""
    body = _resolved(document, operation.get("requestBody", {}))
    schema, required = _json_schema(body), body.get("required") is True
    if schema is None:
        if required:
            raise RegistrationError("the operation needs a body that is not JSON", code="operation_unsupported")
        return None
    return _local(schema), required


def _input_schema(
    document: Mapping[str, Any], parameters: list[Parameter], body: tuple[Any, bool] | None
) -> dict[str, Any]:
    properties: dict[str, Any] = {parameter.name: parameter.schema for parameter in parameters}
    required = [parameter.name for parameter in parameters if parameter.required]
    if body is not None:
        if BODY in properties:
            raise RegistrationError(f"a parameter is called '{BODY}', as the body is", code="operation_ambiguous")
        properties[BODY] = body[0]
        required += [BODY] if body[1] else []
    made = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return _with_definitions(document, made)


def _output_schema(document: Mapping[str, Any], operation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema of all successful responses; None if one of them is not JSON."""
    schemas: list[Any] = []
    responses = operation.get("responses")
    for status, answer in responses.items() if isinstance(responses, Mapping) else ():
        if str(status).startswith("2"):
            schema = _json_schema(_resolved(document, answer))
            if schema is None:
                return None
            schemas.append(_local(schema))
    if not schemas:
        return None
    return _with_definitions(document, schemas[0] if len(schemas) == 1 else {"anyOf": schemas})


def _json_schema(content_holder: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = content_holder.get("content")
    media = content.get("application/json") if isinstance(content, Mapping) else None
    schema = media.get("schema") if isinstance(media, Mapping) else None
    return schema if isinstance(schema, Mapping) else None


def _with_definitions(document: Mapping[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Copy the components into `$defs`, so that references stay inside the schema."""
    shared = document.get("components")
    components = shared.get("schemas") if isinstance(shared, Mapping) else None
    if isinstance(components, Mapping) and "$ref" in str(schema):
        own = schema.get("$defs")
        brought = {name: _local(component) for name, component in components.items()}
        schema["$defs"] = {**brought, **own} if isinstance(own, Mapping) else brought
    return schema


def _local(schema: Any) -> Any:
    """Replace references to `#/components/schemas/X` with `#/$defs/X`."""
    if isinstance(schema, Mapping):
        return {
            key: value.replace(_COMPONENTS, "#/$defs/") if key == "$ref" and isinstance(value, str) else _local(value)
            for key, value in schema.items()
        }
    return [_local(item) for item in schema] if isinstance(schema, list) else schema


def _resolved(document: Mapping[str, Any], part: Any) -> Mapping[str, Any]:
    """Resolve references to a shared parameter, body or response within the document."""
    for _ in range(_MAX_STEPS):
        if not isinstance(part, Mapping):
            raise RegistrationError("a part of the operation is no object", code="operation_invalid")
        if "$ref" not in part:
            return part
        part = _at(document, str(part["$ref"]))
    raise RegistrationError("a reference leads back to itself", code="reference_unknown")


def _at(document: Mapping[str, Any], reference: str) -> Any:
    found: Any = document if reference.startswith("#/") else None
    for step in reference.removeprefix("#/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    if found is None:
        raise RegistrationError(f"'{reference:.100}' is not in the document", code="reference_unknown")
    return found
