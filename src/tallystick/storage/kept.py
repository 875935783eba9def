"""Reads the tool definitions that are stored by digest, so that old calls can be replayed."""

from collections.abc import Callable

import orjson

from tallystick.gate.tool import Card


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
