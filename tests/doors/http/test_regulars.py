"""Clients that come again with the same head are served at once, and no stranger with them."""

import asyncio
from typing import Any

import orjson
import pytest

from tallystick.doors.http.asgi import BODY_READY
from tallystick.doors.http.fast import PATH, REMEMBERED, Regulars
from tallystick.doors.http.guard import SECURITY_HEADERS
from tests.doors.http.conftest import Doorway

BODY = b'{"tool":"double","args":{"number":21}}'
HOST = (b"host", b"127.0.0.1:8787")


def ask(door: Doorway, *headers: tuple[bytes, bytes], client: str = "127.0.0.1", body: bytes = BODY) -> dict[str, Any]:
    """One request as our own server hands it over: its body lies ready."""
    scope = {
        "type": "http", "method": "POST", "path": PATH, "raw_path": PATH.encode(), "query_string": b"",
        "headers": [*(headers or (HOST,)), (b"content-length", str(len(body)).encode())], "client": (client, 5),
        "server": ("127.0.0.1", 8787), "scheme": "http", "http_version": "1.1", "root_path": "", BODY_READY: True,
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(door.server.app(scope, receive, send))  # type: ignore[arg-type]
    return {
        "status": sent[0]["status"],
        "headers": dict(sent[0]["headers"]),
        "body": orjson.loads(b"".join(each.get("body", b"") for each in sent[1:])),
    }


def regulars(door: Doorway) -> dict[Any, Any]:
    app = door.server.app
    assert isinstance(app, Regulars)
    return app._fast.regulars


@pytest.mark.promise("doors.http-one-way")
def test_the_second_time_is_answered_like_the_first(door: Doorway) -> None:
    first, second = ask(door), ask(door)
    assert len(regulars(door)) == 1
    assert first["status"] == second["status"] == 200
    assert first["headers"] == second["headers"]
    assert all(second["headers"][name] == value for name, value in SECURITY_HEADERS)
    assert first["body"]["result"] == second["body"]["result"] == 42
    assert door.gate.ledger.find(second["body"]["receipt_id"]) is not None


@pytest.mark.promise("doors.host", "doors.origin")
def test_a_stranger_does_not_come_in_behind_a_regular(door: Doorway) -> None:
    ask(door)
    assert ask(door, (b"host", b"evil.example"))["status"] == 403
    assert ask(door, HOST, (b"origin", b"https://evil.example"))["status"] == 403
    assert ask(door, HOST, client="10.0.0.7")["status"] == 401
    assert ask(door, HOST, (b"x-forwarded-for", b"10.0.0.7"))["status"] == 401
    assert ask(door, HOST, HOST)["status"] in {401, 403}
    for _ in range(2):  # what was refused once is refused again
        assert ask(door, (b"host", b"evil.example"))["status"] == 403
    assert len(door.ran.calls) == 1


def test_heads_that_are_made_up_are_not_kept_without_end(door: Doorway) -> None:
    for number in range(REMEMBERED + 10):
        assert ask(door, HOST, (b"x-number", str(number).encode()))["status"] == 200
    assert len(regulars(door)) <= REMEMBERED


def test_a_failure_of_the_gate_itself_keeps_its_answer_hardened(door: Doorway, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(door)

    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("tallystick.doors.http.gate_calls.call", broken)
    answer = ask(door)
    assert answer["status"] == 500
    assert all(answer["headers"][name] == value for name, value in SECURITY_HEADERS)


def test_regulars_are_counted_like_everybody_else(door: Doorway) -> None:
    ask(door)
    ask(door)
    metrics = door.server.telemetry.metrics
    assert metrics is not None
    assert sum(metrics.read().requests[(PATH, "POST", 200)].counts) == 2
