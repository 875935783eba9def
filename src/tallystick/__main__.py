"""`tally`, and `python -m tallystick`."""

import sys

WRAP = ["mcp", "wrap"]
HELP = {"--help", "-h"}


def main() -> None:
    """Run the command line of this process.

    A wrapped server is started by a client that waits for it, so it goes the short way: the command-line toolkit takes
    longer to load than the relay takes to be up.
    """
    if sys.argv[1:3] == WRAP and HELP.isdisjoint(sys.argv[3:4]):
        from tallystick.doors.cli.wrapping import begin  # noqa: PLC0415 - only one of the two is loaded

        sys.exit(begin(sys.argv[3:]))
    from tallystick.doors.cli.app import main as run  # noqa: PLC0415 - as above

    run()


if __name__ == "__main__":
    main()
