"""An honest stream: facts that independent sources report, some of which change; what of it is promoted, and when."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from typing import Any

from benchmarks.memory.stage import HOUR, Stage
from tallystick.rooms.memory.model import Canonical
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.times import stamp_of

KINDS = ("document", "human", "tool_internal", "document", "tool_external", "tool_external", "human")
CONSOLIDATED = 0.3
"""How often somebody asks for a consolidation after a report."""
MISTAKES = 0.05
"""Of the reports; each by one source, about one fact."""


@dataclass
class Seen:
    facts: int = 0
    promoted: int = 0
    wrong: int = 0
    updates: int = 0
    followed: int = 0
    owners: int = 0
    owners_promoted: int = 0
    hours: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        return {
            "facts": self.facts,
            "promoted": round(self.promoted / self.facts, 4),
            "wrong": self.wrong,
            "owner_promoted": round(self.owners_promoted / max(self.owners, 1), 4),
            "updates_followed": round(self.followed / max(self.updates, 1), 4),
            "hours_to_promotion": round(statistics.median(self.hours), 1) if self.hours else None,
        }


def honest(policy: Policy, *, facts: int, seed: int = 3) -> dict[str, Any]:
    """Each fact is reported by one to six of twenty sources over days; a third of them change once."""
    chance, stage, seen = random.Random(seed), Stage(policy), Seen()
    for number in range(facts):
        subject = f"person {number}"
        moves = chance.random() < 0.33
        truth = [(subject, "lives_in", f"town {chance.randrange(50)}")]
        if moves:
            truth.append((subject, "lives_in", f"city {chance.randrange(50)}"))
        for place, fact in enumerate(truth):
            _report(stage, chance, fact, seen, since=place > 0)
        _judge(stage, truth, seen)
        if number % 5 == 0:
            _hear_owner(stage, number, seen)
    seen.wrong = sum(one.object.startswith("mistake") for one in stage.state.canonicals.held.values())
    return seen.figures()


def _report(stage: Stage, chance: random.Random, fact: tuple[str, str, str], seen: Seen, *, since: bool) -> None:
    began = stage.now
    more = {"valid_from": stamp_of(began)} if since else {}
    for source in chance.sample(range(20), chance.randint(1, 6)):
        said = fact
        extra = more
        if chance.random() < MISTAKES:
            said, extra = (fact[0], fact[1], f"mistake {chance.randrange(10**6)}"), {}
        text = f"{said[0]} lives in {said[2]}, as {source} knows. ({chance.randrange(10**6)})"
        stage.claim(said, stage.observe(text, f"source {source}", KINDS[source % len(KINDS)]), **extra)
        stage.wait(chance.uniform(0.2, 36))
        if chance.random() < CONSOLIDATED:
            stage.consolidate()
    stage.consolidate()
    promoted = [one.promoted_at for one in stage.state.canonicals.held.values() if _same(one, fact)]
    if promoted:
        seen.hours.append((min(promoted) - began) / HOUR)


def _same(one: Canonical, fact: tuple[str, str, str]) -> bool:
    return (one.subject, one.predicate, one.object) == fact


def _hear_owner(stage: Stage, number: int, seen: Seen) -> None:
    """The owner says once what only the owner can know."""
    fact = ("owner", "preference", f"choice {number}")
    stage.claim(fact, stage.observe(f"I prefer choice {number}.", "owner", "human"))
    stage.consolidate()
    seen.owners += 1
    seen.owners_promoted += stage.promoted(fact)


def _judge(stage: Stage, truth: list[tuple[str, str, str]], seen: Seen) -> None:
    seen.facts += 1
    seen.promoted += stage.promoted(truth[-1])
    if len(truth) > 1:
        seen.updates += 1
        seen.followed += stage.promoted(truth[-1]) and not stage.promoted(truth[0])
