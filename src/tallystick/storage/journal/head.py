"""The head: size and last leaf of the journal, written in place with every commit.

Two slots are written alternately, each in its own disk sector: a crash during a write corrupts one slot and leaves the
previous one. A file outside the workspace (the mirror) holds the same slots, so that truncation, deletion or rollback
of the journal is detected. Writing in place costs 0.2 of the benchmark's floor, a new file with rename 46.

    slot = magic (8) ‖ key id (8) ‖ epoch ‖ size ‖ checkpointed ‖ flags ‖ end (8 each) ‖ leaf (32) ‖ MAC (32)
"""

import os
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from tallystick.gate.record.journal import ZERO, Notary
from tallystick.storage.journal import disk

STRIDE = 512
"""One sector, which a disk writes atomically."""
FAILED = 1
"""Flag: an fsync failed; no process may append until the last segment is rewritten."""

_MAGIC = b"tallyhd1"
_BODY = Struct(">QQQQQ32s")
_pack = _BODY.pack
_START = len(_MAGIC) + 8
SLOT = _START + _BODY.size + 32


class Head(NamedTuple):
    """The end of the journal at one commit. The fields are ordered so that the later of two heads compares greater."""

    epoch: int = 0
    """Increases when the log had to be shortened, so that an older head never compares as the later one."""
    size: int = 0
    checkpointed: int = 0
    """Number of records that the latest checkpoint covers."""
    flags: int = 0
    end: int = 0
    """Segment number · 2^40 + offset just after the last record."""
    leaf: bytes = ZERO


def pack(head: tuple[int, int, int, int, int, bytes], notary: Notary) -> bytes:
    """Encode a slot; a plain tuple of a head's fields is accepted."""
    return b"tallyhd1%b%b%b" % notary.head_mac(_pack(*head))


def unpack(slot: bytes, notary: Notary) -> Head | None:
    """Decode the head in a slot; None if it is empty, corrupt or carries a MAC of an unknown key."""
    if len(slot) < SLOT or not slot.startswith(_MAGIC):
        return None
    key_id, body, mac = slot[len(_MAGIC) : _START], slot[_START : SLOT - 32], slot[SLOT - 32 : SLOT]
    if not notary.head_holds(key_id, body, mac):
        return None
    return Head._make(_BODY.unpack(body))


class HeadFile:
    """The two slots on disk, in the workspace or in the mirror; `heads.py` writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)

    def read(self, notary: Notary) -> Head | None:
        """Return the latest head that verifies."""
        return latest(os.pread(self.fd, STRIDE + SLOT, 0), notary)

    def newest_at(self, notary: Notary) -> int:
        """Return the offset of the latest head; the next head goes to the other slot."""
        slots = os.pread(self.fd, STRIDE + SLOT, 0)
        first, second = unpack(slots[:SLOT], notary), unpack(slots[STRIDE:], notary)
        return STRIDE if second is not None and (first is None or second > first) else 0

    def empty(self) -> bool:
        """Return whether no head was ever written."""
        return not os.pread(self.fd, STRIDE + SLOT, 0).strip(b"\0")

    def in_place(self) -> bool:
        """Return whether the path still names the open file."""
        try:
            there, here = os.lstat(self._path), os.fstat(self.fd)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def close(self) -> None:
        """Close the file."""
        os.close(self.fd)


def named_by(slots: bytes) -> int:
    """Return the largest record count in these slots, without checking the MACs."""
    found = [slots[at : at + SLOT] for at in (0, STRIDE)]
    bodies = [slot[_START : SLOT - 32] for slot in found if len(slot) == SLOT and slot.startswith(_MAGIC)]
    return max((Head._make(_BODY.unpack(body)).size for body in bodies), default=0)


def latest(slots: bytes, notary: Notary) -> Head | None:
    """Return the later of the heads that verify."""
    found = latest_slot(slots, notary)
    return None if found is None else found[0]


def latest_slot(slots: bytes, notary: Notary) -> tuple[Head, bytes] | None:
    """Return the later of the heads that verify, with the id of its MAC key."""
    heads = [(unpack(slots[at : at + SLOT], notary), slots[at + len(_MAGIC) : at + _START]) for at in (0, STRIDE)]
    return max(((head, key_id) for head, key_id in heads if head is not None), default=None)
