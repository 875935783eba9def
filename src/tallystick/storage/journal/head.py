"""The head: how long the journal is and how it ends, written in place with every commit.

Two slots, written by turns, each alone in a disk sector: a crash in the middle of a write spoils one slot and leaves
the one before it. A file of its own outside the workspace (the mirror) holds the same slots, so that a journal that
was cut, deleted or rolled back shows. Writing a new file and renaming it would cost 46 floors, in place 0.2.

    slot = magic (8) ‖ key id (8) ‖ epoch ‖ size ‖ checkpointed ‖ flags ‖ end (8 each) ‖ leaf (32) ‖ MAC (32)
"""

import os
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from tallystick.gate.record.journal import ZERO, Notary
from tallystick.storage.journal import disk

STRIDE = 512
"""One sector: what a disk writes whole or not at all."""
FAILED = 1
"""Flag: an fsync failed; nobody may append until the files were written anew."""

_MAGIC = b"tallyhd1"
_BODY = Struct(">QQQQQ32s")
_pack = _BODY.pack
_START = len(_MAGIC) + 8
SLOT = _START + _BODY.size + 32


class Head(NamedTuple):
    """How the journal ended at one commit. Of two heads the greater is the later: the fields stand in that order."""

    epoch: int = 0
    """Grows when the log had to be shortened, so that a head from before that never counts as the later one."""
    size: int = 0
    checkpointed: int = 0
    """Size that the latest checkpoint covers."""
    flags: int = 0
    end: int = 0
    """Segment number · 2^40 + offset just behind the last record."""
    leaf: bytes = ZERO


def pack(head: tuple[int, int, int, int, int, bytes], notary: Notary) -> bytes:
    """The bytes of a slot; a plain tuple of a head's fields will do."""
    return b"tallyhd1%b%b%b" % notary.head_mac(_pack(*head))


def unpack(slot: bytes, notary: Notary) -> Head | None:
    """The head in a slot; None if it is empty, spoiled or written with a key that is not ours."""
    if len(slot) < SLOT or not slot.startswith(_MAGIC):
        return None
    key_id, body, mac = slot[len(_MAGIC) : _START], slot[_START : SLOT - 32], slot[SLOT - 32 : SLOT]
    if not notary.head_holds(key_id, body, mac):
        return None
    return Head._make(_BODY.unpack(body))


class HeadFile:
    """Two slots on disk, here or in the mirror; `heads.py` writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)

    def read(self, notary: Notary) -> Head | None:
        """The latest head that holds."""
        return latest(os.pread(self.fd, STRIDE + SLOT, 0), notary)

    def newest_at(self, notary: Notary) -> int:
        """Where the latest head stands, so that the next one goes to the other place."""
        slots = os.pread(self.fd, STRIDE + SLOT, 0)
        first, second = unpack(slots[:SLOT], notary), unpack(slots[STRIDE:], notary)
        return STRIDE if second is not None and (first is None or second > first) else 0

    def empty(self) -> bool:
        """Whether no head was ever written."""
        return not os.pread(self.fd, STRIDE + SLOT, 0).strip(b"\0")

    def in_place(self) -> bool:
        """Whether the open file is still the one that the path names."""
        try:
            there, here = os.lstat(self._path), os.fstat(self.fd)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.fd)


def named_by(slots: bytes) -> int:
    """How many records the heads in these slots name, whoever wrote them."""
    found = [slots[at : at + SLOT] for at in (0, STRIDE)]
    bodies = [slot[_START : SLOT - 32] for slot in found if len(slot) == SLOT and slot.startswith(_MAGIC)]
    return max((Head._make(_BODY.unpack(body)).size for body in bodies), default=0)


def latest(slots: bytes, notary: Notary) -> Head | None:
    """The newer of the two heads that hold."""
    found = latest_slot(slots, notary)
    return None if found is None else found[0]


def latest_slot(slots: bytes, notary: Notary) -> tuple[Head, bytes] | None:
    """The same, with the id of the key that it bears the MAC of."""
    heads = [(unpack(slots[at : at + SLOT], notary), slots[at + len(_MAGIC) : at + _START]) for at in (0, STRIDE)]
    return max(((head, key_id) for head, key_id in heads if head is not None), default=None)
