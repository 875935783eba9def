"""Erases a payload in place."""

import os

from tallystick.gate.record.payload import ERASED
from tallystick.storage.journal import disk
from tallystick.storage.journal.segments import Segments, offset_of, segment_of


def erase_payload(segments: Segments, place: int, columns: tuple[bytes, bytes, bytes]) -> None:
    """Overwrite the payload of the record at a position; the header stays.

    The length stays the same, so that no other byte of the log moves.
    """
    header, *payload = columns
    blank = b"\t".join(ERASED.ljust(len(column)) if column else b"" for column in payload)
    fd = disk.open_to_change(segments.path(segment_of(place)))
    try:
        if disk.pwrite(fd, blank, offset_of(place) + len(header) + 1) != len(blank):
            raise OSError("short write to the log")
        disk.fsync(fd)
    finally:
        os.close(fd)
