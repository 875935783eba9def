"""Random evidence, and what must hold of it whatever it is. Run as a program, it prints a digest of many weighings.

The program imports only what weighs, so that every Python there is can run it: the same bytes must come out.
"""

import random
import sys
from dataclasses import replace
from hashlib import sha256

from tallystick.rooms.memory.model import Figures, Observation
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.weigh.evidence import Evidence
from tallystick.rooms.memory.weigh.status_rules import decide

POLICY = Policy()
NOW = 1_760_000_000
CLASSES = ("test_result", "human", "tool_internal", "document", "tool_external", "model_inference")
VOLATILITIES = ("static", "low", "medium", "high")
SUMMARIES = 0.25
"""How many of the cases rest on many summaries, each of two groups."""
Seen = list[tuple[Observation, str]]


def observation(chance: random.Random, number: int, *, summary: bool = False) -> Observation:
    if summary:
        return _summary(chance, number)
    group = f"g{chance.randrange(6)}"
    derived = chance.random() < 0.25
    roots = chance.randint(1, 3) if derived else 1
    groups = tuple(sorted({f"g{chance.randrange(6)}" for _ in range(roots)})) if derived else (group,)
    contents = tuple(sorted({f"c{chance.randrange(8)}" for _ in range(roots)}))
    kind = chance.choice(CLASSES)
    return Observation(
        id=f"obs_{number}", text="", source_id=group, claimed=kind, weighed_as=kind, groups=groups, contents=contents,
        observed_at=NOW - chance.choice((0, 60, 3_600, 86_400, 700_000, 5_000_000)),
        derived_from=("obs_parent",) if derived else (), episode_id="default", seq=number, receipt_id="", at=NOW,
    )  # fmt: skip


def _summary(chance: random.Random, number: int) -> Observation:
    """Of a page of each of two groups; many of these stand in each other's way in many different ways."""
    pages = [(f"g{at}", f"g{at} page {chance.randrange(4)}") for at in chance.sample(range(8), 2)]
    kind = chance.choice(CLASSES[1:5])
    return Observation(
        id=f"obs_{number}", text="", source_id="summariser", claimed=kind, weighed_as=kind,
        groups=tuple(sorted(group for group, _ in pages)), contents=tuple(sorted(page for _, page in pages)),
        observed_at=NOW - chance.randrange(600_000), derived_from=("obs_parent",), episode_id="default", seq=number,
        receipt_id="", at=NOW,
    )  # fmt: skip


def evidence(chance: random.Random, most: int = 8, *, summaries: bool = False) -> Seen:
    found = [
        (observation(chance, number), "support" if chance.random() < 0.65 else "contradiction")
        for number in range(chance.randint(0, most // 4 if summaries else most))
    ]
    if summaries:
        # Nearly all on one side: only many on the same side crowd each other.
        side = chance.choice(("support", "contradiction"))
        found += [(observation(chance, 100 + at, summary=True), side) for at in range(chance.randint(7, 14))]
    return found


def weighed(found: Seen, volatility: str, now: int = NOW) -> Figures:
    evidence = Evidence(POLICY)
    for seen, stance in found:
        evidence.add(seen, stance)
    return evidence.weigh(volatility, now).figures


def check(seed: int) -> None:
    """All properties on one random case."""
    chance = random.Random(seed)
    summaries = chance.random() < SUMMARIES
    found, volatility = evidence(chance, summaries=summaries), chance.choice(VOLATILITIES)
    before = weighed(found, volatility)
    more = observation(chance, 1000, summary=summaries and chance.random() < 0.7)
    for_it = weighed([*found, (more, "support")], volatility)
    against = weighed([*found, (more, "contradiction")], volatility)
    assert for_it.belief >= before.belief, f"{seed}: more support lowered belief"
    assert for_it.support_groups >= before.support_groups, f"{seed}: more support made fewer sources"
    assert for_it.disbelief <= before.disbelief, f"{seed}: more support raised disbelief"
    assert against.belief <= before.belief, f"{seed}: more contradiction raised belief"
    shuffled = chance.sample(found, len(found))
    assert weighed(shuffled, volatility) == before, f"{seed}: the order mattered"
    assert weighed([*found, *found], volatility) == before, f"{seed}: the same twice mattered"
    alone = [(seen, stance) for seen, stance in found if stance == "support"]
    later = NOW + chance.randint(1, 40 * 86_400)
    assert weighed(alone, volatility, later).belief <= weighed(alone, volatility).belief, f"{seed}: age raised belief"
    assert 0 <= before.belief <= 9_900
    assert before.belief + before.disbelief <= 10_000


def check_models(seed: int) -> None:
    """Many inferences of models never make a fact."""
    chance = random.Random(seed)
    found: Seen = []
    for number in range(200):
        seen = replace(observation(chance, number), weighed_as="model_inference", groups=(f"g{number}",))
        found.append((seen, "support"))
    figures = weighed(found, "static")
    assert decide(figures, POLICY).status not in {"accepted", "provisional"}, seed
    assert figures.support <= POLICY.model_cap


def check_one_bad_source(seed: int) -> None:
    """One source, however loud and of whatever class, cannot contest what many independent ones say."""
    chance = random.Random(seed)
    found: Seen = []
    for number in range(chance.randint(6, 10)):
        seen = replace(
            observation(chance, number), weighed_as=chance.choice(("human", "document")), groups=(f"good{number}",),
            contents=(f"good{number}",), derived_from=(), observed_at=NOW,
        )  # fmt: skip
        found.append((seen, "support"))
    volatility = chance.choice(VOLATILITIES)
    assert decide(weighed(found, volatility), POLICY).status == "accepted"
    for number in range(100, 100 + chance.randint(1, 20)):
        seen = replace(
            observation(chance, number), weighed_as=chance.choice(CLASSES[1:]), groups=("bad",),
            contents=(f"bad{number}",), derived_from=(), observed_at=NOW,
        )  # fmt: skip
        found.append((seen, "contradiction"))
    assert decide(weighed(found, volatility), POLICY).status == "accepted", seed


def digest(cases: int) -> str:
    total = sha256()
    for seed in range(cases):
        chance = random.Random(seed)
        figures = weighed(evidence(chance, summaries=chance.random() < SUMMARIES), chance.choice(VOLATILITIES))
        total.update(repr((figures, decide(figures, POLICY).rule)).encode())
    return total.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(int(sys.argv[1])) + "\n")
