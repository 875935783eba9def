"""The journal's files, opened together, and their options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tallystick.storage.journal import disk
from tallystick.storage.journal.blobs import Blobs
from tallystick.storage.journal.checkpoints import Checkpoints
from tallystick.storage.journal.courier import Witness
from tallystick.storage.journal.head import HeadFile
from tallystick.storage.journal.segments import Segments
from tallystick.storage.journal.tiles import Tiles
from tallystick.storage.journal.views import Views
from tallystick.storage.journal.witnesses import Witnesses


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of the journal."""

    durability: Literal["fsync", "os"] = "fsync"
    segment_bytes: int = 256 * 1024 * 1024
    checkpoint_every: int = 256
    checkpoint_s: int = 10
    mirror: Path | None = None
    """File outside the workspace that holds a copy of the head; None: no mirror."""
    witnesses: tuple[Witness, ...] = ()
    """Receivers of every checkpoint."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalFiles:
    """All parts of the journal, each with its own file or folder."""

    folder: Path
    """`.control-room/audit/journal`."""
    options: Options
    segments: Segments
    head: HeadFile
    mirror: HeadFile | None
    mirror_fault: str | None
    """Why the configured mirror could not be opened; None if it was opened or none is configured."""
    checkpoints: Checkpoints
    witnesses: Witnesses
    tiles: Tiles
    views: Views
    blobs: Blobs

    @property
    def durable(self) -> bool:
        """Whether a commit waits for fsync."""
        return self.options.durability == "fsync"

    def close(self) -> None:
        """Close all files."""
        self.head.close()
        if self.mirror is not None:
            self.mirror.close()
        self.checkpoints.close()
        self.tiles.close()
        self.views.close()


def open_files(audit: Path, options: Options) -> JournalFiles:
    """Open the parts under `.control-room/audit`, creating missing ones."""
    folder = audit / "journal"
    disk.make_folder(folder)
    mirror, fault = _open_mirror(options.mirror)
    note = None if mirror is None or options.mirror is None else options.mirror.with_suffix(".checkpoint")
    return JournalFiles(
        folder=folder,
        options=options,
        segments=Segments(folder),
        head=HeadFile(folder / "head"),
        mirror=mirror,
        mirror_fault=fault,
        checkpoints=Checkpoints(folder / "checkpoints", note),
        witnesses=Witnesses(options.witnesses),
        tiles=Tiles(folder / "tree"),
        views=Views(audit / "sessions", folder / "mend", folder / "replaced"),
        blobs=Blobs(audit / "blobs", durable=options.durability == "fsync"),
    )


def _open_mirror(path: Path | None) -> tuple[HeadFile | None, str | None]:
    """Open the mirror; a failure is returned as text, to be recorded in the log, and does not stop the journal."""
    if path is None:
        return None, None
    try:
        disk.make_folder(path.parent)
        return HeadFile(path), None
    except OSError as error:
        return None, error.strerror or "cannot be opened"
