"""`tally mcp wrap`: start the server first, then load the relay while the server starts."""

import sys

from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.process import ServerProcess
from tallystick.errors import ConfigError

CONFIG = 4
"""Exit code for a configuration error, the same as in the other commands."""


def wrap(wrapping: Wrapping) -> int:
    """Relay until one side ends; return the exit code."""
    try:
        process = None if wrapping.url is not None else ServerProcess(wrapping.command)
    except ConfigError as error:
        sys.stderr.write(f"error: {error.code}: {error}\n")
        return CONFIG
    from tallystick.doors.mcp.relay.session import run  # noqa: PLC0415 - loads while the server starts

    return run(wrapping, process)
