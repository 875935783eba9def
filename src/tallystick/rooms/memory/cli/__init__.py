"""The command `tally memory`."""

from tallystick.rooms.memory.cli.commands import add_to

__all__ = ["add_to"]
