"""How a slip is worded: statements that settle something, statements that break it, and statements that only look so.

Slots of every wording: {N} the name, {A} a short name, {K} the one word of it, {he} {him} {his} {himself} {man}, with a
capital where a sentence begins. The values of the form come besides: in a clean wording {v} is what was settled and {w}
what would break it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Slots = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Values:
    """What one pair of statements is about."""

    settled: Slots
    broken: Slots
    """For the second statement, against the first."""
    same: Slots
    """For the second statement, in keeping with the first."""
    clean: Slots
    """For a second statement that only looks like a break."""


@dataclass(frozen=True, kw_only=True)
class Form:
    kind: str
    name: str
    established: tuple[str, ...]
    contradicting: tuple[str, ...]
    clean: tuple[tuple[str, str], ...]
    """Why it is no contradiction, and the words."""
    values: Callable[[random.Random], Values]
    card: tuple[str, ...] = ()
    """The keys under which a card of the compendium would hold the value; none where cards do not."""
    keeps: bool = True
    """Whether a contradicting wording with the old value is clean. Not so where the wording itself is the break."""


def plain(rng: random.Random, pairs: tuple[tuple[str, str], ...]) -> Values:
    """One value against another, either way round."""
    first, second = rng.sample(rng.choice(pairs), 2)
    return Values(settled={"v": first}, broken={"v": second}, same={"v": first}, clean={"v": first, "w": second})
