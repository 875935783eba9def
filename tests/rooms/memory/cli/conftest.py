"""The workspace and the `tally` that the tests of the room's commands use."""

from tests.doors.cli.conftest import held, tally, token, workspace

__all__ = ["held", "tally", "token", "workspace"]
