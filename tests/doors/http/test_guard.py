"""What every request must pass, tried without a server."""

import asyncio
import json
from typing import Any

import pytest
from fastapi import FastAPI, Request
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.http.body import Deadlines
from tallystick.doors.http.guard import API_CSP, PAGE_CSP, Guard, refuse_bind
from tallystick.doors.http.problems import problem
from tallystick.errors import ConfigError
from tallystick.settings import AuthSettings, ServerSettings, Settings
from tests.doors.http.asgi_calls import LOCAL, STALL, Answer, arequest, echo, request


def guarded(app: Any = echo, **server: Any) -> Guard:
    return Guard(app, ServerSettings(**server))


def hurried(app: Any = echo) -> Guard:
    """A guard that waits for a body 50 ms."""
    guard = guarded(app)
    guard._deadlines = Deadlines(0.05)
    return guard


def is_problem(answer: Answer, status: int, category: str) -> bool:
    error = json.loads(answer.body)["error"]
    return (
        answer.status == status
        and error["category"] == category
        and error["details"]["status"] == status
        and set(error) == {"category", "message", "details"}
        and set(error["details"]) <= {"tool_name", "endpoint", "status", "hint"}
    )


@pytest.mark.promise("doors.host")
@pytest.mark.parametrize(
    "host",
    [b"127.0.0.1", b"127.0.0.1:8787", b"127.0.0.1:1", b"localhost", b"localhost:99", b"LocalHost:8787", b"[::1]:8787",
     b"[::1]", b"127.0.0.9:80"],
)  # fmt: skip
def test_loopback_hosts_with_any_port_are_served(host: bytes) -> None:
    assert request(guarded(), [(b"host", host)]).status == 200


FOREIGN_HOSTS = [
    b"evil.example", b"evil.example:8787", b"127.0.0.1.evil.example", b"localhost.evil.example:8787", b"0.0.0.0:8787",
    b"192.168.1.5:8787", b"", b"localhost:port", b"localhost:", b"localhost:8787:9", b"[::1", b"[::1]x", b"127.0.0.1@evil.example",
    b"evil.example@127.0.0.1", b"localhost,evil.example", b"\xff\xfe", b"2130706433", b"localhost:123456",
]  # fmt: skip


@pytest.mark.promise("doors.host")
@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_l01_a_foreign_host_is_refused(host: bytes) -> None:
    assert is_problem(request(guarded(), [(b"host", host)], path="/mcp"), 403, "rbac_denied")


@pytest.mark.promise("doors.host")
def test_l01_no_host_or_two_hosts_are_refused() -> None:
    assert request(guarded(), []).status == 403
    assert request(guarded(), [LOCAL, LOCAL]).status == 403
    assert request(guarded(), [LOCAL, (b"host", b"evil.example")]).status == 403


@pytest.mark.promise("doors.host")
def test_hosts_the_owner_allows_are_served() -> None:
    guard = guarded(allowed_hosts=("Tally.example", "ops.example:8443"))
    assert request(guard, [(b"host", b"tally.example")]).status == 200
    assert request(guard, [(b"host", b"tally.example:443")]).status == 200
    assert request(guard, [(b"host", b"OPS.example:8443")]).status == 200
    assert request(guard, [(b"host", b"ops.example")]).status == 403
    assert request(guard, [(b"host", b"sub.tally.example")]).status == 403


@pytest.mark.promise("doors.origin")
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (b"127.0.0.1:8787", b"http://127.0.0.1:8787"),
        (b"127.0.0.1:8787", b"http://localhost:8787"),
        (b"localhost:8787", b"http://[::1]:8787"),
        (b"localhost:8787", b"https://localhost:8787"),
        (b"localhost", b"http://localhost"),
        (b"tally.example", b"https://tally.example"),
        (b"127.0.0.1:8787", b"https://tally.example"),
    ],
)
def test_an_origin_that_is_this_server_is_served(host: bytes, origin: bytes) -> None:
    guard = guarded(allowed_hosts=("tally.example",))
    assert request(guard, [(b"host", host), (b"origin", origin)]).status == 200


FOREIGN_ORIGINS = [
    b"null", b"", b"https://evil.example", b"http://127.0.0.1.evil.example:8787", b"http://localhost:3000",
    b"http://localhost", b"file://", b"http://", b"127.0.0.1:8787", b"ftp://127.0.0.1:8787", b"http://127.0.0.1:8787/x",
    b"http://evil.example@127.0.0.1:8787", b"chrome-extension://abcdef", b"http://127.0.0.1:8787,http://evil.example",
    b"HTTP://127.0.0.1:8787\xff",
]  # fmt: skip


@pytest.mark.promise("doors.origin")
@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_l01_a_foreign_origin_is_refused(origin: bytes) -> None:
    for method in ("POST", "GET", "OPTIONS"):
        answer = request(guarded(), [LOCAL, (b"origin", origin)], path="/mcp", method=method)
        assert is_problem(answer, 403, "rbac_denied")
        assert not any(name.startswith(b"access-control") for name in answer.names)


@pytest.mark.promise("doors.origin")
def test_l01_a_second_origin_does_not_help() -> None:
    ours = (b"origin", b"http://127.0.0.1:8787")
    assert request(guarded(), [LOCAL, ours, (b"origin", b"https://evil.example")]).status == 403


@pytest.mark.promise("doors.host", "doors.origin")
@pytest.mark.parametrize(
    "headers",
    [[(b"host", b"evil.example")], [LOCAL, (b"origin", b"null")], [LOCAL, (b"origin", b"https://evil.example")]],
)
def test_l01_sockets_are_refused_too(headers: list[tuple[bytes, bytes]]) -> None:
    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    with_answer = request(guarded(app), headers, type="websocket", extensions={"websocket.http.response": {}})
    assert is_problem(with_answer, 403, "rbac_denied")
    closed = request(guarded(app), headers, type="websocket")
    assert [message["type"] for message in closed.messages] == ["websocket.close"]
    assert reached == []
    request(guarded(app), [LOCAL], type="websocket")
    request(guarded(app), [LOCAL, (b"origin", b"http://127.0.0.1:8787")], type="websocket")
    assert reached == ["websocket", "websocket"]


def test_the_server_s_own_start_and_stop_pass() -> None:
    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    request(guarded(app), [], type="lifespan")
    assert reached == ["lifespan"]


@pytest.mark.promise("doors.host", "doors.origin")
@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_no_host_or_origin_whatever_crashes_or_gets_in_by_chance(host: bytes, origin: bytes | None) -> None:
    headers = [(b"host", host)] + ([] if origin is None else [(b"origin", origin)])
    assert request(guarded(), headers).status in {200, 403}
    assert request(guarded(), [(b"host", b"x" + host)]).status == 403
    if origin is not None:
        assert request(guarded(), [LOCAL, (b"origin", b"https://x" + origin)]).status == 403


@pytest.mark.promise("doors.body-size")
def test_a_body_of_the_allowed_size_is_read_in_any_pieces() -> None:
    guard = guarded(max_body_bytes=10)
    assert request(guard, [LOCAL, (b"content-length", b"10")], body=[b"x" * 10]).body == b"read 10"
    assert request(guard, [LOCAL, (b"transfer-encoding", b"chunked")], body=[b"x"] * 10).body == b"read 10"
    assert request(guard, [LOCAL, (b"content-length", b"0")], body=[b""]).body == b"read 0"
    assert request(guard, [LOCAL], body=[b""], method="GET").body == b"read 0"


@pytest.mark.promise("doors.body-size")
@pytest.mark.parametrize("length", [b"11", b"00011", b"99999999999999999999", b"9" * 5000])
def test_a_body_announced_too_large_is_refused_unread(length: bytes) -> None:
    answer = request(guarded(max_body_bytes=10), [LOCAL, (b"content-length", length)], body=[None])
    assert is_problem(answer, 413, "validation_error")
    assert answer.headers[b"connection"] == b"close"


@pytest.mark.promise("doors.body-size")
def test_a_file_handed_to_an_open_page_may_be_larger_than_other_bodies() -> None:
    guard = guarded(max_body_bytes=10, max_upload_bytes=20)
    for length, path, status in ((15, "/_nicegui/client/a-b/upload/7", 200), (25, "/_nicegui/client/a-b/upload/7", 413),
                                 (15, "/_nicegui/client/a-b/upload/7/x", 413)):  # fmt: skip
        headers = [LOCAL, (b"content-length", str(length).encode())]
        assert request(guard, headers, body=[b"x" * length], path=path).status == status


@pytest.mark.promise("doors.body-size")
def test_a_streamed_body_is_refused_where_it_becomes_too_large() -> None:
    answer = request(guarded(max_body_bytes=10), [LOCAL, (b"transfer-encoding", b"chunked")], body=[b"x" * 6, b"x" * 6])
    assert is_problem(answer, 413, "validation_error")


@pytest.mark.promise("doors.body-length")
@pytest.mark.parametrize("length", [b"-1", b"ten", b"", b"1e1", b"+5", b"5,5", b" 5", b"\xb2"])
def test_a_content_length_that_is_no_number_is_refused(length: bytes) -> None:
    assert is_problem(request(guarded(), [LOCAL, (b"content-length", length)]), 400, "validation_error")


@pytest.mark.promise("doors.body-length")
def test_half_a_body_is_never_taken_for_a_whole_one() -> None:
    ran: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await echo(scope, receive, send)
        ran.append(True)

    answer = request(guarded(app), [LOCAL, (b"content-length", b"20")], body=[b"half", None])
    assert ran == []
    assert answer.status == 499


@pytest.mark.promise("doors.body-time")
def test_a_body_that_does_not_come_in_time_is_refused() -> None:
    answer = request(hurried(), [LOCAL, (b"content-length", b"20")], body=[b"half", STALL])
    assert is_problem(answer, 408, "validation_error")


def _routes() -> FastAPI:
    app = FastAPI()

    @app.post("/api/gate/call")
    async def call(request: Request) -> dict[str, int]:
        return {"read": len(await request.body())}

    @app.post("/typed")
    async def typed(body: dict[str, int]) -> dict[str, int]:
        return body

    return app


@pytest.mark.promise("doors.body-time", "doors.body-size")
@pytest.mark.parametrize("path", ["/api/gate/call", "/typed"])
def test_a_framework_that_makes_its_own_of_the_fault_does_not_get_to_answer(path: str) -> None:
    guard = guarded(_routes(), max_body_bytes=10)
    chunked = [LOCAL, (b"transfer-encoding", b"chunked"), (b"content-type", b"application/json")]
    assert is_problem(request(guard, chunked, body=[b"x" * 11], path=path), 413, "validation_error")
    slow = hurried(_routes())
    assert is_problem(request(slow, chunked, body=[b"{", STALL], path=path), 408, "validation_error")


@pytest.mark.promise("doors.body-time")
def test_only_reading_is_timed_not_the_work_that_follows() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(0.1)  # the work itself, longer than the body's time
        await echo(scope, _ended, send)

    async def _ended() -> dict[str, Any]:
        return {"type": "http.request", "body": b"done", "more_body": False}

    answer = request(hurried(app), [LOCAL, (b"content-length", b"4")], body=[b"body"])
    assert answer.body == b"read 4"


@pytest.mark.promise("doors.body-time")
def test_a_tool_that_runs_while_the_body_is_late_is_left_to_finish() -> None:
    finished: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(0.1)  # works with what has come so far, past the body's time
        finished.append("work")
        await receive()
        finished.append("more")

    answer = request(hurried(app), [LOCAL, (b"content-length", b"9")], body=[b"first", b"late", b"er"])
    assert finished == ["work"]
    assert answer.status == 408


@pytest.mark.promise("doors.body-time")
def test_a_request_cancelled_from_outside_stays_cancelled() -> None:
    async def scenario() -> None:
        guard = guarded(body_timeout_s=60)
        task = asyncio.ensure_future(arequest(guard, [LOCAL, (b"content-length", b"9")], body=[b"half", STALL]))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_an_error_of_the_application_s_own_goes_on() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        request(guarded(app), [LOCAL, (b"content-length", b"1")], body=[b"x"])


@pytest.mark.promise("doors.security-headers")
@pytest.mark.parametrize("headers", [[LOCAL], [(b"host", b"evil.example")], [LOCAL, (b"content-length", b"x")]])
def test_every_answer_carries_the_security_headers(headers: list[tuple[bytes, bytes]]) -> None:
    answer = request(guarded(), headers)
    assert answer.headers[b"x-content-type-options"] == b"nosniff"
    assert answer.headers[b"x-frame-options"] == b"DENY"
    assert answer.headers[b"referrer-policy"] == b"no-referrer"
    assert answer.headers[b"content-security-policy"] == API_CSP
    assert answer.headers[b"cache-control"] == b"no-store"
    assert not any(name.startswith(b"access-control") for name in answer.names)


@pytest.mark.promise("doors.security-headers")
def test_what_a_page_says_itself_is_kept_and_html_gets_a_policy_for_pages() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        own = [(b"content-security-policy", b"default-src 'self'")] if scope["path"] == "/own" else []
        cached = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"max-age=60"), *own]
        await send({"type": "http.response.start", "status": 200, "headers": cached})
        await send({"type": "http.response.body", "body": b"<p>"})

    plain = request(guarded(page), [LOCAL], path="/", method="GET")
    assert plain.headers[b"content-security-policy"] == PAGE_CSP
    assert plain.headers[b"cache-control"] == b"max-age=60"
    assert plain.names.count(b"cache-control") == 1
    own = request(guarded(page), [LOCAL], path="/own", method="GET")
    assert own.headers[b"content-security-policy"] == b"default-src 'self'"
    assert own.names.count(b"content-security-policy") == 1


@pytest.mark.promise("doors.bind")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "tally.example", "", "localhost.example"])
def test_binding_beyond_loopback_without_auth_is_refused(host: str) -> None:
    with pytest.raises(ConfigError) as error:
        refuse_bind(Settings(server=ServerSettings(host=host)))
    assert error.value.code == "bind_needs_auth"
    refuse_bind(Settings(server=ServerSettings(host=host), auth=AuthSettings(enabled=True)))


@pytest.mark.promise("doors.bind")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_binding_to_loopback_needs_no_auth(host: str) -> None:
    refuse_bind(Settings(server=ServerSettings(host=host)))


@pytest.mark.promise("doors.problem-payload")
def test_the_problem_payload_has_exactly_the_fields_of_the_contract() -> None:
    assert json.loads(problem("validation_error", "no", 400, tool_name="t", endpoint="/x/{id}", hint="do")) == {
        "error": {
            "category": "validation_error",
            "message": "no",
            "details": {"tool_name": "t", "endpoint": "/x/{id}", "status": 400, "hint": "do"},
        }
    }
    assert json.loads(problem("rbac_denied", "no"))["error"]["details"] == {"tool_name": ""}
