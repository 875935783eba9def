"""Every documented route with the longest texts it takes, and what answering costs the event loop."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from tests.doors.http.doorway import Doorway

KINDS: dict[str, str] = {
    "words and dashes": "a-", "blanks": " ", "brackets": "[", "links": "[[", "quotes": '"', "digits": "7",
    "lines": "\n", "marks": "e\u0301", "sentences": "It is so. ", "braces": "{{ ", "paths": "a/b.", "names": "Ada Lin ",
}  # fmt: skip
LONG = 2_000
"""A text field that takes fewer characters is an id or a name."""
GIVEN_UP_S = 60.0
_REFERENCE_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Route:
    """One operation that takes text."""

    method: str
    path: str
    body: Any
    """Arguments that are good, with one field to fill; None: the route takes no JSON."""
    at: tuple[str, ...] = ()
    """Where in the body the text goes; empty: into the path."""

    def __str__(self) -> str:
        return f"{self.method} {self.path} {'.'.join(self.at)}"

    def filled(self, text: str) -> Any:
        """The body with the text in its place."""
        return _put(self.body, self.at, text)


@dataclass
class Loop:
    """What single callbacks cost the thread of the loop."""

    longest_s: float = 0.0


@contextmanager
def watched() -> Iterator[Loop]:
    """Measure every callback of every loop by its own CPU time, which other processes cannot add to."""
    seen, real = Loop(), asyncio.Handle._run

    def timed(self: asyncio.Handle) -> None:
        before = time.thread_time()
        real(self)
        seen.longest_s = max(seen.longest_s, time.thread_time() - before)

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        asyncio.Handle._run = real  # type: ignore[method-assign]


def slowness() -> float:
    """How many times slower than usual this machine is; at least 1."""
    best = float("inf")
    for _ in range(5):
        before = time.thread_time()
        sum(number * number for number in range(250_000))
        best = min(best, time.thread_time() - before)
    return max(1.0, best / _REFERENCE_S)


def routes_of(door: Doorway) -> list[Route]:
    """All routes with a text field, each field by itself, and those with a path parameter."""
    document = door.get("/api/openapi.json").json()
    found = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            if schema is not None:
                schema = _resolved(schema, document)
                example = schema.get("example") or _example(schema, document)
                found += [
                    Route(method=method.upper(), path=_plain(path), body=example, at=at)
                    for at in _texts(schema, document)
                ]
            elif "{" in path:
                found.append(Route(method=method.upper(), path=path, body=None))
    return found


async def ask(door: Doorway, route: Route, text: str | bytes) -> httpx.Response | None:
    """The answer to a body, or to a text in the path; None: it took too long."""
    path = route.path
    body: dict[str, Any] = {}
    if isinstance(text, str):
        path = route.path.split("{")[0] + quote(text[:500], safe="")
    else:
        # Made before the clock runs: what it costs to ask is not what it costs to answer.
        body = {"content": text}
    async with door.client() as client:
        try:
            return await asyncio.wait_for(client.request(route.method, path, headers=door.person, **body), GIVEN_UP_S)
        except TimeoutError:
            return None


def cost(door: Doorway, route: Route, text: str, *, times: int = 2) -> tuple[float, float]:
    """The longest callback of one request, and all that it costs the process, in CPU seconds: the best of some tries.

    What is made ready once (a validator, a thread) is no matter of the text.
    """
    given = text if route.body is None else json.dumps(route.filled(text)).encode()
    longest, whole = [], []
    for _ in range(times):
        with watched() as seen:
            before = time.process_time()
            answer = asyncio.run(ask(door, route, given))
            whole.append(time.process_time() - before)
        longest.append(seen.longest_s if answer is not None else GIVEN_UP_S)
    return min(longest), min(whole)


def _plain(path: str) -> str:
    while "{" in path:
        path = path[: path.index("{")] + "x1" + path[path.index("}") + 1 :]
    return path


def _resolved(schema: Any, document: Any) -> Any:
    while "$ref" in schema:
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = target
    return schema


def _texts(schema: Any, document: Any, at: tuple[str, ...] = (), depth: int = 4) -> Iterator[tuple[str, ...]]:
    schema = _resolved(schema, document)
    kind = schema.get("type")
    if kind == "string" or (isinstance(kind, list) and "string" in kind):
        if "enum" not in schema and schema.get("maxLength", LONG) >= LONG and "const" not in schema:
            yield at
    elif kind == "array" and depth and "items" in schema:
        yield from _texts(schema["items"], document, (*at, "*"), depth - 1)
    elif depth:
        if kind == "object" and not schema.get("properties"):
            yield (*at, "text")
        for name, inner in schema.get("properties", {}).items():
            yield from _texts(inner, document, (*at, name), depth - 1)


def _example(schema: Any, document: Any, depth: int = 4) -> Any:
    schema = _resolved(schema, document)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        wanted = schema.get("required", ())
        return {
            name: _example(inner, document, depth - 1)
            for name, inner in schema.get("properties", {}).items()
            if name in wanted
        }
    if kind == "array":
        return [_example(schema.get("items", {}), document, depth - 1)] if depth else []
    return {"integer": 1, "number": 1, "boolean": False}.get(kind if isinstance(kind, str) else "", "x1")


def _put(value: Any, at: tuple[str, ...], text: str) -> Any:
    if not at:
        return text
    if at[0] == "*":
        return [_put(value[0] if isinstance(value, list) and value else {}, at[1:], text)]
    held = dict(value) if isinstance(value, dict) else {}
    held[at[0]] = _put(held.get(at[0]), at[1:], text)
    return held
