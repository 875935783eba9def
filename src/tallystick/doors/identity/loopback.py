"""Decide which hosts and requests are local to this machine."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost"})

REMEMBERED_HOSTS = 256
"""Cache size; nearly all requests have the same few hosts and headers."""

FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
"""Headers that a proxy adds: behind a local proxy, every remote client connects from loopback."""


@lru_cache(maxsize=REMEMBERED_HOSTS)
def is_loopback_host(host: str) -> bool:
    """Return whether a bare name or address (no port, no brackets) is loopback."""
    if host.lower() in LOOPBACK_NAMES:
        return True
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback


def is_local(scope: Mapping[str, Any]) -> bool:
    """Return whether an ASGI request comes from this machine and is addressed to it.

    The client address alone is not enough: a proxy on this machine forwards remote requests. So `Host` must also be
    loopback, and no proxy header may be present.
    """
    client = scope.get("client")
    return client is not None and _comes_from_here(client[0], tuple(map(tuple, scope["headers"])))


@lru_cache(maxsize=REMEMBERED_HOSTS)
def _comes_from_here(client: str, headers: tuple[tuple[bytes, bytes], ...]) -> bool:
    """Cached part of `is_local`: a client sends the same headers with every request."""
    if not is_loopback_host(client):
        return False
    host: bytes | None = None
    for name, value in headers:
        if name in FORWARDED or (name == b"host" and host is not None):
            return False
        if name == b"host":
            host = value
    return host is not None and _names_loopback(host)


def split_host(authority: str) -> tuple[str, str]:
    """Split `name`, `name:port`, `[v6]` or `[v6]:port` into name and port; both empty if malformed."""
    if authority.startswith("["):
        name, bracket, rest = authority[1:].partition("]")
        port = rest.removeprefix(":")
        well_formed = bracket and (not rest or (rest[0] == ":" and _is_port(port)))
    else:
        name, colon, port = authority.partition(":")
        well_formed = not colon or _is_port(port)
    return (name, port) if well_formed else ("", "")


@lru_cache(maxsize=REMEMBERED_HOSTS)
def _names_loopback(authority: bytes) -> bool:
    return is_loopback_host(split_host(authority.decode("latin-1"))[0])


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len("65535")
