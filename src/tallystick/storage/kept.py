"""Policies and tool definitions, kept under their digests so that old receipts can be read and replayed."""

from pathlib import Path

from tallystick.storage.journal.disk import make_folder, read_whole, write_whole


def keep(audit: Path, kind: str, name: str, data: bytes) -> None:
    """Keep a file once; the name holds the digest of what is in it."""
    path = audit / kind / name
    if not path.exists():
        make_folder(path.parent)
        write_whole(path, data)


def kept(audit: Path, kind: str, name: str) -> bytes | None:
    """Give back what was kept."""
    return read_whole(audit / kind / name)
