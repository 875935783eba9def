"""Run a gateway, over stdio or HTTP: the relay, with all servers as its upstream."""

import os
import sys
from pathlib import Path

from tallystick.doors.mcp.gateway.router import Router
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.session import run_before


def run_gateway(wrapping: Wrapping) -> int:
    """Relay between the clients and all servers until the client leaves or a signal arrives; return the exit code."""
    workspace, port = Path(wrapping.workspace), wrapping.port

    def upstream() -> Router:
        return Router(workspace, view=wrapping.view, timeout_s=wrapping.start_timeout_s)

    if port is None:
        return run_before(wrapping, upstream)
    from tallystick.doors.mcp.gateway.http import serve_http  # noqa: PLC0415 - loads the web server

    (relay_reads, to_relay), (from_relay, relay_writes) = os.pipe(), os.pipe()
    router = upstream()

    async def serve() -> None:
        # A client that waits long for its first answer takes an older revision of the protocol.
        await router.connect()
        await serve_http(from_relay, to_relay, longest=wrapping.longest, port=port, told=_say)

    return run_before(wrapping, lambda: router, streams=(relay_reads, relay_writes), beside=serve)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
