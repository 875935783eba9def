"""What things at the desk are called.

Names that are made here follow from what they belong to, so that whatever is done twice is found the second time.
"""

import re
from hashlib import sha256

from tallystick.gate.session import valid_session_id
from tallystick.rooms.desk.nouns import Kind

TICKET_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,119}")
"""It stands in addresses, receipts and names of sessions."""
_OURS = re.compile(r"(?:triage|tool|reply)_[0-9a-f]{24}")
_DIGITS = 24


def is_ours(ticket_id: str) -> bool:
    """Whether only the desk makes such ids. Whoever could bring one could put a ticket where a derived one will be."""
    return _OURS.fullmatch(ticket_id) is not None


def derived_id(kind: Kind, parent_id: str) -> str:
    """The id of the ticket of a kind that follows from another: there is one."""
    return f"{kind.lower()}_{digest(kind, parent_id)[:_DIGITS]}"


def session_of(ticket_id: str) -> str:
    """The session of all calls for a ticket; a receipt of another session says nothing about it."""
    plain = f"desk-{ticket_id}"
    return plain if valid_session_id(plain) else f"desk-{digest('session', ticket_id)[:_DIGITS]}"


def message_key(root_id: str) -> str:
    """The key of the one answer to what a customer wrote."""
    return digest("message", root_id)


def digest(*parts: str) -> str:
    """A name for parts in their order; no two lists of parts have the same."""
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()
