"""The status of a proposition: one table, of which the first row that holds decides, and when age may change it.

A status is a function of the figures alone, and the figures of the evidence and the time: never of the order in which
the evidence came in, never of what anybody says the status should be.

Weighing every proposition again a few times per half-life would cost more than taking it in. So one is reviewed only
when its status may have changed: age lowers belief and freshness by known steps, and `review_after` works out how many
of them the status certainly survives. Readers compute the present status in any case.
"""

from collections.abc import Callable, Mapping
from functools import cache
from string import Formatter
from typing import NamedTuple

from tallystick.rooms.memory.model import FULL, Figures, Status
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
        "S1-failed-test",
        "rejected",
        lambda f, _: f.failed_test,
        "Rejected: a test that tells whether it is so has failed.",
    ),
    Row(
        "S2-disbelief",
        "rejected",
        _refuted,
        "Rejected: {contradiction_groups} speak against it (disbelief {disbelief}).",
    ),
    Row(
        "S3-owner",
        "accepted",
        lambda f, _: f.owner,
        "Accepted: the owner said so, and this is the owner's to say.",
    ),
    Row(
        "S3-owner-denied",
        "deprecated",
        lambda f, _: f.owner_denies,
        "Deprecated: the owner said that it is not so, or no longer, and this is the owner's to say.",
    ),
    Row(
        "S4-conflict",
        "contested",
        _contested,
        "Contested: the sources contradict each other (for {support}, against {contradiction}), "
        "and neither side is clearly stronger.",
    ),
    Row(
        "S5-accepted",
        "accepted",
        _accepted,
        "Accepted: {support_groups} support it (belief {belief}, disbelief {disbelief}), "
        "and the best of them is of a kind that is trusted ({best_class}).",
    ),
    Row(
        "S6-aged",
        "deprecated",
        _deprecated,
        "Deprecated: it was supported once, but all of that is old (freshness {freshness}).",
    ),
    Row(
        "S7-provisional",
        "provisional",
        lambda f, p: f.belief >= p.states.provisional_belief,
        "Provisional: there is support (belief {belief} from {support_groups}), but not enough to accept it.",
    ),
    Row(
        "S8-tentative",
        "tentative",
        lambda _f, _p: True,
        "Tentative: there is little support so far (belief {belief}).",
    ),
)

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


REVIEWS = 8
"""Looks per half-life where nothing better is known."""
ROUNDING = 10
"""What the roundings of one weighing may come to, in basis points."""
_MOST = 4 * REVIEWS


def review_after(status: Status, figures: Figures, policy: Policy, half_life: int | None) -> int | None:
    """Seconds after which age may have changed a status; None: it cannot, until somebody says something new."""
    if half_life is None:
        return None
    stale = figures.freshness < policy.states.deprecated_freshness
    if stale and not figures.contradiction:
        return None  # deprecated or tentative, and stays so
    return max(half_life * _steps(status, figures, policy) // REVIEWS, 1)


def _steps(status: Status, figures: Figures, policy: Policy) -> int:
    """How many eighths of a half-life it stays what it is, at least."""
    # What is contradicted may go up as well as down, and what is accepted or rejected hangs on more than two figures.
    if figures.contradiction or figures.failed_test or status not in {"provisional", "tentative"}:
        return 1
    steps = _steps_above(figures.freshness, policy.states.deprecated_freshness + ROUNDING)
    if status == "provisional":
        # Of several groups, those that count as independent may be others when some have aged more.
        single = figures.support_groups <= 1
        steps = min(steps, _steps_above(figures.belief, policy.states.provisional_belief + ROUNDING) if single else 1)
    return max(steps, 1)


def _steps_above(value: int, least: int) -> int:
    """For how many steps a figure that age lowers stays at least what it has to be."""
    steps = 0
    while steps < _MOST and value * _AGED_SHARES[steps + 1] // FULL >= least:
        steps += 1
    return steps


def aged_share(steps: int) -> int:
    """What is left of 10,000 after some steps, at least: freshness falls in straight lines from half to half."""
    halvings, rest = divmod(steps, REVIEWS)
    return (FULL * REVIEWS // (REVIEWS + rest)) >> halvings


_AGED_SHARES = tuple(map(aged_share, range(_MOST + 1)))
