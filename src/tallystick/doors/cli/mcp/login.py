"""Find out which HTTP servers ask for a login of the client's own (OAuth), which the gate cannot carry."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.providers.net.connection_pool import ConnectionPool, ConnectionPoolError

TIMEOUT_S = 5.0
UNAUTHORISED = 401
_HELLO = orjson.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "tallystick", "version": "1"},
        },
    }
)
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def asking_for_login(servers: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of servers without headers of their own that answer 401; others are not asked."""
    from tallystick.doors.mcp.relay.clients import ADDRESSES

    addresses = {
        name: address
        for name, entry in servers.items()
        if isinstance(entry, Mapping)
        and not (entry.get("headers") or entry.get("http_headers"))
        and (address := next((entry[key] for key in ADDRESSES if isinstance(entry.get(key), str)), None))
    }
    return asyncio.run(_ask_all(addresses)) if addresses else frozenset()


async def _ask_all(addresses: Mapping[str, str]) -> frozenset[str]:
    asked = await asyncio.gather(*map(_refuses, addresses.values()))
    return frozenset(name for name, refuses in zip(addresses, asked, strict=True) if refuses)


async def _refuses(address: str) -> bool:
    try:
        server = ConnectionPool(address, [])
        async with asyncio.timeout(TIMEOUT_S):
            reply = await server.ask("POST", _HEADERS, _HELLO)
    except (ConfigError, ConnectionPoolError, TimeoutError):
        # A server that cannot be reached now is taken as it is.
        return False
    reply.wire.close()
    server.close()
    return reply.status == UNAUTHORISED
