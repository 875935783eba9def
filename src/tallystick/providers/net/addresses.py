"""Resolve a host name once and decide whether its addresses may be connected to."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from tallystick.http_port import HttpAddress, HttpFailure

Resolved = list[tuple[int, int, int, str, tuple[str | int | bytes, ...]]]
"""The result of `getaddrinfo`."""

_REFUSED = tuple(
    map(
        ip_network,
        (
            "::/96",  # IPv4-compatible, deprecated: some systems still route it as the IPv4 address inside
            "64:ff9b::/96",  # NAT64: the gateway, not this check, knows where the IPv4 address inside leads
            "64:ff9b:1::/48",  # NAT64 for local use
            "2001::/32",  # Teredo
            "fec0::/10",  # site-local, deprecated but still assigned
        ),
    )
)


def port_of(address: HttpAddress) -> int:
    """Return the TCP port."""
    return address.port or (443 if address.secure else 80)


def resolve(address: HttpAddress) -> Resolved:
    """Resolve the host; blocks. Raises OSError or UnicodeError as `getaddrinfo` does."""
    return list(socket.getaddrinfo(address.host, port_of(address), type=socket.SOCK_STREAM))


def checked(address: HttpAddress, found: Resolved) -> list[str] | HttpFailure:
    """Return the IP addresses to try in order; a failure if there is none or if one of them is not allowed."""
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses:
        return HttpFailure(code="name_unknown")
    # One private address among public ones is refused too: which one a resolver puts first is chance.
    if not address.private and not all(map(is_public, addresses)):
        return HttpFailure(code="address_private")
    return addresses


def is_public(address: str) -> bool:
    """Return whether an IP address is public: not loopback, private, link-local, multicast or a way around those."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        # An IPv6 address that only wraps an IPv4 address counts as that address.
        found = found.ipv4_mapped or found.sixtofour or found
    if any(found in network for network in _REFUSED if network.version == found.version):
        return False
    return found.is_global and not found.is_multicast
