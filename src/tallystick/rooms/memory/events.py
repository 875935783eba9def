"""From a receipt to an event: what of the ledger is memory's, and what was erased from it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tallystick.gate.record.masks import readable
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.record.secrets import redacted_keys
from tallystick.gate.role_names import OWNER_ROLE, PERSON_ROLE
from tallystick.rooms.memory.fold import HANDLERS
from tallystick.rooms.memory.nouns import Event
from tallystick.rooms.memory.speakers import agent_of
from tallystick.rooms.memory.times import seconds

_DONE = frozenset({"accepted", "transformed"})

_TOOLS = frozenset(name.encode() for name in HANDLERS)
_TOOL_ID = b'"tool_id":"'
_SECOND = 19
"""Letters of a timestamp up to the second."""
_SHAPED = frozenset(
    {
        "source", "class", "volatility", "quotes", "result", "discriminating", "observation_ids", "derived_from",
        "possible_same_as", "supersedes", "aliases",
    }
)  # fmt: skip
"""Arguments that are no free words: where the ledger keeps only a digest of one, nothing can be made of the event."""


def events_in(receipts: Iterable[Receipt]) -> Iterator[Event]:
    """Memory's events among these receipts, in order; erased ones are not there."""
    for receipt in receipts:
        event = event_of(receipt)
        if event is not None:
            yield event


def may_be_event(header: bytes) -> bool:
    """False: it is surely neither an event nor an erasure, so that nobody needs to read it. Keys are sorted."""
    if b'"kind":"outcome"' not in header:
        return b'"kind":"erasure"' in header
    # Only plain text comes after it, in which quotes are escaped: the last one is the record's own.
    begins = header.rfind(_TOOL_ID) + len(_TOOL_ID)
    return header[begins : header.find(b'"', begins)] in _TOOLS


def event_of(receipt: Receipt) -> Event | None:
    """The event that a receipt records; None: it is none of memory's, it was refused, or what it says is gone."""
    header = receipt.header
    tool: str = header.get("tool_id", "")
    if tool not in HANDLERS or header["kind"] != "outcome" or receipt.inputs is None:
        return None
    outcome = header.get("outcome", {})
    if outcome.get("status") not in _DONE or "fault" in outcome:
        return None
    args = _stored(receipt.inputs)
    if header.get("context", {}).get("redacted"):
        if not _SHAPED.isdisjoint(redacted_keys(args) | redacted_keys(args.get("source", {}))):
            return None
        # Which names are secret, the settings say.
        args = readable(args)
    said = args.get("at")
    # The ledger writes finer than memory reads: by the second, most have been read before.
    at = seconds(f"{header['timestamp'][:_SECOND]}Z" if said is None else said)
    return Event(
        seq=header["seq"], receipt_id=header["receipt_id"], at=at or 0, tool=tool, args=args, agent=_agent(header),
        by_owner=OWNER_ROLE in header["caller"]["roles"], subject=header["caller"]["subject"],
        is_person=PERSON_ROLE in header["caller"]["roles"],
    )  # fmt: skip


def erased_by(receipt: Receipt) -> str | None:
    """The receipt whose payload this one ordered to be erased."""
    if receipt.header["kind"] != "erasure":
        return None
    erased: str | None = receipt.header.get("links", {}).get("erased")
    return erased


def _stored(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool received them."""
    args: dict[str, Any] = inputs.get("normalised", inputs)["args"]
    return args


def _agent(header: Mapping[str, Any]) -> str | None:
    return agent_of(header["caller"]["channel"], header.get("agent_id"), in_turn="turn_id" in header)
