"""Build a request from arguments: each value in its declared place only.

Arguments come from a model. They must not change the path, a header or another parameter.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

import orjson

from tallystick.errors import ToolError

Place = Literal["path", "query", "header"]
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """One parameter of a request besides its body."""

    name: str
    place: Place
    required: bool
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sending:
    """One request, ready to be sent by code that knows the server."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values as given; a list repeats the name."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    has_body: bool = False
    """Distinguishes a null body from no body."""


def sending(
    method: str, template: str, parameters: Iterable[Parameter], args: Mapping[str, Any], *, body: str | None = None
) -> Sending:
    """Put arguments that match the schema into a request.

    Args:
        method: The operation's method.
        template: Its path, with `{name}` for parameters.
        parameters: The declared parameters.
        args: The arguments.
        body: The argument that is the body, if the operation has one.

    Raises:
        ToolError: A value would change where the request goes; nothing is sent.
    """
    path, query, headers = template, dict[str, Any](), dict[str, str]()
    for parameter in parameters:
        if parameter.name not in args:
            continue
        value = args[parameter.name]
        if parameter.place == "query":
            query[parameter.name] = value
        elif parameter.place == "header":
            headers[parameter.name] = _header(parameter.name, _plain(value))
        else:
            # Everything is percent-encoded, including the slash.
            path = path.replace(f"{{{parameter.name}}}", quote(_segment(parameter.name, _plain(value)), safe=""))
    if _walks(path) and not _walks(template):
        raise ToolError("the path's arguments together are '.' or '..', which would be another path")
    given = {} if body is None or body not in args else {"body": args[body], "has_body": True}
    return Sending(method=method.upper(), path=path, query=query, headers=headers, **given)


def _plain(value: Any) -> str:
    """Return a value in OpenAPI's `simple` style."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(map(_plain, value))
    return orjson.dumps(value).decode()


def _segment(name: str, text: str) -> str:
    # An empty segment would address the collection: delete one would become delete all.
    if not text:
        raise ToolError(f"'{name}' stands in the path and must not be empty")
    return text


def _header(name: str, text: str) -> str:
    if _CONTROL.search(text):
        raise ToolError(f"'{name}' is sent as a header and must not hold control characters")
    return text


def _walks(path: str) -> bool:
    """Return whether a path segment is `.` or `..`, which servers resolve."""
    return any(part in {".", ".."} for part in path.split("/"))
