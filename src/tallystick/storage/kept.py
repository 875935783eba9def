"""Policies and tool definitions, kept under their digests so that old receipts can be read and replayed."""

from pathlib import Path

from tallystick.storage.journal.disk import make_folder, read_whole, write_whole


def keep(audit: Path, kind: str, name: str, data: bytes, *, durable: bool = True) -> None:
    """Keep a file once; the name holds the digest of what is in it.

    Args:
        audit: The folder of the audit.
        kind: What it is: `tools`, `policies`.
        name: Its name there.
        data: What it holds.
        durable: Whether it must be on the disk when this returns, as the receipts that name it are.
    """
    path = audit / kind / name
    if not path.exists():
        make_folder(path.parent)
        write_whole(path, data, durable=durable)


def kept(audit: Path, kind: str, name: str) -> bytes | None:
    """Give back what was kept."""
    return read_whole(audit / kind / name)
