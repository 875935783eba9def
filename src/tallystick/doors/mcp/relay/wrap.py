"""`tally mcp wrap`: the first thing is to start the server; the relay loads while it starts."""

import sys

from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.process import ServerProcess
from tallystick.errors import ConfigError

CONFIG = 4
"""The exit code of what cannot be used as it is, as the other commands have it."""


def wrap(wrapping: Wrapping) -> int:
    """Relay until one side is gone; gives the exit code."""
    try:
        process = None if wrapping.url is not None else ServerProcess(wrapping.command)
    except ConfigError as error:
        sys.stderr.write(f"error: {error.code}: {error}\n")
        return CONFIG
    from tallystick.doors.mcp.relay.session import run  # noqa: PLC0415 - loads while the server starts

    return run(wrapping, process)
