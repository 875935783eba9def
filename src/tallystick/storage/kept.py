"""Policies and tool definitions, kept under their digests so that old receipts can be read and replayed."""

from pathlib import Path

import orjson

from tallystick.gate.tool import Card
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


def kept_card(audit: Path, version: str) -> Card | None:
    """The definition of a tool as it was in that version; believed only if it is of that version."""
    data = kept(audit, "tools", f"{version}.json") if "/" not in version else None
    try:
        card = None if data is None else Card.from_definition(orjson.loads(data))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return card if card is not None and card.version == version else None
