"""Stores policies and tool definitions by digest, so that old receipts can be read and replayed."""

from pathlib import Path

from tallystick.storage.journal.disk import make_folder, read_whole, write_whole


def keep(audit: Path, kind: str, name: str, data: bytes, *, durable: bool = True) -> None:
    """Store a file once; its name contains the digest of its content.

    Args:
        audit: The audit folder.
        kind: The subfolder: `tools` or `policies`.
        name: The file name.
        data: The content.
        durable: Whether to fsync before returning, as for the receipts that refer to it.
    """
    path = audit / kind / name
    if not path.exists():
        make_folder(path.parent)
        write_whole(path, data, durable=durable)


def kept(audit: Path, kind: str, name: str) -> bytes | None:
    """Return a stored file; None if it does not exist."""
    return read_whole(audit / kind / name)
