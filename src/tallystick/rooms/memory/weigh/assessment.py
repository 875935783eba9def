"""The status of a proposition at a moment, computed on demand: age may have changed it since it was stored."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.model import Figures, Proposition, Status
from tallystick.rooms.memory.record_json import as_dict
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.evidence import WeighedEvidence
from tallystick.rooms.memory.weigh.rivals import Precedence, family_of, is_functional, sibling_key
from tallystick.rooms.memory.weigh.state import State
from tallystick.rooms.memory.weigh.status_rules import (
    CLAIMED_WORDS,
    RIVAL,
    RIVAL_WORDS,
    SUPERSEDED,
    SUPERSEDED_WORDS,
    could_be_accepted,
    decide,
    explain,
)

LABELS: dict[Status, str] = {
    "accepted": "accepted",
    "provisional": "provisional: not enough to rely on",
    "tentative": "tentative: hardly supported",
    "contested": "contested: sources disagree",
    "deprecated": "deprecated: was so once, too old to rely on",
    "rejected": "rejected: do not rely on it",
}
"""Shown beside a fact, so that nothing is taken for more than it is."""
REPLACED = "superseded: something later takes its place"
DENIED = "deprecated: the owner said that it is not so"
SUPPORTED = frozenset({"accepted", "provisional"})


@record
class Assessment:
    """A status, and why."""

    status: Status
    rule: str
    words: str
    figures: Figures
    evidence_ids: tuple[str, ...]
    at: int
    rivals: tuple[str, ...] = ()
    """Accepted propositions that cannot hold beside it."""
    superseded_by: str | None = None
    """What supersedes it."""
    taken_back: bool = False
    """Whether all sources that supported it have contradicted it since."""
    holds: str = ""
    """Its valid time, if that does not include the moment."""

    @property
    def label(self) -> str:
        """How reliable it is, in a few words."""
        word = DENIED if self.rule == "S3-owner-denied" else LABELS[self.status]
        word = word if self.superseded_by is None else REPLACED
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


def assess(state: State, one: Proposition, now: int) -> Assessment:
    """Return the status now. A moment before the log's own time counts as that time.

    Only evidence and time decide, also of its rivals: never when or in which order anything was weighed. Among accepted
    propositions policy decides which supersedes another; for the others see `_claimant`.
    """
    assessment = _decided(state, one, max(now, state.now))
    other = None if assessment.status == "accepted" else _claimant(state, one, assessment)
    if other is None:
        return assessment
    words = f"{assessment.words} {CLAIMED_WORDS.format(others=_named(state, (other,)))}"
    return replace(assessment, superseded_by=other, words=words)


def _decided(state: State, one: Proposition, at: int) -> Assessment:
    """Return the status by evidence, rivals and supersession."""
    weighed = _weigh(state, one, at)
    row = decide(weighed.figures, state.policy)
    status, rule, words = row.status, row.rule, explain(row, weighed.figures)
    rivals, later = _placed(state, one, at) if status == "accepted" else ((), None)
    if rivals:
        status, rule, words = "contested", RIVAL, RIVAL_WORDS.format(others=_named(state, rivals))
    elif later is not None:
        rule, words = SUPERSEDED, SUPERSEDED_WORDS.format(others=_named(state, (later,)))
    return Assessment(
        status=status,
        rule=rule,
        words=words,
        figures=weighed.figures,
        evidence_ids=weighed.evidence_ids,
        at=at,
        rivals=rivals,
        superseded_by=later,
        taken_back=state.evidence(one.id).taken_back(),
        holds=_when(one, at),
    )


def _when(one: Proposition, at: int) -> str:
    if one.valid_from is not None and at < one.valid_from:
        return f"but only from {stamp_of(one.valid_from)[:10]} on"
    return f"but only until {stamp_of(one.valid_to)[:10]}" if one.valid_to is not None and one.valid_to <= at else ""


def _claimant(state: State, one: Proposition, assessment: Assessment) -> str | None:
    """Return what supersedes a proposition that is not accepted: one that claims to, and is itself supported.

    The support must be of as good a class: a model's report does not supersede a person's.
    """
    believed: list[str] = []
    for name, _ in state.superseders.get(one.id) or ():
        other = None if name in one.supersedes else state.propositions.get(name)
        if other is not None:
            there = _decided(state, other, assessment.at)
            if there.status in SUPPORTED and there.figures.best_class >= assessment.figures.best_class:
                believed.append(name)
    return min(believed, default=None)


def preload(state: State, ones: Iterable[Proposition]) -> None:
    """Load what the assessment of several propositions needs, with one query instead of one each."""
    wanted = list(ones)
    keys = (sibling_key(one) for one in wanted if is_functional(one, state.policy))
    others = {name for names in state.siblings.some(keys).values() for name in names}
    others |= {name for claims in state.superseders.some(one.id for one in wanted).values() for name, _ in claims}
    state.propositions.some(others)
    state.load_evidence((*(one.id for one in wanted), *sorted(others)))


def _placed(state: State, one: Proposition, at: int) -> tuple[tuple[str, ...], str | None]:
    """Return its rivals and what supersedes it, among all that are accepted at a moment."""
    accepted = [
        other
        for other in family_of(state, one)
        if other.id == one.id
        or (
            could_be_accepted(other.figures, state.policy)
            and decide(_weigh(state, other, at).figures, state.policy).status == "accepted"
        )
    ]
    return Precedence(accepted, functional=is_functional(one, state.policy), now=at).of(one)


def _weigh(state: State, one: Proposition, at: int) -> WeighedEvidence:
    owner = state.policy.is_owners(one.subject, one.predicate)
    return state.evidence(one.id).weigh(one.volatility, at, owner_predicate=owner)


def holds_at(one: Proposition, valid_at: int) -> bool:
    """Return whether a moment is in the valid time of a proposition."""
    return (one.valid_from is None or one.valid_from <= valid_at) and (one.valid_to is None or valid_at < one.valid_to)


def _named(state: State, ids: Iterable[str]) -> str:
    found = (state.propositions.get(name) for name in ids)
    return ", ".join(f"“{one.subject} {one.predicate} {one.object}”" for one in found if one is not None)
