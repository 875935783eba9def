"""What counts as this machine."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost"})

REMEMBERED_HOSTS = 256
"""Every request asks, nearly always about the same few."""

FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
"""Headers a proxy adds: behind one, every caller in the world arrives from loopback."""


@lru_cache(maxsize=REMEMBERED_HOSTS)
def is_loopback_host(host: str) -> bool:
    """Whether a bare name or address (no port, no brackets) is this machine."""
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
    """Whether an ASGI request comes from this machine and was meant for it.

    The address alone does not say so: a proxy on this machine passes on anyone's requests. So the request must also
    name a loopback host, and no proxy may have left its mark.
    """
    client = scope.get("client")
    return client is not None and _comes_from_here(client[0], tuple(map(tuple, scope["headers"])))


@lru_cache(maxsize=REMEMBERED_HOSTS)
def _comes_from_here(client: str, headers: tuple[tuple[bytes, bytes], ...]) -> bool:
    """The same, remembered: a client sends the same headers with every request."""
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
    """Give name and port of `name`, `name:port`, `[v6]` or `[v6]:port`; an empty name when it is none of these."""
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
