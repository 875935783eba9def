"""How a proposition stands at a moment. It is computed when asked: age may have changed it since it was weighed."""

from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.nouns import Figures, Proposition, Status, as_dict
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import RIVAL, RIVAL_WORDS, SUPERSEDED, SUPERSEDED_WORDS, decide, explain
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
ORDER: tuple[Status, ...] = ("accepted", "contested", "provisional", "deprecated", "tentative", "rejected")
"""Which of several facts is shown first."""


@record
class Standing:
    """A status, and why."""

    status: Status
    rule: str
    words: str
    figures: Figures
    evidence_ids: tuple[str, ...]
    at: int

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "status": self.status,
            "label": LABELS[self.status],
            "rule": self.rule,
            "words": self.words,
            "figures": as_dict(self.figures),
            "evidence_ids": list(self.evidence_ids),
            "at": stamp_of(self.at),
        }


def standing(state: State, one: Proposition, now: int) -> Standing:
    """How it stands now. Time does not go back: before the log's own time, the log's time counts."""
    at = max(now, state.now)
    owner = state.policy.predicate(one.predicate).owner
    weighed = state.dossier(one.id).weigh(one.volatility, at, owner_predicate=owner)
    row = decide(weighed.figures, state.policy)
    status, rule, words = row.status, row.rule, explain(row, weighed.figures)
    if status == "accepted":
        rivals = [name for name in one.rivals if _still_accepted(state, name, at)]
        if rivals:
            status, rule, words = "contested", RIVAL, RIVAL_WORDS.format(others=_named(state, rivals))
        elif one.superseded_by is not None:
            rule, words = SUPERSEDED, SUPERSEDED_WORDS.format(others=_named(state, [one.superseded_by]))
    return Standing(
        status=status, rule=rule, words=words, figures=weighed.figures, evidence_ids=weighed.evidence_ids, at=at
    )


def holds_at(one: Proposition, valid_at: int) -> bool:
    """Whether a proposition speaks of this moment."""
    return (one.valid_from is None or one.valid_from <= valid_at) and (one.valid_to is None or valid_at < one.valid_to)


def _still_accepted(state: State, name: str, at: int) -> bool:
    rival = state.propositions.get(name)
    if rival is None:
        return False
    owner = state.policy.predicate(rival.predicate).owner
    figures = state.dossier(name).weigh(rival.volatility, at, owner_predicate=owner).figures
    return decide(figures, state.policy).status == "accepted"


def _named(state: State, ids: list[str]) -> str:
    found = (state.propositions.get(name) for name in ids)
    return ", ".join(f"“{one.subject} {one.predicate} {one.object}”" for one in found if one is not None)
