"""Which receipts hold what is to be forgotten. They are looked for in the log: memory keeps only the first of each.

An observation stands in the receipts that recorded it, and its words in those of all proposals that name it: of facts,
of evidence, of entities, and of what was derived from it, and so on from there. Refused ones hold the words as well.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.gate.record.receipt import Receipt
from tallystick.records import record
from tallystick.rooms.memory.fold import HANDLERS

MAX_WORDS = 80
"""Characters of a receipt's words that are shown."""
_RECORDING = frozenset({"record_observation", "execute_test_result_ingest"})
_PROPOSING = "propose_proposition"


@record
class Holding:
    """A receipt that holds it."""

    receipt_id: str
    session_id: str
    tool: str
    words: str
    """What it says, in short."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"receipt_id": self.receipt_id, "tool": self.tool, "words": self.words}


@record
class Forgetting:
    """What goes."""

    holdings: tuple[Holding, ...]
    """The latest first. Erased in this order, what is left after a failure is found again by the same id."""
    proposition_ids: tuple[str, ...]
    """Propositions of which no proposal is left."""


def holdings_of(receipts: Iterable[Receipt], name: str) -> Forgetting:
    """Find what to erase for an observation, or for a proposition: then only what proposed it.

    Args:
        receipts: The whole log, in order.
        name: The id.
    """
    gone, found = {name}, dict[str, Holding]()
    proposed: dict[bool, set[str]] = {True: set(), False: set()}
    for receipt in receipts:
        tool: str = receipt.header.get("tool_id", "")
        if tool not in HANDLERS or receipt.inputs is None:
            continue
        made: Mapping[str, Any] = receipt.outputs if isinstance(receipt.outputs, Mapping) else {}
        holds = made.get("proposition_id") == name if tool == _PROPOSING else False
        holds = holds or (tool in _RECORDING and made.get("observation_id") in gone) or _observes(receipt.inputs, gone)
        if holds:
            # A call's beginning is erased with its outcome.
            found.pop(receipt.header.get("links", {}).get("started", ""), None)
            found[receipt.receipt_id] = _holding(receipt, tool)
            if tool in _RECORDING and "observation_id" in made:
                gone.add(made["observation_id"])
        if tool == _PROPOSING and "proposition_id" in made:
            proposed[holds].add(made["proposition_id"])
    return Forgetting(
        holdings=tuple(reversed(found.values())), proposition_ids=tuple(sorted(proposed[True] - proposed[False]))
    )


def _observes(value: Any, names: set[str], key: str = "") -> bool:
    """Whether arguments name one of these observations, at any depth."""
    if isinstance(value, Mapping):
        return any(_observes(one, names, str(name)) for name, one in value.items())
    if isinstance(value, list):
        return any(_observes(one, names, key) for one in value)
    return key in _NAMING and isinstance(value, str) and value in names


_NAMING = frozenset({"observation_id", "observation_ids", "derived_from"})


def _holding(receipt: Receipt, tool: str) -> Holding:
    args = receipt.inputs.get("normalised", receipt.inputs).get("args", {})
    said = (args.get(name) for name in ("text", "report", "subject", "predicate", "object", "name", "quote"))
    words = " ".join(one for one in said if isinstance(one, str))
    return Holding(
        receipt_id=receipt.receipt_id, session_id=receipt.header["session_id"], tool=tool,
        words=words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…",
    )  # fmt: skip
