"""The doors that the tests of the room's routes knock at."""

from tests.doors.http.conftest import door, locked, open_door, well_used

__all__ = ["door", "locked", "open_door", "well_used"]
