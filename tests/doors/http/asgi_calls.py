"""Requests straight into an ASGI application, without a server."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

Headers = list[tuple[bytes, bytes]]
LOCAL = (b"host", b"127.0.0.1:8787")


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    names: list[bytes] = field(default_factory=list)
    body: bytes = b""
    messages: list[dict[str, Any]] = field(default_factory=list)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the way the naive do: it takes whatever ends the body for its end."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"read %d" % len(body)})


def request(
    app: Any,
    headers: Headers,
    *,
    body: list[Any] | None = None,
    path: str = "/api/gate/call",
    method: str = "POST",
    **scope: Any,
) -> Answer:
    """Make one HTTP request; each part of the body is a message, and None is the client leaving."""
    return asyncio.run(arequest(app, headers, body=body, path=path, method=method, **scope))


async def arequest(
    app: Any, headers: Headers, *, body: list[Any] | None = None, path: str = "/", method: str = "POST", **scope: Any
) -> Answer:
    answer = Answer()
    parts = list(body or [b""])

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        part = parts.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        more = bool(parts)
        return {"type": "http.request", "body": b"" if part is STALL else part, "more_body": more or part is STALL}

    async def send(message: dict[str, Any]) -> None:
        answer.messages.append(message)
        if message["type"].endswith("response.start"):
            answer.status = message["status"]
            answer.headers = dict(message["headers"])
            answer.names = [name for name, _ in message["headers"]]
        elif message["type"].endswith("response.body"):
            answer.body += message.get("body", b"")

    full = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "scheme": "http", "http_version": "1.1", "asgi": {"version": "3.0"},
        "server": ("127.0.0.1", 8787), "client": ("127.0.0.1", 40000), "headers": headers, **scope,
    }  # fmt: skip
    await app(full, receive, send)
    return answer


STALL = object()
"""A part of the body after which nothing more comes."""
