"""What the settings hide from the ledger: memory is made of what the ledger keeps, so it cannot do without that."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.tool import Card, Tool

_REASON = "redact.keys keeps '{name}' out of the ledger, and memory is made of what the ledger keeps"


def hidden_names(cards: Iterable[Card], keys: Iterable[str]) -> frozenset[str]:
    """The arguments of some tools, at any depth, whose values the ledger keeps as digests only.

    Args:
        cards: The tools.
        keys: `redact.keys`.
    """
    names = frozenset(name for card in cards for name in _properties(card.input_schema))
    return names - Redactor(key=b"", names=keys).plain_names(names, frozenset())


def without_hidden(tool: Tool, names: frozenset[str]) -> Tool:
    """The tool, refused where one of these arguments is given; its own rule judges the rest."""
    judge = tool.rule
    assert judge is not None  # noqa: S101 - each of memory's proposals has one

    def rule(proposal: Proposal, snapshot: Any) -> Decision:
        pointer = _first_of(proposal.args, names)
        if pointer is not None:
            reason = _REASON.format(name=pointer.rpartition("/")[2])
            return Decision(verdict="deny", fault=DENIED, reason=reason, pointer=pointer)
        decision: Decision = judge(proposal, snapshot)
        return decision

    return replace(tool, rule=rule)


def _first_of(value: Any, names: frozenset[str], pointer: str = "") -> str | None:
    """A pointer to the first value that has one of these names; None: there is none."""
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, part in parts:
        found = f"{pointer}/{name}" if name in names else _first_of(part, names, f"{pointer}/{name}")
        if found is not None:
            return found
    return None


def _properties(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from _properties(below)
    if "items" in schema:
        yield from _properties(schema["items"])
