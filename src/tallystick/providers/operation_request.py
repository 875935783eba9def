"""Build and send the request of an OpenAPI operation: each argument in its declared place only.

Arguments come from a model. They must not change the path, a header or another parameter.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote, urlencode

import orjson

from tallystick.errors import ConfigError, ToolError
from tallystick.http_port import SUCCESS, HttpAddress, HttpClient, HttpFailure, HttpRequest, HttpResponse, parse_address
from tallystick.providers.net.client import PinnedHttpClient

Place = Literal["path", "query", "header"]
WITHIN_S = 30.0
MOST_BYTES = 8 * 1024 * 1024
_PASSED_ON = frozenset({404, 409})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """One parameter of a request besides its body."""

    name: str
    place: Place
    required: bool
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationRequest:
    """One request, ready to be sent by code that knows the server."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values as given; a list repeats the name."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    has_body: bool = False
    """Distinguishes a null body from no body."""


Send = Callable[[OperationRequest], Awaitable[Any]]
"""Sends a request and returns the JSON of its response."""


def build_request(
    method: str, template: str, parameters: Iterable[Parameter], args: Mapping[str, Any], *, body: str | None = None
) -> OperationRequest:
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
    return OperationRequest(method=method.upper(), path=path, query=query, headers=headers, **given)


class HttpSender:
    """Sends the requests of a service's operations and returns the JSON of its responses."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        private: bool = False,
        within_s: float = WITHIN_S,
        most_bytes: int = MOST_BYTES,
        client: HttpClient | None = None,
    ) -> None:
        """Parse the service's URL.

        Args:
            base_url: The service: an https URL, or http to this machine (to any host if `private`).
            headers: Headers of every request, such as `Authorization`.
            private: Whether the service may have an address that is not public.
            within_s: Timeout of one request in seconds.
            most_bytes: Maximum size of a response.
            client: Sends the requests; by default one that connects only to addresses it has checked.

        Raises:
            ConfigError: The URL cannot be used.
        """
        address = parse_address(base_url, private=private, unencrypted=private)
        if address is None or "?" in base_url or "#" in base_url:
            # The URL may contain a password, so it is not shown.
            message = "base_url: give an https URL without a query, or http to this machine."
            raise ConfigError(message, code="config_bad_value")
        self._address = address
        self._headers = dict(headers or {})
        self._within_s = within_s
        self._most_bytes = most_bytes
        self._client = client or PinnedHttpClient()

    async def __call__(self, request: OperationRequest) -> Any:
        """Send one request.

        Raises:
            ToolError: There is no response, or it is not a success with JSON.
        """
        body = orjson.dumps(request.body) if request.has_body else b""
        kind = {"Content-Type": "application/json"} if request.has_body else {}
        answer = await self._client.send(
            HttpRequest(
                method=request.method,
                address=_at(self._address, request),
                # The service's own headers come last: no argument of a model replaces them.
                headers={"Accept": "application/json", **kind, **request.headers, **self._headers},
                body=body,
                within_s=self._within_s,
                most_bytes=self._most_bytes,
            )
        )
        return _json_of(answer)


def _at(address: HttpAddress, request: OperationRequest) -> HttpAddress:
    pairs = [
        (name, _plain(each))
        for name, value in request.query.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    found = replace(address, target=address.target.rstrip("/") + request.path)
    return found.with_query(urlencode(pairs)) if pairs else found


def _json_of(answer: HttpResponse | HttpFailure) -> Any:
    if isinstance(answer, HttpFailure):
        raise ToolError(f"The service cannot be used: {answer.message}.", hint="Try again later.")
    if answer.status not in SUCCESS:
        # Only these two mean the same in a tool as in a service.
        known = answer.status if answer.status in _PASSED_ON else None
        raise ToolError(f"The service answered with status {answer.status}.", status=known)
    try:
        return orjson.loads(answer.body) if answer.body else None
    except orjson.JSONDecodeError:
        raise ToolError("The service's answer is not JSON.") from None


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
