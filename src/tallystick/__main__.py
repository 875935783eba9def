"""Entry point of `tally` and `python -m tallystick`."""

import gc
import os
import sys

WRAP = ["mcp", "wrap"]
HELP = {"--help", "-h"}
LAST_STREAM = 2
"""stdin, stdout and stderr are file descriptors 0 to 2."""
GC_THRESHOLDS = (100_000, 50, 100)
"""Start-up creates many objects that stay; Python's own thresholds spend a tenth of it searching them for garbage."""


def main() -> None:
    """Run the command line of this process.

    `tally mcp wrap` skips the command-line toolkit: a client waits for the wrapped server, and the toolkit takes longer
    to load than the relay takes to start.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    _hold_streams()
    if sys.argv[1:3] == WRAP and HELP.isdisjoint(sys.argv[3:4]):
        from tallystick.doors.cli.mcp.wrap_args import begin  # noqa: PLC0415 - only one of the two is loaded

        sys.exit(begin(sys.argv[3:]))
    from tallystick.doors.cli.app import main as run  # noqa: PLC0415 - as above

    run()


def _hold_streams() -> None:
    """Open closed standard streams on the null device; otherwise the next opened file would get their descriptor."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        os.set_inheritable(fd, True)  # noqa: FBT003 - the parameter is positional-only
    os.close(fd)


if __name__ == "__main__":
    main()
