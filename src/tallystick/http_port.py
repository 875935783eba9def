"""The HTTP client as a port: storage and rooms name what they send; `tallystick.providers.net` sends it.

A caller parses an address once, when the settings are read, and later sends requests to it. A failure is a value with
a code; its message contains no part of the address, because a path or a query may be a secret.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Literal, Protocol
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

FailureCode = Literal[
    "timeout", "name_unknown", "address_private", "unreachable", "tls_failed", "not_http", "compressed", "too_large"
]
MESSAGES: Mapping[FailureCode, str] = {
    "timeout": "timed out",
    "name_unknown": "its name has no address",
    "address_private": "its name has an address that is not public",
    "unreachable": "no connection",
    "tls_failed": "no TLS connection",
    "not_http": "no HTTP answer",
    "compressed": "the answer is compressed, which was not asked for",
    "too_large": "the answer is too large",
}
SUCCESS = range(200, 300)


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpAddress:
    """A URL that requests may be sent to."""

    secure: bool
    host: str
    port: int | None
    target: str
    """Path and query; either may be a secret."""
    login: str | None = None
    """The `Authorization` header for the user and password in the URL."""
    private: bool = False
    """Whether the host may have an address that is not public."""

    def __repr__(self) -> str:
        """Return a representation without secrets."""
        return f"HttpAddress({self.shown})"

    @property
    def authority(self) -> str:
        """Host and port, as in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """The address without secrets: scheme, host and port."""
        return f"{'https' if self.secure else 'http'}://{self.authority}"

    def with_query(self, query: str) -> "HttpAddress":
        """Return the address with another query string."""
        return replace(self, target=f"{self.target.partition('?')[0]}?{query}")


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpRequest:
    """One request, with its limits."""

    method: str
    address: HttpAddress
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)
    within_s: float
    """Total timeout in seconds, from name resolution to the last byte of the response."""
    most_bytes: int = 0
    """Maximum size of the response body; 0: the body is not read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpResponse:
    """A response of any status. Redirects are responses too: no client follows them."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    """With lower-case names; empty if the body is not read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpFailure:
    """Why there is no response."""

    code: FailureCode

    @property
    def message(self) -> str:
        """The reason in words, without any part of the address."""
        return MESSAGES[self.code]


class HttpClient(Protocol):
    """Sends requests."""

    async def send(self, request: HttpRequest) -> HttpResponse | HttpFailure:
        """Send a request and wait for its response."""
        ...

    def send_sync(self, request: HttpRequest) -> HttpResponse | HttpFailure:
        """Send a request and block until its response is there; not for the thread of a running event loop."""
        ...


def parse_address(text: str, *, private: bool, unencrypted: bool = False) -> HttpAddress | None:
    """Parse a URL; None unless it is https, or http to a loopback address.

    Args:
        text: The URL.
        private: Whether the host may have an address that is not public. A loopback host always may.
        unencrypted: Whether http to other hosts is allowed too.
    """
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        return None
    loopback = _is_loopback(host)
    scheme = url.scheme == "https" or (url.scheme == "http" and (unencrypted or loopback))
    plain = text.isascii() and text.isprintable() and " " not in text
    if not (plain and host and scheme):
        return None
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return HttpAddress(
        secure=url.scheme == "https",
        host=host,
        port=port,
        target=target,
        login=_login(url),
        private=private or loopback,
    )


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
