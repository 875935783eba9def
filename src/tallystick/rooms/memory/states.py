"""The states of a proposition: one table. The first row that holds decides.

A state is a function of the figures alone, and the figures of the evidence and the time: never of the order in which
the evidence came in, never of what anybody says the state should be.
"""

from collections.abc import Callable, Mapping
from functools import cache
from string import Formatter
from typing import NamedTuple

from tallystick.rooms.memory.nouns import Figures, Status
from tallystick.rooms.memory.policy import Policy


class Row(NamedTuple):
    """One rule of the table."""

    rule: str
    """Stands in every transition that it made."""
    status: Status
    holds: Callable[[Figures, Policy], bool]
    words: str
    """What a person is told; the names in it are those of the figures, as percentages."""


def _refuted(f: Figures, p: Policy) -> bool:
    # What is the owner's to say is not unsaid by agents, however many there are.
    heard = not f.owner or f.against_class >= p.states.accepted_class
    many = f.contradiction_groups >= p.states.rejected_groups
    return f.disbelief >= p.states.rejected_disbelief and many and heard


def _contested(f: Figures, p: Policy) -> bool:
    clear = max(f.belief, f.disbelief) >= p.states.contested_clear
    return f.conflict >= p.states.contested_conflict and not clear and "conflict" not in p.off


def _accepted(f: Figures, p: Policy) -> bool:
    return _enough(f.belief, f, p) and f.disbelief < p.states.accepted_disbelief


def _enough(belief: int, f: Figures, p: Policy) -> bool:
    return (
        belief >= p.states.accepted_belief
        and (f.support_groups >= p.states.accepted_groups or "two_groups" in p.off)
        and (f.best_class >= p.states.accepted_class or "best_class" in p.off)
    )


def _deprecated(f: Figures, p: Policy) -> bool:
    return f.once >= p.states.provisional_belief and f.freshness < p.states.deprecated_freshness


TABLE: tuple[Row, ...] = (
    Row(
        "S1-failed-test", "rejected", lambda f, _: f.failed_test,
        "Rejected: a test that tells whether it is so has failed.",
    ),
    Row(
        "S2-disbelief", "rejected", _refuted,
        "Rejected: {contradiction_groups} speak against it (disbelief {disbelief}).",
    ),
    Row(
        "S3-owner", "accepted", lambda f, _: f.owner,
        "Accepted: the owner said so, and this is the owner's to say.",
    ),
    Row(
        "S4-conflict", "contested", _contested,
        "Contested: the sources contradict each other (for {support}, against {contradiction}), "
        "and neither side is clearly stronger.",
    ),
    Row(
        "S5-accepted", "accepted", _accepted,
        "Accepted: {support_groups} support it (belief {belief}, disbelief {disbelief}), "
        "and the best of them is of a kind that is trusted ({best_class}).",
    ),
    Row(
        "S6-aged", "deprecated", _deprecated,
        "Deprecated: it was supported once, but all of that is old (freshness {freshness}).",
    ),
    Row(
        "S7-provisional", "provisional", lambda f, p: f.belief >= p.states.provisional_belief,
        "Provisional: there is support (belief {belief} from {support_groups}), "
        "but not enough to accept it.",
    ),
    Row(
        "S8-tentative", "tentative", lambda _f, _p: True,
        "Tentative: there is little support so far (belief {belief}).",
    ),
)  # fmt: skip

RIVAL = "S9-rival"
"""Not a row: it speaks of two propositions. Both were accepted, and only one of them can hold."""
RIVAL_WORDS = "Contested: {others} says otherwise and is supported as well, and only one of them can be so at a time."
SUPERSEDED = "S10-superseded"
SUPERSEDED_WORDS = "Superseded: {others} holds from a later time on."
CLAIMED_WORDS = "Superseded: {others} is said to take its place."

UNRESOLVED: frozenset[Status] = frozenset({"contested", "provisional", "tentative"})
"""What an episode may leave open."""

ORDER: tuple[Status, ...] = ("accepted", "contested", "provisional", "deprecated", "tentative", "rejected")
"""Which of several facts is shown first."""
RELIED_ON: Mapping[Status, int] = {status: place for place, status in enumerate(ORDER)}


def decide(figures: Figures, policy: Policy) -> Row:
    """The row that decides."""
    return next(row for row in TABLE if row.holds(figures, policy))


def could_be_accepted(figures: Figures, policy: Policy) -> bool:
    """Whether it would be accepted if nothing spoke against it.

    Age only lowers support, and belief is never more. So what could not be accepted when it was last weighed cannot be
    later either, unless something new is said for it.
    """
    return figures.owner or _enough(figures.support, figures, policy)


def explain(row: Row, figures: Figures) -> str:
    """The reason in words."""
    told = {name: _SAID.get(name, percent)(getattr(figures, name)) for name in _named_in(row.words)}
    return row.words.format(**told)


@cache
def _named_in(words: str) -> tuple[str, ...]:
    """The figures that a sentence speaks of."""
    return tuple(name for _, name, _, _ in Formatter().parse(words) if name)


def _sources(groups: int) -> str:
    return "1 independent source" if groups == 1 else f"{groups} independent sources"


def percent(points: int) -> str:
    """Basis points as people read them."""
    return f"{(points + 50) // 100} %"


_SAID: Mapping[str, Callable[[int], str]] = {"support_groups": _sources, "contradiction_groups": _sources}
