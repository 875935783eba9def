"""The command `tally insight`."""

from tallystick.rooms.insight.cli.commands import add_to

__all__ = ["add_to"]
