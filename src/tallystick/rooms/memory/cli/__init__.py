"""The command `tally memory`."""
