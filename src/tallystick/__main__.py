"""`tally`, and `python -m tallystick`."""

import os
import sys

WRAP = ["mcp", "wrap"]
HELP = {"--help", "-h"}
LAST_STREAM = 2
"""stdin, stdout and stderr have the first three numbers."""


def main() -> None:
    """Run the command line of this process.

    A wrapped server is started by a client that waits for it, so it goes the short way: the command-line toolkit takes
    longer to load than the relay takes to be up.
    """
    _hold_streams()
    if sys.argv[1:3] == WRAP and HELP.isdisjoint(sys.argv[3:4]):
        from tallystick.doors.cli.mcp.wrap_args import begin  # noqa: PLC0415 - only one of the two is loaded

        sys.exit(begin(sys.argv[3:]))
    from tallystick.doors.cli.app import main as run  # noqa: PLC0415 - as above

    run()


def _hold_streams() -> None:
    """Let a stream that is closed lead nowhere: else the next file that is opened takes its number and its bytes."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        os.set_inheritable(fd, True)  # noqa: FBT003 - it has no name there
    os.close(fd)


if __name__ == "__main__":
    main()
