"""The head: size and last leaf of the journal, written in place with every commit.

Two slots are written alternately, each in its own disk sector: a crash during a write corrupts one slot and leaves the
previous one. A file outside the workspace (the mirror) holds the same slots, so that truncation, deletion or rollback
of the journal is detected. Writing in place costs 0.2 of the benchmark's floor, a new file with rename 46.

    slot = magic (8) ‖ key id (8) ‖ epoch ‖ size ‖ checkpointed ‖ flags ‖ end (8 each) ‖ leaf (32) ‖ MAC (32)
"""

import os
from functools import lru_cache
from hmac import compare_digest
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from tallystick.gate.record.journal import ZERO, Incident
from tallystick.gate.record.signing import HmacKey, Keys
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


def pack(head: tuple[int, int, int, int, int, bytes], keys: Keys) -> bytes:
    """Encode a slot; a plain tuple of a head's fields is accepted."""
    key = keys.active()
    data = key.raw_id + _pack(*head)
    return b"tallyhd1%b%b" % (data, _head_key(key).mac(data))


def unpack(slot: bytes, keys: Keys) -> Head | None:
    """Decode the head in a slot; None if it is empty, corrupt or carries a MAC of an unknown key."""
    if len(slot) < SLOT or not slot.startswith(_MAGIC):
        return None
    key = keys.find(slot[len(_MAGIC) : _START].hex())
    if key is None or not compare_digest(_head_key(key).mac(slot[len(_MAGIC) : SLOT - 32]), slot[SLOT - 32 : SLOT]):
        return None
    return Head._make(_BODY.unpack(slot[_START : SLOT - 32]))


@lru_cache(maxsize=64)
def _head_key(key: HmacKey) -> HmacKey:
    """Derive the key for heads; cached, because every commit needs it."""
    return key.derive("head")


class HeadFile:
    """The two slots on disk, in the workspace or in the mirror; `HeadWriter` writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = disk.open_file(path, flags, disk.FILE_MODE)

    def read(self, keys: Keys) -> Head | None:
        """Return the latest head that verifies."""
        return latest(self.slots(), keys)

    def slots(self) -> bytes:
        """Return both slots."""
        return os.pread(self.fd, STRIDE + SLOT, 0)

    def newest_at(self, keys: Keys) -> int:
        """Return the offset of the latest head; the next head goes to the other slot."""
        slots = self.slots()
        first, second = unpack(slots[:SLOT], keys), unpack(slots[STRIDE:], keys)
        return STRIDE if second is not None and (first is None or second > first) else 0

    def empty(self) -> bool:
        """Return whether no head was ever written."""
        return not self.slots().strip(b"\0")

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


def is_behind(mirrored: Head, slots: bytes, keys: Keys) -> bool:
    """Return whether a mirror is older than both heads in these slots; a crash leaves it at the older one at least."""
    heads = [unpack(slots[at : at + SLOT], keys) for at in (0, STRIDE)]
    return mirrored.size < min((head.size for head in heads if head is not None), default=0)


def latest(slots: bytes, keys: Keys) -> Head | None:
    """Return the later of the heads that verify."""
    found = latest_slot(slots, keys)
    return None if found is None else found[0]


def latest_slot(slots: bytes, keys: Keys) -> tuple[Head, bytes] | None:
    """Return the later of the heads that verify, with the id of its MAC key."""
    heads = [(unpack(slots[at : at + SLOT], keys), slots[at + len(_MAGIC) : at + _START]) for at in (0, STRIDE)]
    return max(((head, key_id) for head, key_id in heads if head is not None), default=None)


class HeadWriter:
    """Writes the head to workspace and mirror with every commit, alternating between the two slots."""

    def __init__(
        self, file: HeadFile, mirror: HeadFile | None, keys: Keys, head: Head, incidents: list[Incident]
    ) -> None:
        self._file, self._fd = file, file.fd
        self._mirror = mirror
        self._keys = keys
        self._incidents = incidents
        self._mirror_reported = False
        self._at = file.newest_at(keys)
        self._slots = self._read(self._at), self._read(STRIDE - self._at)
        """Contents of the newest slot and of the older one, which the next head overwrites."""
        self._head: tuple[int, int, int, int, int, bytes] = head

    @property
    def head(self) -> Head:
        """The head as this process last wrote or read it."""
        return Head._make(self._head)

    def take(self, head: Head) -> None:
        """Adopt a head that another process has written."""
        self._head, self._at = head, self._file.newest_at(self._keys)
        self._slots = self._read(self._at), self._read(STRIDE - self._at)

    def covered(self, size: int) -> bool:
        """Return whether another process has written a head covering `size` records; a smaller head is adopted."""
        if self._read(STRIDE - self._at) == self._slots[1]:
            return False
        head = self._file.read(self._keys)
        if head is None or head.size >= size:
            return True
        self.take(head)  # another process wrote a checkpoint, which changes only the head
        return False

    def write(self, size: int, end: int, leaf: bytes) -> None:
        """Write the head of a commit. A mirror error is recorded in the log and does not fail the commit."""
        # A plain tuple, because this runs for every call and fields are rarely accessed.
        self.write_as((self._head[0], size, self._head[2], 0, end, leaf))

    def write_as(self, head: tuple[int, int, int, int, int, bytes]) -> None:
        """Write a head in which any field may have changed."""
        slot, at = pack(head, self._keys), STRIDE - self._at
        if disk.pwrite(self._fd, slot, at) != SLOT:
            raise OSError("short write to the head")
        self._head, self._at, self._slots = head, at, (slot, self._slots[0])
        if self._mirror is not None:
            try:
                disk.pwrite(self._mirror.fd, slot, at)
            except OSError as error:
                self._report_mirror(error.strerror or "")

    def _read(self, at: int) -> bytes:
        return os.pread(self._fd, SLOT, at)

    def _report_mirror(self, reason: str) -> None:
        """Report a mirror error once: a permanently missing mirror would otherwise add a record to every commit."""
        if not self._mirror_reported:
            self._mirror_reported = True
            self._incidents.append(Incident(what="mirror_unwritable", details={"reason": reason}))
