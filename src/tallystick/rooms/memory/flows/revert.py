"""Undo a correction: the owner says that a newer fact is not so, and that what it replaced holds."""

from collections.abc import Mapping

from tallystick.records import record
from tallystick.rooms.memory.flows.remember import Call, Origin, Refusal, refusal_of
from tallystick.rooms.memory.recall.facts import KnownProposition


@record
class Reverted:
    """What a revert did."""

    dropped: str
    """The fact that no longer holds."""
    restored: tuple[str, ...]
    """The facts that hold again."""
    refusals: tuple[Refusal, ...] = ()


async def revert(call: Call, newer: KnownProposition, older: tuple[KnownProposition, ...], origin: Origin) -> Reverted:
    """Record the owner's word against a fact and for those it replaced; all of it as proposals.

    Args:
        call: The gate.
        newer: The fact to drop.
        older: The facts to restore.
        origin: Who reverts, and when.
    """
    refusals: list[Refusal] = []

    async def propose(tool: str, args: Mapping[str, object]) -> dict[str, str] | None:
        outcome = await call(tool, args if origin.at is None else {**args, "at": origin.at})
        refused = None if outcome.ok else refusal_of(outcome, tool)
        refusals.extend(() if refused is None else (refused,))
        return outcome.result if outcome.ok else None

    not_so, holds = f"{_words(newer)} is not so.", {one.id: f"{_words(one)} holds." for one in older}
    text = " ".join(("Reverted:", not_so, *holds.values()))
    source = {"id": origin.source_id, "class": origin.source_class}
    seen = await propose("record_observation", {"text": text, "source": source, "observed_at": origin.observed_at})
    restored: list[str] = []
    if seen is not None:
        observation = seen["observation_id"]
        await propose(
            "attach_contradiction", {"proposition_id": newer.id, "observation_id": observation, "quote": not_so}
        )
        for name, quote in holds.items():
            args = {"proposition_id": name, "observation_id": observation, "quote": quote}
            restored += [] if await propose("attach_support", args) is None else [name]
    return Reverted(dropped=newer.id, restored=tuple(restored), refusals=tuple(refusals))


def _words(known: KnownProposition) -> str:
    return f"{known.one.subject} {known.one.predicate} {known.one.object}"
