"""A GET request to one preconfigured host, with limits on time and size and without redirects.

The name is resolved once; every address must be public (unless the settings allow private ones), and the connection
goes to exactly the address that was checked, so changing the DNS record in between gains nothing.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

import h11

MAX_ANSWER = 1024 * 1024
CHUNK = 64 * 1024


class NoAnswer(Exception):  # noqa: N818 - an outcome that the caller reports
    """There is no usable response; the text says why and contains no key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A host that may be contacted."""

    secure: bool
    host: str
    port: int
    path: str
    private: bool = False
    """Whether private addresses are allowed."""


def parse_place(url: str, *, private: bool) -> Place | None:
    """Parse a URL; None unless it is https, or http to this machine (or to a private address, if allowed)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    secure = parts.scheme == "https"
    plain = url.isascii() and url.isprintable() and " " not in url and parts.username is None and not parts.fragment
    if not plain or not host or not (secure or (parts.scheme == "http" and (private or _is_loopback(host)))):
        return None
    return Place(
        secure=secure, host=host, port=port or (443 if secure else 80), path=parts.path or "/",
        private=private or _is_loopback(host),
    )  # fmt: skip


async def get(place: Place, query: str, headers: Mapping[str, str], *, within_s: float) -> bytes:
    """Return the body of a response with status 200.

    Raises:
        NoAnswer: Anything else.
    """
    try:
        async with asyncio.timeout(within_s):
            return await _asked(place, query, headers, await address_of(place))
    except TimeoutError:
        raise NoAnswer(f"no answer within {within_s:g} s") from None
    except ssl.SSLError:
        raise NoAnswer("no TLS connection") from None
    except OSError as error:
        raise NoAnswer(f"no connection ({error.strerror or 'unknown'})") from None
    except h11.ProtocolError:
        raise NoAnswer("it does not speak HTTP") from None


async def address_of(place: Place) -> str:
    """Return the address to connect to.

    Raises:
        NoAnswer: The name has no address, or one of them is private.
    """
    found = await asyncio.get_running_loop().getaddrinfo(place.host, place.port)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses:
        raise NoAnswer("its name has no address")
    if not place.private and not all(is_outside(address) for address in addresses):
        message = "its name leads to an address inside; set rooms.desk.web.private if that is meant"
        raise NoAnswer(message)
    return addresses[0]


def is_outside(address: str) -> bool:
    """Return whether an address is public: not loopback, private, link-local or a metadata service."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        # An IPv6 address that only wraps an IPv4 address counts as that address.
        found = found.ipv4_mapped or found.sixtofour or found
        if isinstance(found, IPv6Address) and (found.teredo is not None or found in _NAT64):
            return False
    return found.is_global and not found.is_multicast


async def _asked(place: Place, query: str, headers: Mapping[str, str], address: str) -> bytes:
    context = ssl.create_default_context() if place.secure else None
    reader, writer = await asyncio.open_connection(
        address, place.port, ssl=context, server_hostname=place.host if place.secure else None
    )
    try:
        state = h11.Connection(h11.CLIENT)
        usual = 443 if place.secure else 80
        host = place.host if ":" not in place.host else f"[{place.host}]"
        named = host if place.port == usual else f"{host}:{place.port}"
        sent = [("Host", named), ("Accept", "application/json"), ("Connection", "close"), ("User-Agent", "tallystick")]
        request = h11.Request(method="GET", target=f"{place.path}?{query}", headers=[*sent, *headers.items()])
        writer.write((state.send(request) or b"") + (state.send(h11.EndOfMessage()) or b""))
        await writer.drain()
        return await _body(state, reader)
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()


async def _body(state: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        event = state.next_event()
        if event is h11.NEED_DATA:
            state.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Response) and event.status_code != 200:  # noqa: PLR2004
            # Redirects too: one could send the query or the key anywhere.
            raise NoAnswer(f"status {event.status_code}")
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_ANSWER:
                raise NoAnswer(f"more than {MAX_ANSWER // 1024} KB")
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            return bytes(body)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_NAT64 = ip_network("64:ff9b::/96")
