"""`tally`, and `python -m tallystick`."""

from tallystick.doors.cli.app import main

if __name__ == "__main__":
    main()
