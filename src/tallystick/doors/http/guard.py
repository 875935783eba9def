"""Checks on every request before any route; pure ASGI, a few microseconds a request.

1. `Host` is this machine or an allowed host, which prevents DNS rebinding.
2. `Origin`, if present, is this server: requests from other sites' pages are refused, on WebSockets too. No
   Access-Control header is ever sent, so CORS stays closed.
3. The body is bounded in size and time (`body.py`). The size of the head is bounded earlier, in `protocol.py`.
4. Every response has the security headers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tallystick.doors.http.asgi import STATUS, App, Header, Message, Receive, Scope, Send
from tallystick.doors.http.body import Body, BodyFault, Deadlines
from tallystick.doors.http.problems import problem
from tallystick.doors.identity.loopback import is_loopback_host, split_host
from tallystick.errors import ConfigError
from tallystick.gate.codes import Category
from tallystick.settings import ServerSettings, Settings

API_CSP = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGE_CSP = (
    b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; object-src 'none'; "
    b"frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
)
"""For HTML without its own policy: no external resources, but the inline code that generated pages need."""

SECURITY_HEADERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""Added, with a content security policy, unless the application set a header of that name."""
FOR_API: tuple[Header, ...] = ((b"content-security-policy", API_CSP), *SECURITY_HEADERS)
_FOR_PAGES: tuple[Header, ...] = (
    (b"content-security-policy", PAGE_CSP),
    # With `no-referrer`, browsers submit a page's forms with the origin "null", which is refused.
    (b"referrer-policy", b"same-origin"),
    *(header for header in SECURITY_HEADERS if header[0] != b"referrer-policy"),
)
_NAMES = frozenset(name for name, _ in FOR_API)


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardRefusal:
    """A prepared refusal response."""

    status: int
    body: bytes

    @classmethod
    def of(cls, status: int, category: Category, message: str, hint: str) -> "GuardRefusal":
        """Build a refusal with its problem payload."""
        return cls(status=status, body=problem(category, message, status, hint=hint))

    async def answer(self, scope: Scope, send: Send, *, prefix: str = "http") -> None:
        """Send the response and close the connection without reading the rest of the request."""
        scope[STATUS] = self.status
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": f"{prefix}.response.start", "status": self.status, "headers": with_security(headers)})
        await send({"type": f"{prefix}.response.body", "body": self.body})


FOREIGN_HOST = GuardRefusal.of(
    403,
    Category.RBAC_DENIED,
    "The Host header names another server.",
    "Use 127.0.0.1 or localhost, or add the name to server.allowed_hosts.",
)
FOREIGN_ORIGIN = GuardRefusal.of(
    403,
    Category.RBAC_DENIED,
    "The request comes from a page of another origin.",
    "Call from this server's own pages or from a program; CORS is closed.",
)
BAD_LENGTH = GuardRefusal.of(
    400, Category.VALIDATION_ERROR, "Content-Length is not a number.", "Send the body's length in bytes, once."
)
TOO_LARGE = GuardRefusal.of(
    413, Category.VALIDATION_ERROR, "The body is too large.", "Send less, or raise server.max_body_bytes."
)
FILE_TOO_LARGE = GuardRefusal.of(
    413,
    Category.VALIDATION_ERROR,
    "The file is too large.",
    "Put it into the workspace and name its path, or raise server.max_upload_bytes.",
)
TOO_SLOW = GuardRefusal.of(
    408,
    Category.VALIDATION_ERROR,
    "The body did not arrive in time.",
    "Send the whole body at once, or raise server.body_timeout_s.",
)
CUT_OFF = GuardRefusal.of(
    499, Category.VALIDATION_ERROR, "The client left before the body's end.", "Send as much as Content-Length says."
)
_FAULTS = {BodyFault.TOO_LARGE: TOO_LARGE, BodyFault.TOO_SLOW: TOO_SLOW, BodyFault.CUT_OFF: CUT_OFF}
UPLOADS = frozenset({"/ingest/upload"})
"""Routes for file uploads, which have a larger size limit and timeout."""
PAGE_UPLOAD = re.compile(r"/_nicegui/client/[^/]+/upload/[0-9]+")
"""Path of a file upload in an open page. It contains the page's id, which only that page knows."""


class Guard:
    """ASGI middleware that checks every request."""

    def __init__(self, app: App, server: ServerSettings) -> None:
        self._app = app
        self._limit = server.max_body_bytes
        self._deadlines = Deadlines(server.body_timeout_s)
        self._file_limit = server.max_upload_bytes
        self._file_deadlines = Deadlines(server.upload_timeout_s)
        self._allowed = frozenset(host.lower() for host in server.allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        host, origin, length, has_body = _read(scope["headers"])
        refusal = self._stranger(host, origin)
        if refusal is None and length is not None:
            refusal = self._oversize(length, scope["path"])
        if scope["type"] == "websocket":
            await (_refuse_socket(scope, send, refusal) if refusal else self._app(scope, receive, send))
        elif refusal is not None:
            await refusal.answer(scope, send)
        elif has_body:
            await self._with_body(scope, receive, send)
        else:
            await self._app(scope, receive, GuardedResponse(scope, send).send)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_file = _takes_file(scope["path"])
        limit, deadlines = (self._file_limit, self._file_deadlines) if is_file else (self._limit, self._deadlines)
        body = Body(receive, limit=limit, deadlines=deadlines)
        answer = GuardedResponse(scope, send, body)
        try:
            await self._app(scope, body.receive, answer.send)
        except Exception:
            # The body fault was raised in the application and caused this exception.
            if body.fault is None:
                raise
        finally:
            body.close()
        if body.fault is not None and not answer.started:
            too_large = is_file and body.fault is BodyFault.TOO_LARGE
            await (FILE_TOO_LARGE if too_large else _FAULTS[body.fault]).answer(scope, send)

    def _stranger(self, host: bytes, origin: bytes | None) -> GuardRefusal | None:
        if not self._known(host.decode("latin-1")):
            return FOREIGN_HOST
        if origin is not None and not self._same_server(host.decode("latin-1"), origin.decode("latin-1")):
            return FOREIGN_ORIGIN
        return None

    def _known(self, authority: str) -> bool:
        name, _ = split_host(authority)
        return is_loopback_host(name) or name.lower() in self._allowed or authority.lower() in self._allowed

    def _same_server(self, host: str, origin: str) -> bool:
        """Return whether an origin is this server: the same authority, another loopback name of it, or an allowed host.

        Another port of this machine is another program, whose pages are not trusted.
        """
        scheme, separator, authority = origin.partition("://")
        if scheme not in {"http", "https"} or not separator:
            return False
        name, port = split_host(authority)
        if authority.lower() == host.lower():
            return True
        if is_loopback_host(name):
            host_name, host_port = split_host(host)
            return is_loopback_host(host_name) and port == host_port
        return bool(name) and self._known(authority)

    def _oversize(self, length: bytes, path: str) -> GuardRefusal | None:
        if not length.isdigit():
            return BAD_LENGTH
        most, refusal = (self._file_limit, FILE_TOO_LARGE) if _takes_file(path) else (self._limit, TOO_LARGE)
        # Compare the number of digits first, so that int() never parses a megabyte of them.
        return refusal if len(length.lstrip(b"0")) > len(str(most)) or int(length) > most else None


def _takes_file(path: str) -> bool:
    return path in UPLOADS or PAGE_UPLOAD.fullmatch(path) is not None


class GuardedResponse:
    """Sends the response with security headers, or withholds it if the body had a fault."""

    __slots__ = ("_body", "_scope", "_send", "started")

    def __init__(self, scope: Scope, send: Send, body: Body | None = None) -> None:
        self._scope = scope
        self._send = send
        self._body = body
        self.started = False

    async def send(self, message: Message) -> None:
        """Send a message."""
        if message["type"] == "http.response.start":
            if self._body is not None and self._body.fault is not None:
                return
            self.started = True
            self._scope[STATUS] = message["status"]
            message["headers"] = with_security(message.get("headers", ()))
        elif not self.started:
            return
        await self._send(message)


def with_security(headers: Iterable[Header]) -> list[Header]:
    """Add missing security headers."""
    hardened = list(headers)
    given = dict(hardened)
    added = _FOR_PAGES if given.get(b"content-type", b"").startswith(b"text/html") else FOR_API
    hardened += added if _NAMES.isdisjoint(given) else [header for header in added if header[0] not in given]
    return hardened


def refuse_bind(settings: Settings) -> None:
    """Refuse a non-loopback address without auth, since every client would act as the owner.

    Raises:
        ConfigError: `server.host` is not loopback and auth is disabled.
    """
    if not settings.auth.enabled and not is_loopback_host(settings.server.host):
        raise ConfigError(
            "server.host is not a loopback address and auth is off: set auth.enabled with a key, or bind 127.0.0.1.",
            code="bind_needs_auth",
        )


def _read(headers: list[Header]) -> tuple[bytes, bytes | None, bytes | None, bool]:
    """Return Host, Origin, Content-Length and whether a body follows; duplicates are joined, so they match nothing."""
    named = dict(headers)
    if len(named) != len(headers):
        for name in (b"host", b"origin", b"content-length"):
            if name in named:
                named[name] = b",".join(value for each, value in headers if each == name)
    length = named.get(b"content-length")
    has_body = (length is not None and length != b"0") or b"transfer-encoding" in named
    return named.get(b"host", b""), named.get(b"origin"), length, has_body


async def _refuse_socket(scope: Scope, send: Send, refusal: GuardRefusal) -> None:
    if "websocket.http.response" in (scope.get("extensions") or {}):
        await refusal.answer(scope, send, prefix="websocket.http")
    else:
        # A close before accept makes the server answer 403.
        await send({"type": "websocket.close", "code": 1008})
