"""The HTTP client: limits on time and size, a checked address, the TLS name, and failures as values."""

import asyncio
import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tallystick.http_port import HttpAddress, HttpFailure, HttpRequest, HttpResponse, parse_address
from tallystick.providers.net import addresses, client
from tallystick.providers.net.client import PinnedHttpClient
from tests.storage.webhook import OK, free_port, webhook

pytestmark = pytest.mark.promise("desk.web-bounds")


def send(url: str, *, within_s: float = 20, **more: Any) -> HttpResponse | HttpFailure:
    address = parse_address(url, private=True)
    assert address is not None
    request = HttpRequest(**{"method": "POST", "address": address, "body": b"note", "within_s": within_s, **more})
    return PinnedHttpClient().send_sync(request)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (OK, HttpResponse(status=204)),
        (
            b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nthanks",
            HttpResponse(status=200, body=b"thanks"),
        ),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", HttpResponse(status=302)),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", HttpResponse(status=404)),
        (b"HTTP/1.1 500\r\n\r\n", HttpResponse(status=500)),
        (b"", HttpFailure(code="not_http")),
        (b"SSH-2.0-OpenSSH_9.2\r\n", HttpFailure(code="not_http")),
        (b"HTTP/1.1 100 Continue\r\n\r\n", HttpFailure(code="not_http")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nless", HttpFailure(code="not_http")),
        (b"x" * 200_000, HttpFailure(code="not_http")),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1001, HttpFailure(code="too_large")),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxx", HttpFailure(code="compressed")),
    ],
)
def test_a_response_of_any_status_is_returned_and_everything_else_is_a_failure(answer: bytes, expected: object) -> None:
    with webhook(answer) as hook:
        assert send(hook.url, most_bytes=1000) == expected
        assert len(hook.bodies) == 1  # no redirect was followed, and nothing was sent twice


def test_the_asynchronous_way_is_the_same() -> None:
    with webhook(b"HTTP/1.1 200 OK\r\n\r\nthanks") as hook:
        address = parse_address(hook.url, private=True)
        assert address is not None
        request = HttpRequest(method="POST", address=address, body=b"note", within_s=20, most_bytes=10)
        assert asyncio.run(PinnedHttpClient().send(request)) == HttpResponse(status=200, body=b"thanks")
        assert hook.bodies == [b"note"]


def test_user_and_password_become_a_header_and_the_target_is_sent_as_configured() -> None:
    with webhook(OK) as hook:
        url = hook.url.replace("//", "//ann:s3cr3t-pass@") + "?sig=a%2Fb|{c}"
        assert send(url, headers={"X-Own": "1"}) == HttpResponse(status=204)
    assert hook.heads[0].startswith("POST /notes?sig=a%2Fb|{c} HTTP/1.1\r\n")
    headers = hook.heads[0].lower().split("\r\n")
    assert "authorization: basic yw5uonmzy3izdc1wyxnz" in headers
    assert f"host: 127.0.0.1:{hook.port}" in headers
    assert "x-own: 1" in headers


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["status line", "body"])
def test_a_response_that_drips_ends_at_the_timeout(start: bytes) -> None:
    over = threading.Event()

    def drip(peer: socket.socket) -> None:
        peer.sendall(start)
        while not over.wait(0.02):
            peer.sendall(b"H")

    with webhook(drip) as hook:
        assert send(hook.url, within_s=0.3, most_bytes=100_000) == HttpFailure(code="timeout")
        over.set()


def test_a_host_without_a_listener_is_unreachable() -> None:
    assert send(f"http://127.0.0.1:{free_port()}/") == HttpFailure(code="unreachable")


def test_a_name_without_an_address_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(addresses.socket, "getaddrinfo", unknown)
    assert send("https://nowhere.example/") == HttpFailure(code="name_unknown")


@pytest.mark.parametrize("private", [False, True])
def test_a_private_address_is_refused_unless_allowed(*, private: bool) -> None:
    with webhook(OK) as hook:
        address = HttpAddress(secure=False, host="127.0.0.1", port=hook.port, target="/", private=private)
        answer = PinnedHttpClient().send_sync(HttpRequest(method="POST", address=address, within_s=20))
        assert answer == (HttpResponse(status=204) if private else HttpFailure(code="address_private"))
        assert len(hook.bodies) == private


def test_the_next_address_is_tried_and_the_name_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def two(host: str, port: int, **_: object) -> list[Any]:
        asked.append(host)
        return [(2, 1, 6, "", (each, port)) for each in ("127.0.0.2", "127.0.0.1")]

    with webhook(OK) as hook:
        monkeypatch.setattr(addresses.socket, "getaddrinfo", two)
        assert send(hook.url.replace("127.0.0.1", "localhost")) == HttpResponse(status=204)
    assert asked == ["localhost"]
    assert f"host: localhost:{hook.port}" in hook.heads[0].lower()


def test_a_server_without_tls_is_not_used_where_tls_is_asked_for() -> None:
    with webhook(b"HTTP/1.1 200 OK\r\n\r\n") as hook:
        answer = send(hook.url.replace("http:", "https:"), within_s=2)
        assert answer in (HttpFailure(code="tls_failed"), HttpFailure(code="timeout"), HttpFailure(code="unreachable"))
        assert hook.bodies == []


@pytest.mark.parametrize(("named", "expected"), [("witness.test", 204), ("other.test", "tls_failed")])
def test_tls_verifies_the_name_and_not_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, expected: object
) -> None:
    certificate = make_certificate(tmp_path, "witness.test")
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(client, "_tls", lambda: trusting)
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda _host, port, **_: [(2, 1, 6, "", ("127.0.0.1", port))])
    with tls_server(certificate) as (port, names):
        answer = send(f"https://{named}:{port}/")
    if expected == "tls_failed":
        assert answer == HttpFailure(code="tls_failed")
    else:
        assert answer == HttpResponse(status=204)
    assert names == [named]


def make_certificate(folder: Path, host: str) -> Path:
    """A certificate for one name, with its key in the same file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + made.public_bytes(pem))
    return file


@contextmanager
def tls_server(certificate: Path) -> Iterator[tuple[int, list[str | None]]]:
    """A server that answers one request and notes the TLS name it was asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    names: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            peer, _ = listening.accept()
            with context.wrap_socket(peer, server_side=True) as secure:
                data = b""
                # Closing with unread data would reset the connection and lose the response.
                while not data.endswith(b"note"):
                    data += secure.recv(65_536)
                secure.sendall(OK)
        except OSError:
            return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listening.getsockname()[1], names
    finally:
        thread.join(20)
        listening.close()
