"""The ledger's receipts as memory reads them: events, erasures, and which receipts an erasure must cover.

An observation is stored in the receipts that recorded it, and its words in those of all proposals that name it: facts,
evidence, entities, whatever was derived from it, and so on. Rejected proposals hold the words as well. Memory keeps
only the first receipt of each, so the others are searched in the log.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tallystick.gate.record.masks import readable
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.record.secrets import redacted_keys
from tallystick.gate.role_names import OWNER_ROLE, PERSON_ROLE
from tallystick.records import record
from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.project.fold import HANDLERS
from tallystick.rooms.memory.propose.speakers import agent_of
from tallystick.rooms.memory.times import seconds

_DONE = frozenset({"accepted", "transformed"})

_TOOLS = frozenset(name.encode() for name in HANDLERS)
_TOOL_ID = b'"tool_id":"'
_SECOND = 19
"""Characters of a timestamp up to the second."""
_SHAPED = frozenset(
    {
        "source",
        "class",
        "volatility",
        "quotes",
        "result",
        "discriminating",
        "observation_ids",
        "derived_from",
        "possible_same_as",
        "supersedes",
        "aliases",
    }
)
"""Arguments with a fixed form: if the ledger keeps only a digest of one, the event cannot be read."""


def events_in(receipts: Iterable[Receipt]) -> Iterator[Event]:
    """Yield memory's events among these receipts, in order, without erased ones."""
    for receipt in receipts:
        event = event_of(receipt)
        if event is not None:
            yield event


def may_be_event(header: bytes) -> bool:
    """Return False if a header is certainly neither an event nor an erasure. Its keys are sorted."""
    if b'"kind":"outcome"' not in header:
        return b'"kind":"erasure"' in header
    # Only text with escaped quotes follows it, so the last occurrence is the record's own.
    begins = header.rfind(_TOOL_ID) + len(_TOOL_ID)
    return header[begins : header.find(b'"', begins)] in _TOOLS


def event_of(receipt: Receipt) -> Event | None:
    """Return the event that a receipt records; None: it is not memory's, was refused, or was erased."""
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
        args = readable(args)
    said = args.get("at")
    # Cut to the second, most timestamps are in the cache.
    at = seconds(f"{header['timestamp'][:_SECOND]}Z" if said is None else said)
    return Event(
        seq=header["seq"],
        receipt_id=header["receipt_id"],
        at=at or 0,
        tool=tool,
        args=args,
        agent=_agent(header),
        by_owner=OWNER_ROLE in header["caller"]["roles"],
        subject=header["caller"]["subject"],
        is_person=PERSON_ROLE in header["caller"]["roles"],
    )


def erased_by(receipt: Receipt) -> str | None:
    """Return the id of the receipt that an erasure covers."""
    if receipt.header["kind"] != "erasure":
        return None
    erased: str | None = receipt.header.get("links", {}).get("erased")
    return erased


def _stored(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the tool received them."""
    args: dict[str, Any] = inputs.get("normalised", inputs)["args"]
    return args


def _agent(header: Mapping[str, Any]) -> str | None:
    return agent_of(header["caller"]["channel"], header.get("agent_id"), in_turn="turn_id" in header)


MAX_WORDS = 80
"""Characters of a receipt's text that are shown."""
_RECORDING = frozenset({"record_observation", "execute_test_result_ingest"})
_PROPOSING = "propose_proposition"


@record
class AffectedReceipt:
    """A receipt to erase."""

    receipt_id: str
    session_id: str
    tool: str
    words: str
    """Its text, shortened."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"receipt_id": self.receipt_id, "tool": self.tool, "words": self.words}


@record
class ErasurePlan:
    """What an erasure removes."""

    receipts: tuple[AffectedReceipt, ...]
    """The latest first: erased in this order, the rest is found again by the same id after a failure."""
    proposition_ids: tuple[str, ...]
    """Propositions that no proposal supports any more."""


def plan_erasure(receipts: Iterable[Receipt], name: str) -> ErasurePlan:
    """Return what to erase for an observation, or for a proposition (only what proposed it).

    Args:
        receipts: The whole log, in order.
        name: The id.
    """
    gone, found = {name}, dict[str, AffectedReceipt]()
    proposed: dict[bool, set[str]] = {True: set(), False: set()}
    for receipt in receipts:
        tool: str = receipt.header.get("tool_id", "")
        if tool not in HANDLERS or receipt.inputs is None:
            continue
        made: Mapping[str, Any] = receipt.outputs if isinstance(receipt.outputs, Mapping) else {}
        holds = made.get("proposition_id") == name if tool == _PROPOSING else False
        holds = holds or (tool in _RECORDING and made.get("observation_id") in gone) or _observes(receipt.inputs, gone)
        if holds:
            # The start receipt of a call is erased with its outcome.
            found.pop(receipt.header.get("links", {}).get("started", ""), None)
            found[receipt.receipt_id] = _affected(receipt, tool)
            if tool in _RECORDING and "observation_id" in made:
                gone.add(made["observation_id"])
        if tool == _PROPOSING and "proposition_id" in made:
            proposed[holds].add(made["proposition_id"])
    return ErasurePlan(
        receipts=tuple(reversed(found.values())), proposition_ids=tuple(sorted(proposed[True] - proposed[False]))
    )


def _observes(value: Any, names: set[str], key: str = "") -> bool:
    """Return whether arguments name one of these observations, at any depth."""
    if isinstance(value, Mapping):
        return any(_observes(one, names, str(name)) for name, one in value.items())
    if isinstance(value, list):
        return any(_observes(one, names, key) for one in value)
    return key in _NAMING and isinstance(value, str) and value in names


_NAMING = frozenset({"observation_id", "observation_ids", "derived_from"})


def _affected(receipt: Receipt, tool: str) -> AffectedReceipt:
    args = receipt.inputs.get("normalised", receipt.inputs).get("args", {})
    said = (args.get(name) for name in ("text", "report", "subject", "predicate", "object", "name", "quote"))
    words = " ".join(one for one in said if isinstance(one, str))
    return AffectedReceipt(
        receipt_id=receipt.receipt_id,
        session_id=receipt.header["session_id"],
        tool=tool,
        words=words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…",
    )
