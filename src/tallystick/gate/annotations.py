"""Derives a tool's JSON Schemas and its JSON/Python conversions from the function's annotations, once.

The schemas are part of the tool's card (`Card`, its published description).

Parameters of plain types (`str`, `int`, `bool`, and lists and objects of them) are passed as parsed from JSON, without
conversion cost. Every other annotation (a model, a dataclass, an enum, a date, a path, a float) gets a `TypeAdapter`,
which parses the argument and serializes the result by the same rules as the schema.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from tallystick.errors import RegistrationError, ToolError

_PLAIN_HINTS = frozenset({str, int, bool, type(None), Any, dict, list})
"""Annotations known to be plain without inspecting their schema."""
_PLAIN = frozenset({"str", "int", "bool", "none", "any"})
_ALTERED = ("strip_whitespace", "to_lower", "to_upper")
_INSIDE = {"list": "items_schema", "nullable": "schema", "default": "schema"}


@dataclass(frozen=True, kw_only=True)
class Codec:
    """Converts the arguments and the result of one tool between JSON and the annotated types."""

    arguments: Mapping[str, TypeAdapter[Any]]
    """Argument name → adapter; only arguments that need conversion."""
    result: TypeAdapter[Any] | None = None
    """None: the result needs no conversion."""

    def decode(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Convert JSON arguments to the types that the function declares.

        Raises:
            ToolError: A value fits the schema but not the type, e.g. a model's validator rejects it.
        """
        decoded = dict(args)
        for name, adapter in self.arguments.items():
            if name in decoded:
                decoded[name] = _decoded(name, adapter, decoded[name])
        return decoded

    def encode(self, value: Any) -> Any:
        """Convert the result to JSON data.

        Raises:
            ValueError: The result contains a value that has no JSON form.
        """
        if self.result is None or isinstance(value, set | frozenset):
            # Sets are sorted later, at serialization; pydantic would dump them in arbitrary order.
            return value
        return self.result.dump_python(value, mode="json", by_alias=True, warnings=False)

    def read_result(self, value: Any) -> Any:
        """Convert a recorded result back to the type that the function declares.

        Raises:
            ValueError: The type cannot be parsed from its own JSON, e.g. a secret.
        """
        return value if self.result is None else self.result.validate_json(orjson.dumps(value), by_alias=True)


def codec_of(function: Callable[..., Any]) -> Codec | None:
    """Return the conversions that a function's annotations require; None: JSON values are passed unchanged."""
    hints = dict(_hints(function))
    result = _adapter(hints.pop("return", None), _PLAIN | {"float"})
    arguments = {name: adapter for name, hint in hints.items() if (adapter := _adapter(hint, _PLAIN)) is not None}
    return Codec(arguments=arguments, result=result) if arguments or result is not None else None


def input_schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a function's arguments.

    Raises:
        RegistrationError: A parameter is variadic, positional-only or not annotated, or an annotation cannot be
            resolved or has no JSON Schema.
    """
    hints = _hints(function)
    fields: dict[str, Any] = {}
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            message = f"{function.__name__}: give each argument its own name; *args, **kwargs and / have no schema"
            raise RegistrationError(message)
        if parameter.name not in hints:
            message = f"{function.__name__}: annotate '{parameter.name}', so that the gate can check it"
            raise RegistrationError(message)
        default = ... if parameter.default is parameter.empty else parameter.default
        # Use generated field names: pydantic reserves some names and drops those that begin with an underscore.
        fields[f"argument_{place}"] = (hints[parameter.name], Field(default, alias=parameter.name))
    try:
        model: Any = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
        schema: dict[str, Any] = model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise RegistrationError(f"{function.__name__}: no JSON Schema for its arguments ({error.code})") from error
    return _without_titles(schema)


def output_schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a function's result.

    Raises:
        RegistrationError: The return type is not annotated, or cannot be resolved or has no JSON Schema.
    """
    hints = _hints(function)
    if "return" not in hints:
        raise RegistrationError(f"{function.__name__}: annotate what it returns, so that the gate can check it")
    try:
        return _without_titles(TypeAdapter[Any](hints["return"]).json_schema(mode="serialization"))
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise RegistrationError(f"{function.__name__}: no JSON Schema for its result ({error.code})") from error


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise RegistrationError(f"{function.__name__}: {error}") from error


def _adapter(hint: Any, plain: frozenset[str]) -> TypeAdapter[Any] | None:
    """Return the adapter for an annotation; None: its values need no conversion."""
    if hint is None or any(hint is known for known in _PLAIN_HINTS):
        return None
    adapter = TypeAdapter[Any](hint)
    return None if _is_plain(adapter.core_schema, plain) else adapter


def _is_plain(schema: Mapping[str, Any], plain: frozenset[str]) -> bool:
    """Whether valid values are the same in JSON and in Python; False for every schema type not listed here."""
    kind = schema["type"]
    if kind in plain:
        return not any(schema.get(name) for name in _ALTERED)
    if kind == "literal":
        return all(type(value) in {str, int, bool, type(None)} for value in schema["expected"])
    if kind == "union":
        # A choice may be a (schema, label) tuple.
        choices = (choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"])
        return all(_is_plain(choice, plain) for choice in choices)
    if kind == "dict":
        keys, values = schema.get("keys_schema"), schema.get("values_schema")
        return (keys is None or keys["type"] in {"str", "any"}) and (values is None or _is_plain(values, plain))
    if kind in _INSIDE:
        inside = schema.get(_INSIDE[kind])
        return inside is None or _is_plain(inside, plain)
    return False


def _decoded(name: str, adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        return adapter.validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "".join(f"/{part}" for part in (name, *first["loc"]))
        message = f"The argument at {where} does not fit its type ({first['type']})."
        raise ToolError(message, status=400) from error


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the titles that pydantic adds; they only repeat the names."""
    if isinstance(schema.get("title"), str):
        schema = {key: value for key, value in schema.items() if key != "title"}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {
            name: {k: v for k, v in sub.items() if k != "title"} if isinstance(sub, dict) else sub
            for name, sub in properties.items()
        }
    return schema
