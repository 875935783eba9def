"""Stores policies and tool definitions by digest, so that old receipts can be read and replayed."""

from collections.abc import Callable
from pathlib import Path

import orjson

from tallystick.gate.tool import Card
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


def kept_card(read: Callable[[str, str], bytes | None], version: str) -> Card | None:
    """Return a tool's definition of that version; None if missing, unreadable or of another version.

    Args:
        read: Returns a stored definition by kind and name, e.g. `Ledger.kept`.
        version: The tool's version.
    """
    data = read("tools", f"{version}.json") if "/" not in version else None
    try:
        card = None if data is None else Card.from_definition(orjson.loads(data))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return card if card is not None and card.version == version else None
