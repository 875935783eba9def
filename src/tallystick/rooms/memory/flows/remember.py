"""Fill memory from a text: an observation for each passage, a proposal for each claim. All of it through the gate.

Nothing here writes. Each step is one of the nine proposals, and what the gate refuses stays refused and is told.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record
from tallystick.rooms.memory.extract import Claim, Heard, Passage
from tallystick.rooms.memory.flows.succession import Place, place_of
from tallystick.rooms.memory.known import Known as KnownOne

Call = Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]
"""Proposes one call at the gate."""
Known = Callable[[str, str], list[KnownOne]]
"""Gives what is there of this subject and predicate."""


@record
class Origin:
    """Where a text comes from."""

    source_id: str
    source_class: str
    observed_at: str
    """RFC 3339."""
    group: str | None = None
    episode_id: str | None = None
    at: str | None = None
    """Log time, for a log that is filled afterwards."""


@record
class Refusal:
    """A proposal that was not taken."""

    tool: str
    code: str
    reason: str


@record
class Remembered:
    """What came of it."""

    observation_ids: tuple[str, ...] = ()
    proposition_ids: tuple[str, ...] = ()
    contradicted_ids: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    receipt_ids: tuple[str, ...] = ()

    def joined(self, more: "Remembered") -> "Remembered":
        """This, and what came after."""
        return Remembered(
            observation_ids=tuple(dict.fromkeys((*self.observation_ids, *more.observation_ids))),
            proposition_ids=tuple(dict.fromkeys((*self.proposition_ids, *more.proposition_ids))),
            contradicted_ids=tuple(dict.fromkeys((*self.contradicted_ids, *more.contradicted_ids))),
            refusals=(*self.refusals, *more.refusals),
            receipt_ids=(*self.receipt_ids, *more.receipt_ids),
        )

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "observation_ids": list(self.observation_ids),
            "proposition_ids": list(self.proposition_ids),
            "contradicted_ids": list(self.contradicted_ids),
            "refusals": [{"tool": each.tool, "code": each.code, "reason": each.reason} for each in self.refusals],
            "receipt_ids": list(self.receipt_ids),
        }


class _Gathered:
    def __init__(self) -> None:
        self.observations: list[str] = []
        self.propositions: list[str] = []
        self.contradicted: list[str] = []
        self.refusals: list[Refusal] = []
        self.receipts: list[str] = []


async def remember(call: Call, passages: Iterable[Passage], origin: Origin, *, known: Known) -> Remembered:
    """Propose passages and what they state.

    Args:
        call: The gate.
        passages: What was extracted.
        origin: Where they come from; in a conversation each speaker is a source of his own.
        known: What is there already: a claim may deny it, say it again, or take its place.
    """
    gathered = _Gathered()
    # Who repeats himself within one text says no more by it; two who say the same do.
    heard: defaultdict[str | None, Heard] = defaultdict(Heard)
    for passage in passages:
        seen = await _observe(call, passage, origin, gathered)
        if seen is None:
            continue
        for claim in filter(heard[passage.speaker].new, passage.claims):
            await _propose(call, claim, passage, seen, origin, known, gathered)
    return Remembered(
        observation_ids=tuple(dict.fromkeys(gathered.observations)),
        proposition_ids=tuple(dict.fromkeys(gathered.propositions)),
        contradicted_ids=tuple(dict.fromkeys(gathered.contradicted)),
        refusals=tuple(gathered.refusals),
        receipt_ids=tuple(gathered.receipts),
    )


async def _observe(call: Call, passage: Passage, origin: Origin, gathered: _Gathered) -> str | None:
    who = passage.speaker or origin.source_id
    source: dict[str, Any] = {"id": who, "class": origin.source_class}
    if origin.group is not None:
        source["group"] = origin.group
    args: dict[str, Any] = {"text": passage.text, "source": source, "observed_at": origin.observed_at}
    if origin.episode_id is not None:
        args["episode_id"] = origin.episode_id
    result = await _ask(call, "record_observation", args, origin, gathered)
    if result is None:
        return None
    name: str = result["observation_id"]
    gathered.observations.append(name)
    return name


async def _propose(
    call: Call, claim: Claim, passage: Passage, seen: str, origin: Origin, known: Known, gathered: _Gathered
) -> None:
    there = known(claim.subject, claim.predicate)
    if claim.negated:
        for one in there:
            if one.says(claim.object) and await _attach(
                "attach_contradiction", call, one.id, claim, seen, origin, gathered
            ):
                gathered.contradicted.append(one.id)
        return
    if claim.alone:
        there = [replace(one, functional=True) for one in there]
    place = place_of(
        claim, there, who=passage.speaker or origin.source_id, kind=origin.source_class, when=origin.observed_at
    )
    if place.again is not None:
        if await _attach("attach_support", call, place.again, claim, seen, origin, gathered):
            gathered.propositions.append(place.again)
        return
    result = await _ask(call, "propose_proposition", _proposal(claim, place, seen, origin), origin, gathered)
    if result is not None:
        gathered.propositions.append(result["proposition_id"])


def _proposal(claim: Claim, place: Place, seen: str, origin: Origin) -> dict[str, Any]:
    args: dict[str, Any] = {
        "subject": claim.subject, "predicate": claim.predicate, "object": claim.object, "volatility": claim.volatility,
        "observation_ids": [seen], "quotes": [{"observation_id": seen, "quote": claim.quote}],
    }  # fmt: skip
    if place.valid_from is not None:
        args["valid_from"] = place.valid_from
    if place.supersedes:
        args["supersedes"] = list(place.supersedes)
    if origin.episode_id is not None:
        args["episode_id"] = origin.episode_id
    return args


async def _attach(
    tool: str, call: Call, name: str, claim: Claim, seen: str, origin: Origin, gathered: _Gathered
) -> bool:
    args = {"proposition_id": name, "observation_id": seen, "quote": claim.quote}
    return await _ask(call, tool, args, origin, gathered) is not None


async def _ask(
    call: Call, tool: str, args: dict[str, Any], origin: Origin, gathered: _Gathered
) -> Mapping[str, Any] | None:
    outcome = await call(tool, args if origin.at is None else {**args, "at": origin.at})
    gathered.receipts.append(outcome.receipt_id)
    if outcome.ok:
        result: Mapping[str, Any] = outcome.result
        return result
    refused = refusal_of(outcome, tool)
    if refused is not None:
        gathered.refusals.append(refused)
    return None


def refusal_of(outcome: Outcome, tool: str) -> Refusal | None:
    """Why a proposal was not taken; None: it was, or it waits for somebody."""
    rejection, failure = outcome.rejection, outcome.failure
    if rejection is not None:
        return Refusal(tool=tool, code=str(rejection.fault.boundary_code), reason=rejection.reason)
    return None if failure is None else Refusal(tool=tool, code=failure.fault.name, reason=failure.message)
