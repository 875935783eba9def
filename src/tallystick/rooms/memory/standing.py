"""How a proposition stands at a moment. It is computed when asked: age may have changed it since it was weighed."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.as_json import as_dict
from tallystick.rooms.memory.dossier import Weighed
from tallystick.rooms.memory.nouns import Figures, Proposition, Status
from tallystick.rooms.memory.rivals import Places, family_of, is_functional, sibling_key
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import (
    CLAIMED_WORDS,
    RIVAL,
    RIVAL_WORDS,
    SUPERSEDED,
    SUPERSEDED_WORDS,
    could_be_accepted,
    decide,
    explain,
)
from tallystick.rooms.memory.times import stamp_of

LABELS: dict[Status, str] = {
    "accepted": "accepted",
    "provisional": "provisional: not enough to rely on",
    "tentative": "tentative: hardly supported",
    "contested": "contested: sources disagree",
    "deprecated": "deprecated: was so once, too old to rely on",
    "rejected": "rejected: do not rely on it",
}
"""What a reader is told beside a fact, so that nothing is taken for more than it is."""
REPLACED = "superseded: something later takes its place"
SUPPORTED = frozenset({"accepted", "provisional"})


@record
class Standing:
    """A status, and why."""

    status: Status
    rule: str
    words: str
    figures: Figures
    evidence_ids: tuple[str, ...]
    at: int
    rivals: tuple[str, ...] = ()
    """Propositions that are accepted as well, and cannot hold beside it."""
    superseded_by: str | None = None
    """What takes its place."""
    taken_back: bool = False
    """All who said so have said otherwise since."""
    holds: str = ""
    """When it holds, if not at the moment that was asked for."""

    @property
    def label(self) -> str:
        """In a word, how far it may be relied on."""
        word = LABELS[self.status] if self.superseded_by is None else REPLACED
        return f"{word}, {self.holds}" if self.holds else word

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "status": self.status,
            "label": self.label,
            "rule": self.rule,
            "words": self.words,
            "figures": as_dict(self.figures),
            "evidence_ids": list(self.evidence_ids),
            "at": stamp_of(self.at),
        }


def standing(state: State, one: Proposition, now: int) -> Standing:
    """How it stands now. Time does not go back: before the log's own time, the log's time counts.

    Only evidence and time decide, its rivals' too: not when anything was last weighed, nor in which order. Among
    accepted propositions policy decides which takes another's place; of any other see `_claimant`.
    """
    stands = _decided(state, one, max(now, state.now))
    other = None if stands.status == "accepted" else _claimant(state, one, stands)
    if other is None:
        return stands
    words = f"{stands.words} {CLAIMED_WORDS.format(others=_named(state, (other,)))}"
    return replace(stands, superseded_by=other, words=words)


def _decided(state: State, one: Proposition, at: int) -> Standing:
    """How it stands by evidence, rivals and what policy puts in its place."""
    weighed = _weigh(state, one, at)
    row = decide(weighed.figures, state.policy)
    status, rule, words = row.status, row.rule, explain(row, weighed.figures)
    rivals, later = _placed(state, one, at) if status == "accepted" else ((), None)
    if rivals:
        status, rule, words = "contested", RIVAL, RIVAL_WORDS.format(others=_named(state, rivals))
    elif later is not None:
        rule, words = SUPERSEDED, SUPERSEDED_WORDS.format(others=_named(state, (later,)))
    return Standing(
        status=status, rule=rule, words=words, figures=weighed.figures, evidence_ids=weighed.evidence_ids, at=at,
        rivals=rivals, superseded_by=later, taken_back=state.dossier(one.id).taken_back(), holds=_when(one, at),
    )  # fmt: skip


def _when(one: Proposition, at: int) -> str:
    if one.valid_from is not None and at < one.valid_from:
        return f"but only from {stamp_of(one.valid_from)[:10]} on"
    return f"but only until {stamp_of(one.valid_to)[:10]}" if one.valid_to is not None and one.valid_to <= at else ""


def _claimant(state: State, one: Proposition, stands: Standing) -> str | None:
    """What takes the place of a proposition that is not accepted: one that claims it, and is itself supported.

    The support must be of as good a kind: the word of a model puts nothing aside that a person said.
    """
    believed: list[str] = []
    for name, _ in state.superseders.get(one.id) or ():
        other = None if name in one.supersedes else state.propositions.get(name)
        if other is not None:
            there = _decided(state, other, stands.at)
            if there.status in SUPPORTED and there.figures.best_class >= stands.figures.best_class:
                believed.append(name)
    return min(believed, default=None)


def prepare(state: State, ones: Iterable[Proposition]) -> None:
    """Have at hand what it takes to tell how these stand, read at once and not for each of them."""
    wanted = list(ones)
    keys = (sibling_key(one) for one in wanted if is_functional(one, state.policy))
    others = {name for names in state.siblings.some(keys).values() for name in names}
    others |= {name for claims in state.superseders.some(one.id for one in wanted).values() for name, _ in claims}
    state.propositions.some(others)
    state.gather((*(one.id for one in wanted), *sorted(others)))


def _placed(state: State, one: Proposition, at: int) -> tuple[tuple[str, ...], str | None]:
    """Its rivals and what takes its place, among all that are accepted at a moment."""
    accepted = [
        other
        for other in family_of(state, one)
        if other.id == one.id
        or (
            could_be_accepted(other.figures, state.policy)
            and decide(_weigh(state, other, at).figures, state.policy).status == "accepted"
        )
    ]
    return Places(accepted, functional=is_functional(one, state.policy), now=at).of(one)


def _weigh(state: State, one: Proposition, at: int) -> Weighed:
    owner = state.policy.predicate(one.predicate).owner
    return state.dossier(one.id).weigh(one.volatility, at, owner_predicate=owner)


def holds_at(one: Proposition, valid_at: int) -> bool:
    """Whether a proposition speaks of this moment."""
    return (one.valid_from is None or one.valid_from <= valid_at) and (one.valid_to is None or valid_at < one.valid_to)


def _named(state: State, ids: Iterable[str]) -> str:
    found = (state.propositions.get(name) for name in ids)
    return ", ".join(f"“{one.subject} {one.predicate} {one.object}”" for one in found if one is not None)
