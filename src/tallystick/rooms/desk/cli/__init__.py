"""The command `tally desk`."""

from tallystick.rooms.desk.cli.tickets import add_to

__all__ = ["add_to"]
