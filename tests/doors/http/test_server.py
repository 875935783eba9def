"""The server as it runs, on loopback, with clients that misbehave. L02 of the abuse list."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn

from tallystick.doors.http import protocol
from tallystick.doors.http.guard import Guard
from tallystick.doors.http.protocol import MAX_HEAD_BYTES, allow_many_connections, uvicorn_options
from tallystick.settings import ServerSettings
from tests.doors.http.asgi_calls import echo
from tests.sizes import size

PATIENCE_S = 120.0
"""How long a test waits for an answer before it fails."""
SOON_S = 20.0
"""Far more than an answer takes on a busy machine, and less than any client here keeps the server waiting."""


class Running:
    """A server in a thread of its own."""

    def __init__(self, app: Any, settings: ServerSettings) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        # Listening before the server runs: clients need not wait for it.
        self._socket.listen(2048)
        self.port = self._socket.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(**uvicorn_options(app, settings), lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(PATIENCE_S)

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def say(self, data: bytes) -> bytes:
        """Say something, and hear the answer until the server closes or has said enough."""
        with self.connect() as connection:
            connection.sendall(data)
            return heard(connection)

    def head(self, *lines: str, method: str = "POST") -> bytes:
        return "\r\n".join([f"{method} / HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *lines, "", ""]).encode()

    def answers_promptly(self) -> bool:
        """Whether an honest client is served soon: no other client keeps the server."""
        begun = time.monotonic()
        answer = self.say(self.head("Content-Length: 5", "Connection: close") + b"hello")
        return status(answer) == 200 and b"read 5" in answer and time.monotonic() - begun < SOON_S


def heard(connection: socket.socket) -> bytes:
    answer = b""
    while True:
        try:
            data = connection.recv(65536)
        except ConnectionResetError:
            return answer
        if not data:
            return answer
        answer += data


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(protocol, "HEAD_TIMEOUT_S", 1.0)
    settings = ServerSettings(max_body_bytes=100_000, body_timeout_s=1)
    running = Running(Guard(echo, settings), settings)
    assert running.answers_promptly() or running.answers_promptly()
    yield running
    running.close()


@pytest.mark.promise("doors.slow-clients")
def test_l02_a_slow_body_is_ended_and_others_are_served_meanwhile(server: Running) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(size(20, 200))]
        for connection in slow:
            connection.sendall(server.head("Content-Length: 50") + b"part")
        assert server.answers_promptly()
        for connection in slow:
            answer = heard(connection)
            assert status(answer) == 408
            assert b'"category":"validation_error"' in answer


@pytest.mark.promise("doors.slow-clients")
def test_l02_a_body_dripping_in_does_not_buy_more_time(server: Running) -> None:
    begun = time.monotonic()
    with server.connect() as connection:
        connection.sendall(server.head("Content-Length: 1000"))
        connection.settimeout(0.1)
        answer = b""
        while not answer and time.monotonic() - begun < PATIENCE_S:
            connection.sendall(b"x")
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                continue
    assert status(answer) == 408
    assert time.monotonic() - begun < PATIENCE_S


@pytest.mark.promise("doors.slow-clients")
def test_l02_a_head_that_never_ends_is_ended(server: Running) -> None:
    with server.connect() as begun, server.connect() as silent:
        begun.sendall(b"POST / HTTP/1.1\r\nHost: 127")
        assert server.answers_promptly()
        assert status(heard(begun)) == 408
        assert heard(silent) == b""


@pytest.mark.promise("doors.idle-connections")
def test_l02_idle_connections_keep_nobody_waiting_and_are_closed(server: Running) -> None:
    allow_many_connections()
    with ExitStack() as stack:
        idle = [stack.enter_context(server.connect()) for _ in range(size(200, 2000))]
        assert server.answers_promptly()
        for connection in idle:
            assert heard(connection) == b""
    assert server.answers_promptly()


@pytest.mark.promise("doors.head-size")
def test_l02_a_head_of_a_megabyte_is_refused(server: Running) -> None:
    huge = server.head("X-Filler: " + "x" * 1_000_000, "Content-Length: 0")
    with server.connect() as connection:
        with suppress(ConnectionError):  # refused before it had all been sent
            connection.sendall(huge)
        answer = heard(connection)
    assert status(answer) in {431, 0}
    assert server.answers_promptly()


@pytest.mark.promise("doors.head-size")
@pytest.mark.parametrize("pieces", [1, 7])
def test_l02_a_head_just_too_large_is_told_so_and_a_large_one_is_served(server: Running, pieces: int) -> None:
    for filler, expected in ((MAX_HEAD_BYTES, 431), (MAX_HEAD_BYTES - 500, 200)):
        head = server.head("X-Filler: " + "x" * filler, "Content-Length: 0", "Connection: close")
        step = len(head) // pieces + 1
        with server.connect() as connection:
            for start in range(0, len(head), step):
                connection.sendall(head[start : start + step])
            assert status(heard(connection)) == expected


@pytest.mark.promise("doors.body-length")
def test_l02_a_body_shorter_than_announced_is_never_taken_for_whole(server: Running) -> None:
    with server.connect() as connection:
        connection.sendall(server.head("Content-Length: 10") + b"short")
        connection.shutdown(socket.SHUT_WR)
        answer = heard(connection)
    assert b"read" not in answer
    assert server.answers_promptly()


@pytest.mark.promise("doors.body-length")
def test_l02_of_a_body_longer_than_announced_the_rest_is_no_request(server: Running) -> None:
    answer = server.say(server.head("Content-Length: 4") + b"body and then some more\r\n\r\n")
    assert b"HTTP/1.1 400 " in answer
    assert b"read 2" not in answer
    assert server.answers_promptly()


@pytest.mark.promise("doors.body-length")
@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: -5"],
        ["Content-Length: 5x"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Content-Length: 99999999999999999999999"],
        ["Transfer-Encoding: chunked, identity"],
    ],
    ids=["negative", "letters", "two", "both", "overflow", "encoding"],
)
def test_l02_a_length_that_can_be_read_in_two_ways_is_refused(server: Running, lines: list[str]) -> None:
    answer = server.say(server.head(*lines) + b"hello")
    assert 400 <= status(answer) < 500
    assert b"read" not in answer


@pytest.mark.promise("doors.body-size")
def test_a_body_too_large_is_refused_announced_or_streamed(server: Running) -> None:
    announced = server.say(server.head("Content-Length: 100001"))
    assert status(announced) == 413
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    with server.connect() as connection:
        connection.sendall(server.head("Transfer-Encoding: chunked"))
        with suppress(ConnectionError):
            for _ in range(8):
                connection.sendall(chunk)
        assert status(heard(connection)) in {413, 0}
    assert server.answers_promptly()


@pytest.mark.promise("doors.body-size")
def test_a_client_that_waits_for_leave_to_send_is_refused_before_it_sends(server: Running) -> None:
    answer = server.say(server.head("Content-Length: 100001", "Expect: 100-continue"))
    assert status(answer) == 413
    assert b"100 Continue" not in answer


def test_what_is_no_http_is_answered_as_a_problem_with_security_headers(server: Running) -> None:
    answer = server.say(b"\x16\x03\x01 this is not HTTP\r\n\r\n")
    assert status(answer) == 400
    assert b'"category":"validation_error"' in answer
    assert b"x-content-type-options: nosniff" in answer
    assert b"server:" not in answer


@pytest.mark.promise("doors.host")
def test_l01_a_foreign_host_or_origin_is_refused_by_the_running_server(server: Running) -> None:
    for lines in (["Host: evil.example"], [f"Host: 127.0.0.1:{server.port}", "Origin: https://evil.example"]):
        request = "\r\n".join(["POST /mcp HTTP/1.1", *lines, "Content-Length: 2", "", "{}"]).encode()
        assert status(server.say(request)) == 403


def test_a_connection_is_kept_for_the_next_request(server: Running) -> None:
    with server.connect() as connection:
        for _ in range(3):
            connection.sendall(server.head("Content-Length: 5") + b"hello")
            answer = b""
            while b"read 5" not in answer:
                answer += connection.recv(65536)
            assert status(answer) == 200
        connection.sendall(server.head("Content-Length: 5", "Connection: close") + b"hello")
        assert b"read 5" in heard(connection)


def test_a_forwarded_address_does_not_change_who_is_calling() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])
        await echo(scope, receive, send)

    running = Running(app, ServerSettings())
    running.say(running.head("X-Forwarded-For: 10.1.2.3", "Content-Length: 0", "Connection: close"))
    running.close()
    assert seen == ["127.0.0.1"]


async def _answers(scope: Any, receive: Any, send: Any) -> None:
    """Answers of all kinds, by path."""
    kind = scope["path"]
    typed = (b"content-type", b"text/plain")
    if kind == "/stream":
        await send({"type": "http.response.start", "status": 200, "headers": [typed]})
        for part in (b"one ", b"two ", b""):
            await send({"type": "http.response.body", "body": part, "more_body": bool(part)})
    elif kind == "/split":
        await send({"type": "http.response.start", "status": 200, "headers": [typed, (b"content-length", b"6")]})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await send({"type": "http.response.body", "body": b"two"})
    elif kind == "/broken":
        await send({"type": "http.response.start", "status": 200, "headers": [typed]})
        raise ZeroDivisionError
    elif kind == "/injected":
        injected = (b"x-name", b"a\r\nset-cookie: stolen=1")
        await send({"type": "http.response.start", "status": 200, "headers": [injected, (b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": [typed, (b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})


@pytest.mark.promise("doors.security-headers")
def test_streams_heads_and_broken_answers_go_out_as_they_should() -> None:
    settings = ServerSettings()
    running = Running(Guard(_answers, settings), settings)

    def ask(path: str, method: str = "GET") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "", ""]
        last = [f"{method} / HTTP/1.1", "Host: 127.0.0.1", "Connection: close", "", ""]
        return running.say("\r\n".join([*lines[:-1], *last]).encode())

    try:
        stream = ask("/stream")
        assert b"transfer-encoding: chunked" in stream
        assert b"4\r\none \r\n4\r\ntwo \r\n0\r\n\r\n" in stream
        assert stream.endswith(b"done")
        assert b"\r\n\r\nonetwo" in ask("/split")
        assert b"done" not in ask("/whole", "HEAD")
        # An answer that cannot be finished is cut off: the connection closes, so that no part is taken for the whole.
        broken = ask("/broken")
        assert not broken.endswith(b"0\r\n\r\n")
        assert b"done" not in broken
        assert ask("/injected") == b""
        whole = ask("/whole")
        assert whole.count(b"HTTP/1.1 200 OK") == 2
        assert whole.count(b"x-frame-options: DENY") == 2
        assert whole.count(b"\r\ndate: ") == 2
    finally:
        running.close()


def test_a_connection_that_says_nothing_more_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "KEEP_ALIVE_S", 1)
    settings = ServerSettings()
    running = Running(Guard(echo, settings), settings)
    try:
        with running.connect() as connection:
            connection.sendall(running.head("Content-Length: 5") + b"hello")
            begun = time.monotonic()
            assert b"read 5" in heard(connection)
            assert time.monotonic() - begun < PATIENCE_S
    finally:
        running.close()
