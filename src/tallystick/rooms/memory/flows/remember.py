"""Fill memory from a text: an observation for each passage, a proposal for each claim. All of it through the gate.

Nothing here writes. Each step is one of the nine proposals, and what the gate rejects is reported.

A person who speaks of themselves, or says that something has changed, replaces what they said before. That is proposed
in policy's own terms, `supersedes` and `valid_from`, and policy decides. Nobody's word replaces another's, and only a
person's word replaces any.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, possessed
from tallystick.rooms.memory.propose.claims import Claim, ClaimFilter, Passage
from tallystick.rooms.memory.propose.statements import ANY
from tallystick.rooms.memory.recall.facts import KnownProposition
from tallystick.rooms.memory.times import seconds
from tallystick.text.stems import stems

PERSON = "human"


@record
class ClaimPlacement:
    """How a claim is proposed."""

    again: str | None = None
    """The proposition that its speaker already supports: it gets one more support."""
    valid_from: str | None = None
    supersedes: tuple[str, ...] = ()


def placement_of(claim: Claim, there: Sequence[KnownProposition], *, who: str, kind: str, when: str) -> ClaimPlacement:
    """Return how to propose a claim.

    Args:
        claim: What is said now.
        there: What memory holds of its subject and predicate.
        who: Who says it.
        kind: The class of that source.
        when: When it was said, RFC 3339.
    """
    of_himself = _is_of(who, claim.subject)
    # Several sources of one change agree on the day, not on the second.
    since = when if of_himself else when[:10]
    if kind != PERSON:
        return ClaimPlacement(valid_from=since if claim.begins else None)
    moment = seconds(when) or 0
    replaced = {name for one in there for name in one.one.supersedes}
    held = [one for one in there if one.id not in replaced and one.still_said_by(who, moment)]
    same = [one for one in held if one.says(claim.object)]
    if same:
        return ClaimPlacement(again=max(same, key=lambda one: one.one.seq).id)
    # What its speaker said before, and took back or put something else in the place of, is said anew: it begins again.
    before = [one for one in there if one.says(claim.object) and name_key(who) in one.said]
    others = [one.id for one in held if one.functional]
    begins = claim.begins or bool(before)
    ended = [one.id for one in before if one.id not in replaced]
    return ClaimPlacement(valid_from=since if begins else None, supersedes=tuple(sorted({*others, *ended})))


def _is_of(who: str, subject: str) -> bool:
    """Return whether a subject is the speaker or something of the speaker's."""
    return name_key(subject) == name_key(who) or name_key(subject).startswith(name_key(possessed(who, "")))


Call = Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]
"""Proposes one call at the gate."""
FindKnown = Callable[[str, str | None], list[KnownProposition]]
"""Returns what memory holds of a subject and a predicate; of every predicate, if none is named."""


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
    """A refused proposal."""

    tool: str
    code: str
    reason: str


@record
class RememberResult:
    """The ids of everything recorded and proposed, and what was refused."""

    observation_ids: tuple[str, ...] = ()
    proposition_ids: tuple[str, ...] = ()
    contradicted_ids: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    receipt_ids: tuple[str, ...] = ()

    def joined(self, more: "RememberResult") -> "RememberResult":
        """Return both results together."""
        return RememberResult(
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


class _Results:
    def __init__(self) -> None:
        self.observations: list[str] = []
        self.propositions: list[str] = []
        self.contradicted: list[str] = []
        self.refusals: list[Refusal] = []
        self.receipts: list[str] = []


async def remember(call: Call, passages: Iterable[Passage], origin: Origin, *, known: FindKnown) -> RememberResult:
    """Propose passages and what they state.

    Args:
        call: The gate.
        passages: What was extracted.
        origin: Where they come from; in a conversation each speaker is a source of his own.
        known: What is there already: a claim may deny it, say it again, or take its place.
    """
    results = _Results()
    # Repetition by one speaker within a text counts once; two speakers count twice.
    heard: defaultdict[str | None, ClaimFilter] = defaultdict(ClaimFilter)
    for passage in passages:
        seen = await _observe(call, passage, origin, results)
        if seen is None:
            continue
        for claim in filter(heard[passage.speaker].new, passage.claims):
            await _propose(call, claim, passage, seen, origin, known, results)
    return RememberResult(
        observation_ids=tuple(dict.fromkeys(results.observations)),
        proposition_ids=tuple(dict.fromkeys(results.propositions)),
        contradicted_ids=tuple(dict.fromkeys(results.contradicted)),
        refusals=tuple(results.refusals),
        receipt_ids=tuple(results.receipts),
    )


async def _observe(call: Call, passage: Passage, origin: Origin, results: _Results) -> str | None:
    who = passage.speaker or origin.source_id
    source: dict[str, Any] = {"id": who, "class": origin.source_class}
    if origin.group is not None:
        source["group"] = origin.group
    args: dict[str, Any] = {"text": passage.text, "source": source, "observed_at": origin.observed_at}
    if origin.episode_id is not None:
        args["episode_id"] = origin.episode_id
    result = await _ask(call, "record_observation", args, origin, results)
    if result is None:
        return None
    name: str = result["observation_id"]
    results.observations.append(name)
    return name


async def _propose(
    call: Call, claim: Claim, passage: Passage, seen: str, origin: Origin, known: FindKnown, results: _Results
) -> None:
    if claim.negated:
        for one in _ended_by(claim, passage.speaker or origin.source_id, origin, known):
            if await _attach("attach_contradiction", call, one.id, claim, seen, origin, results):
                results.contradicted.append(one.id)
        return
    place = placement_of(
        claim,
        known(claim.subject, claim.predicate),
        who=passage.speaker or origin.source_id,
        kind=origin.source_class,
        when=origin.observed_at,
    )
    if place.again is not None:
        if await _attach("attach_support", call, place.again, claim, seen, origin, results):
            results.propositions.append(place.again)
        return
    result = await _ask(call, "propose_proposition", _proposal(claim, place, seen, origin), origin, results)
    if result is not None:
        results.propositions.append(result["proposition_id"])


def _ended_by(claim: Claim, who: str, origin: Origin, known: FindKnown) -> Iterator[KnownProposition]:
    """Yield what a denial or an ending is about.

    A denial is about facts with its object. An ending is about what its own speaker has said: of the attributes
    that may end so, the facts whose object is named, in whole or in part.
    """
    moment = seconds(origin.observed_at) or 0
    if not claim.ends_in:
        yield from (one for one in known(claim.subject, claim.predicate) if one.says(claim.object))
        return
    for one in known(claim.subject, None):
        ends = one.one.predicate.split(":", 1)[0] in claim.ends_in
        if ends and one.still_said_by(who, moment) and names_part(one.one.object, claim.object):
            yield one


def names_part(whole: str, part: str) -> bool:
    """Return whether a name is meant by a part of it, or by no name at all: `Volvo` for `blue Volvo EX30`."""
    if part == ANY:
        return True
    meant, said = set(stems(part)), set(stems(whole))
    return bool(meant) and (meant <= said or said <= meant)


def _proposal(claim: Claim, place: ClaimPlacement, seen: str, origin: Origin) -> dict[str, Any]:
    args: dict[str, Any] = {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
        "volatility": claim.volatility,
        "observation_ids": [seen],
        "quotes": [{"observation_id": seen, "quote": claim.quote}],
    }
    if place.valid_from is not None:
        args["valid_from"] = place.valid_from
    if place.supersedes:
        args["supersedes"] = list(place.supersedes)
    if origin.episode_id is not None:
        args["episode_id"] = origin.episode_id
    return args


async def _attach(tool: str, call: Call, name: str, claim: Claim, seen: str, origin: Origin, results: _Results) -> bool:
    args = {"proposition_id": name, "observation_id": seen, "quote": claim.quote}
    return await _ask(call, tool, args, origin, results) is not None


async def _ask(
    call: Call, tool: str, args: dict[str, Any], origin: Origin, results: _Results
) -> Mapping[str, Any] | None:
    outcome = await call(tool, args if origin.at is None else {**args, "at": origin.at})
    results.receipts.append(outcome.receipt_id)
    if outcome.ok:
        result: Mapping[str, Any] = outcome.result
        return result
    refused = refusal_of(outcome, tool)
    if refused is not None:
        results.refusals.append(refused)
    return None


def refusal_of(outcome: Outcome, tool: str) -> Refusal | None:
    """Return why a proposal was refused; None: it was accepted, or waits for approval."""
    rejection, failure = outcome.rejection, outcome.failure
    if rejection is not None:
        return Refusal(tool=tool, code=str(rejection.fault.boundary_code), reason=rejection.reason)
    return None if failure is None else Refusal(tool=tool, code=failure.fault.name, reason=failure.message)
