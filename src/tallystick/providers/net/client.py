"""The HTTP client of storage and rooms: it connects only to an IP address that was checked, within limits.

Steps of one request:

1. Resolve the name once.
2. Check every address: none may be private, unless the caller's address allows that.
3. Connect to a checked address, so changing the DNS record in between gains nothing. TLS verifies the host name.
4. Read status and body, up to the size limit; all within one timeout.

Redirects are not followed, since one could send a key or a message anywhere. No proxy is used, since a proxy would
resolve the name again. The library's transport is used without its client, which logs the URL of every request.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING

from tallystick.http_port import FailureCode, HttpFailure, HttpRequest, HttpResponse
from tallystick.providers.net.addresses import Resolved, checked, port_of, resolve

if TYPE_CHECKING:
    import httpx2

_HEADERS = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "tallystick"}
_CONNECT_SHARE = 0.45


class PinnedHttpClient:
    """Implements `HttpClient`."""

    async def send(self, request: HttpRequest) -> HttpResponse | HttpFailure:
        """See `HttpClient`."""
        loop = asyncio.get_running_loop()
        return await _within(request, request.within_s, partial(loop.run_in_executor, None, resolve, request.address))

    def send_sync(self, request: HttpRequest) -> HttpResponse | HttpFailure:
        """See `HttpClient`."""
        started = monotonic()
        # Resolved here and not in the loop's executor: its threads cannot start while the interpreter shuts down.
        try:
            found = resolve(request.address)
        except (OSError, UnicodeError):
            return HttpFailure(code="name_unknown")

        async def resolved() -> Resolved:
            return found

        return asyncio.run(_within(request, request.within_s - (monotonic() - started), resolved))


async def _within(
    request: HttpRequest, within_s: float, resolved: Callable[[], Awaitable[Resolved]]
) -> HttpResponse | HttpFailure:
    try:
        async with asyncio.timeout(within_s):
            try:
                found = await resolved()
            except (OSError, UnicodeError):
                return HttpFailure(code="name_unknown")
            addresses = checked(request.address, found)
            return addresses if isinstance(addresses, HttpFailure) else await _try_each(request, addresses)
    except TimeoutError:
        return HttpFailure(code="timeout")


async def _try_each(request: HttpRequest, addresses: list[str]) -> HttpResponse | HttpFailure:
    """Send to the first address that accepts a connection; a request that may have arrived is not sent again."""
    import httpx2  # noqa: PLC0415 - a tenth of a second, and most processes send nothing

    failure = HttpFailure(code="unreachable")
    # It applies to the connection and again to the TLS handshake. Both must end before the whole request does: the
    # library closes the socket of a handshake that timed out, but not of one that was cancelled.
    connect_s = _CONNECT_SHARE * request.within_s / len(addresses)
    for address in addresses:
        try:
            return await _exchange(request, address, connect_s=connect_s)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failure = HttpFailure(code=_connect_code(error))
        except (httpx2.TransportError, OSError) as error:
            return HttpFailure(code="timeout" if isinstance(error, httpx2.TimeoutException) else "not_http")
    return failure


async def _exchange(request: HttpRequest, address: str, *, connect_s: float) -> HttpResponse | HttpFailure:
    import httpx2  # noqa: PLC0415 - as above

    place = request.address
    host = f"[{address}]" if ":" in address else address
    headers = {"Host": place.authority, **_HEADERS, **request.headers}
    if place.login is not None:
        headers["Authorization"] = place.login
    sent = httpx2.Request(
        request.method,
        f"{'https' if place.secure else 'http'}://{host}:{port_of(place)}{place.target}",
        headers=headers,
        content=request.body if request.body or request.method == "POST" else None,
        # The target is sent as configured: a signed URL must not be normalised.
        extensions={
            "timeout": {"connect": connect_s},
            "sni_hostname": place.host,
            "target": place.target.encode(),
        },
    )
    async with httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False) as transport:
        response = await transport.handle_async_request(sent)
        try:
            return await _read(response, request.most_bytes)
        finally:
            await response.aclose()


async def _read(response: "httpx2.Response", most_bytes: int) -> HttpResponse | HttpFailure:
    if not most_bytes:
        return HttpResponse(status=response.status_code)
    # A thousand compressed bytes may expand to a gigabyte.
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        return HttpFailure(code="compressed")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > most_bytes:
            return HttpFailure(code="too_large")
    return HttpResponse(status=response.status_code, body=bytes(body), headers=dict(response.headers))


def _connect_code(error: Exception) -> FailureCode:
    import httpx2  # noqa: PLC0415 - as above

    if isinstance(error, httpx2.ConnectTimeout):
        return "timeout"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "tls_failed"
        cause = cause.__cause__ or cause.__context__
    return "unreachable"


@cache
def _tls() -> ssl.SSLContext:
    """Return the TLS context; it takes a megabyte, so all requests share it."""
    import httpx2  # noqa: PLC0415 - as above

    return httpx2.create_ssl_context()
