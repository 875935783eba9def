"""Run a gateway over stdio: the relay, with all servers as its upstream."""

from pathlib import Path

from tallystick.doors.mcp.gateway.router import Router
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.session import run_before


def run_gateway(wrapping: Wrapping) -> int:
    """Relay between one client and all servers until the client leaves; return the exit code."""
    workspace = Path(wrapping.workspace)
    return run_before(wrapping, lambda: Router(workspace, view=wrapping.view, timeout_s=wrapping.start_timeout_s))
