"""What the arguments of a tool ask for, read from their names and schemas."""

from collections.abc import Mapping
from typing import Any

from tallystick.providers.offline.prompt import ToolLine
from tallystick.text.words import identifier_words

PATH_KEYS = frozenset({"path", "file", "filename", "filepath", "document", "doc"})
ID_KEYS = frozenset({"id", "ids", "number", "code", "ref", "reference", "key", "no", "sku", "iban", "identifier"})
REQUEST_KEYS = frozenset({"request", "question", "prompt", "message"})
"""Arguments that want the request as it was made, not its words."""
_QUERY_KEYS = REQUEST_KEYS | {
    "query", "search", "criteria", "term", "terms", "text", "keyword", "keywords", "topic", "q", "pattern", "needle",
    "phrase", "about",
}  # fmt: skip
_LOOKED_FOR = frozenset({"query", "q", "search", "search_criteria", "search_query", "query_text"})
"""Names of the argument without which a search has nothing to look for."""
_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("path", PATH_KEYS),
    ("email", frozenset({"email", "mail", "recipient"})),
    ("uri", frozenset({"url", "uri", "link"})),
    ("query", frozenset(_QUERY_KEYS)),
    ("id", ID_KEYS),
    ("date", frozenset({"date", "day", "when", "since", "until", "deadline"})),
    ("name", frozenset({"name", "title", "person", "user", "customer", "city", "country", "location", "place"})),
)
_FORMATS = {"date": "date", "date-time": "date", "email": "email", "uri": "uri", "url": "uri"}


def kind_of(name: str, schema: Mapping[str, Any]) -> str:
    """What an argument asks for: enum, boolean, integer, number, array, object, or a kind of text."""
    if "enum" in schema or "const" in schema:
        return "enum"
    declared = _type_of(schema)
    if declared in {"boolean", "array", "object", "integer", "number"}:
        return declared
    if (given := schema.get("format")) in _FORMATS:
        return _FORMATS[given]
    words = identifier_words(spaced(name))
    return next((kind for kind, keys in _KINDS if any(word in keys for word in words)), "text")


def properties_of(tool: ToolLine) -> dict[str, Mapping[str, Any]]:
    """The arguments by name, with references to the schema's own definitions followed."""
    definitions = mapping(tool.schema.get("$defs"))
    return {
        name: _followed(mapping(schema), definitions) for name, schema in mapping(tool.schema.get("properties")).items()
    }


def required_of(tool: ToolLine) -> list[str]:
    """The arguments that must be there; where the schema asks for none, what a search looks for must."""
    required = tool.schema.get("required")
    named = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return named or [name for name in properties_of(tool) if name in _LOOKED_FOR][:1]


def given_kind(tool: ToolLine, name: str) -> str:
    """What an argument asks for; of a list, what each of its items is."""
    schema = properties_of(tool).get(name, {})
    kind = kind_of(name, schema)
    return kind_of(name.removesuffix("s"), mapping(schema.get("items"))) if kind == "array" else kind


def takes_query(tool: ToolLine) -> bool:
    """Whether all the tool needs is something to search for."""
    return _required_kinds(tool) == {"query"}


def takes_path(tool: ToolLine) -> str | None:
    """The argument that takes a path, if that is all the tool needs."""
    required = required_of(tool)
    return required[0] if len(required) == 1 and _required_kinds(tool) == {"path"} else None


def line_keys(tool: ToolLine) -> tuple[str, str] | None:
    """The arguments that take the first and the last line to read."""
    names = {tuple(identifier_words(spaced(name))): name for name in properties_of(tool)}
    for first, last in ((("start", "line"), ("end", "line")), (("from", "line"), ("to", "line"))):
        if first in names and last in names:
            return names[first], names[last]
    return None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one: schemas come from anywhere."""
    return value if isinstance(value, dict) else {}


def spaced(name: str) -> str:
    """A key as words."""
    return name.replace("_", " ").replace("-", " ").replace(".", " ")


def _required_kinds(tool: ToolLine) -> set[str]:
    properties = properties_of(tool)
    return {kind_of(name, properties.get(name, {})) for name in required_of(tool)}


def _followed(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        return {**mapping(definitions.get(reference.removeprefix("#/$defs/"))), **schema}
    return schema


def _type_of(schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        return next((one for one in declared if isinstance(one, str) and one != "null"), "string")
    if isinstance(declared, str):
        return declared
    branches = schema.get("anyOf") or schema.get("oneOf")
    for branch in branches if isinstance(branches, list) else ():
        if mapping(branch).get("type") not in {None, "null"}:
            return str(branch["type"])
    return "string"
