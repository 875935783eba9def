"""Posts one checkpoint to one webhook: with a total timeout, without redirects, never revealing the address."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from ssl import SSLError, create_default_context
from time import monotonic
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n")
_ANSWER = 65_536
"""Maximum bytes read of a response; only its status line is used."""
_HEADERS = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close", "User-Agent": "tallystick"}
_SUCCESS = range(200, 300)
_INTERIM = range(100, 200)


class Undelivered(Exception):  # noqa: N818 - not an internal error; the sender retries
    """A witness did not accept a checkpoint; the message gives the reason and nothing of the address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Address of a webhook, split into the parts of a request."""

    secure: bool
    host: str
    port: int | None
    target: str
    """Path and query; either may be a secret."""
    login: str | None
    """`Authorization` header for the user and password in the URL."""

    def __repr__(self) -> str:
        """Return a representation without secrets."""
        return f"Address({self.shown})"

    @property
    def shown(self) -> str:
        """The address without secrets: scheme, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{host}{port}"


def parse_address(text: str) -> Address | None:
    """Parse a URL; None unless it is https, or http to a loopback address."""
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        return None
    plain = text.isascii() and text.isprintable() and " " not in text
    if not plain or not host or not (url.scheme == "https" or (url.scheme == "http" and _is_loopback(host))):
        return None
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return Address(secure=url.scheme == "https", host=host, port=port, target=target, login=_login(url))


def post(address: Address, note: bytes, within_s: float, *, headers: Mapping[str, str] | None = None) -> None:
    """Send a note and wait for a 2xx status.

    Args:
        address: The webhook.
        note: The request body.
        within_s: Total timeout in seconds.
        headers: Additional headers; they override the defaults.

    Raises:
        Undelivered: The note was not accepted within the timeout.
    """
    deadline = monotonic() + within_s
    headers = {**_HEADERS, **(headers or {})}
    if address.login is not None:
        headers["Authorization"] = address.login
    try:
        connection = _connection(address, within_s)
        try:
            connection.request("POST", address.target, body=note, headers=headers)
            status = _status(connection, deadline)
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        # The library's message may contain the address: pass on only our own text.
        raise Undelivered(_reason(error)) from None
    if status not in _SUCCESS:  # redirects too: they could send a checkpoint or credentials anywhere
        raise Undelivered(f"status {status}")


def _connection(address: Address, within_s: float) -> HTTPConnection:
    if address.secure:
        return HTTPSConnection(address.host, address.port, timeout=within_s, context=create_default_context())
    return HTTPConnection(address.host, address.port, timeout=within_s)


def _status(connection: HTTPConnection, deadline: float) -> int:
    """Read the status line directly: the library's timeout is per read, so a trickled response would never end."""
    data = b""
    while len(data) < _ANSWER:
        left = deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        connection.sock.settimeout(left)
        more = connection.sock.recv(_ANSWER)
        data += more
        found = _STATUS.match(data)
        if found is not None and int(found[1]) not in _INTERIM:
            return int(found[1])
        if found is not None and b"\r\n\r\n" in data:
            data = data.partition(b"\r\n\r\n")[2]  # an interim response; the final one follows
        elif not more:
            break
    raise HTTPException


def _reason(error: Exception) -> str:
    # The order matters: timeouts and TLS errors are subclasses of OSError.
    known: tuple[tuple[type[Exception], Callable[[], str]], ...] = (
        (TimeoutError, lambda: "timed out"),
        (SSLError, lambda: "no TLS connection"),
        (OSError, lambda: getattr(error, "strerror", None) or "no connection"),
    )
    return next((say() for kind, say in known if isinstance(error, kind)), "no HTTP answer")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _login(url: SplitResult) -> str | None:
    if url.username is None:
        return None
    user, password = unquote_to_bytes(url.username), unquote_to_bytes(url.password or "")
    return "Basic " + b64encode(user + b":" + password).decode()
