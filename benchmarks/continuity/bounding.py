"""From which weight on something is told whatever the rules say, and below which it is not: by hands left out.

Each hand that no rule was written from, and each novel, is judged by weights that were learned without it. The bounds of each kind are
those that find most pairs for so many false alarms, and so many are allowed as keep the precision of all together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, product
from typing import Any

from benchmarks.continuity.learning import (
    DEAD,
    KEYS,
    KIND_OF,
    Row,
    evened,
    learned,
    own_rows,
    paragraphs,
    place_of,
    telling,
    told_rows,
    written,
)
from benchmarks.continuity.wordings import forms_of
from tallystick.rooms.studio.continuity.candidates import candidates
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.likelihood import features
from tallystick.rooms.studio.continuity.readers import READERS
from tallystick.rooms.studio.continuity.second_look import key_of

RULES_FROM = frozenset(f"seen_{number}" for number in range(1, 11))
"""The rules were written from these: how they read them says nothing."""
PRECISION = 0.94
"""Of the kinds that are looked at twice; names and deaths, which are not, give next to no false alarm, so that the
precision of all kinds together is higher."""
AT_MOST = 0.09
"""False alarms of one kind beside its pairs: no kind is to pay for another."""
PEOPLE = 60
"""Whom the novels name often, about: what is read wrongly of one of them meets a case about that one."""
CLEAN = 0.6
"""The share of twins that only look like a break; the others say the old value again."""
MISTAKEN, NEVER = 3, -10_000
"""Deaths read wrongly in all the novels, of people who may go on acting; a weight that nothing has."""
TOLD = (0, 25, 50, 75, 100, 125, 150, 175, 200, 250, 300, 350, 400, 450, 500, 600, 800)
UNTOLD = (-500, -300, -200, -150, -100, -50, 0, 50)
Judged = tuple[str, str, int | None, int | None]
"""Kind; settled, broken or clean; the weight of what the rules read (None: nothing); the weight of the likeliest."""


def bounds(hands: Collection[str], read: Sequence[list[Row]]) -> tuple[dict[str, int], dict[str, int], str]:
    """The bounds of each kind, and what they come to on hands and novels left out."""
    later, (*whole, openings), own = sorted(set(hands) - RULES_FROM), read, list(own_rows())
    judged: dict[str, list[Judged]] = {kind: [] for kind in KIND_OF.values()}
    untold: dict[str, list[int]] = {kind: [] for kind in KIND_OF.values()}
    for part, novel in enumerate(whole):
        out = later[part :: len(whole)]
        others = chain(openings, *(rows for rows in whole if rows is not novel))
        weights = learned(evened([*told_rows(set(hands) - set(out)), *own, *others]))
        for kind, found, _, _ in novel:
            untold[kind].append(weighed(weights, kind, found))
        for one in chain(*(judge(hand, weights) for hand in out)):
            judged[one[0]].append(one)
    deaths = judged.pop(DEAD)
    for price in range(2, 80):
        chosen = {kind: _best(judged[kind], untold[kind], price / 4) for kind in judged}
        found = [_found(judged[kind], untold[kind], *bound) for kind, bound in chosen.items()]
        if _precision(found) >= PRECISION:
            break
    rules = [_found(ours, (), 10_000, -10_000) for ours in judged.values()]
    lines = [
        f"left out: {_pairs(found):.3f} of pairs, precision {_precision(found):.3f}; by the rules alone "
        f"{_pairs(rules):.3f}, {_precision(rules):.3f}"
    ]
    lines += [
        f"{kind}: {pairs:.2f} of pairs, {wrong:.3f} wrong, bounds {bound}"
        for (kind, bound), (pairs, wrong) in zip(chosen.items(), found, strict=True)
    ]
    # A death that is read wrongly can cost more than one that is missed, and nothing speaks against one that is told.
    chosen[DEAD] = (min(bound for bound in TOLD if sum(weight >= bound for weight in untold[DEAD]) <= MISTAKEN), NEVER)
    settled = [one for one in deaths if one[1] == "settled"]
    read = sum(one[2] is not None or (one[3] or NEVER) >= chosen[DEAD][0] for one in settled)
    ruled = sum(one[2] is not None for one in settled)
    lines.append(f"dead: {read} of {len(settled)} read, by the rules {ruled}; bounds {chosen[DEAD]}")
    told = {kind: bound[0] for kind, bound in chosen.items()}
    return told, {kind: bound[1] for kind, bound in chosen.items()}, "\n".join(lines)


def _pairs(found: Sequence[tuple[float, float]]) -> float:
    return sum(pairs for pairs, _ in found) / len(found)


def _precision(found: Sequence[tuple[float, float]]) -> float:
    return sum(pairs for pairs, _ in found) / sum(pairs + wrong for pairs, wrong in found)


def _best(judged: Sequence[Judged], untold: Sequence[int], price: float) -> tuple[int, int]:
    every = [(bound, _found(judged, untold, *bound)) for bound in product(TOLD, UNTOLD)]
    choices = [choice for choice in every if choice[1][1] <= AT_MOST * choice[1][0]] or every
    return max(choices, key=lambda choice: choice[1][0] - price * choice[1][1])[0]


def _found(judged: Sequence[Judged], untold: Sequence[int], told: int, least: int) -> tuple[float, float]:
    """The share of pairs that are found; and of cases that give a false alarm, by their twin or by the novel itself."""
    share = {}
    for which in ("settled", "broken", "clean"):
        ours = [one for one in judged if one[1] == which]
        read = sum((one[2] is not None and one[2] >= least) or (one[3] is not None and one[3] >= told) for one in ours)
        share[which] = read / len(ours)
    elsewhere = sum(weight >= told for weight in untold) / PEOPLE
    return share["settled"] * share["broken"], share["settled"] * (share["clean"] * CLEAN + elsewhere)


def weighed(weights: dict[str, Any], kind: str, found: set[str]) -> int:
    """As the product weighs it."""
    own, shared = weights["own"][kind], weights["shared"]
    return int(weights["bias"][kind] + sum(shared.get(name, 0) + own.get(name, 0) for name in found))


def judge(hand: str, weights: dict[str, Any]) -> Iterator[Judged]:
    """How each sentence of a hand is read."""
    for form in forms_of([hand]):
        kind = KIND_OF.get(f"{form.kind}/{form.name}")
        if kind is None:
            continue
        for which, person, texts in written(form):
            narration, binder = telling(paragraphs(texts))
            weight_of: dict[Any, int] = {}
            likeliest: dict[int, int] = {}
            for one in candidates(narration, binder):
                place = place_of(one.fact.line)
                if one.kind == kind and place is not None and _is_meant(one.fact, person, which, texts[place][1]):
                    weight = weighed(weights, kind, features(binder, one))
                    key = key_of(narration, one.fact)
                    weight_of[key] = max(weight, weight_of.get(key, weight))
                    likeliest[place] = max(weight, likeliest.get(place, weight))
            ruled: dict[int, int] = {}
            for fact in (fact for read in READERS for fact in read(narration, binder)):
                place = place_of(fact.line)
                if place is not None and _is_of(kind, fact) and _is_meant(fact, person, which, texts[place][1]):
                    weight = weight_of.get(key_of(narration, fact), 0)
                    ruled[place] = max(weight, ruled.get(place, weight))
            for place in range(len(texts)):
                yield kind, which, ruled.get(place), likeliest.get(place)


def _is_of(kind: str, fact: Fact) -> bool:
    begins = {"left": "left for ", "days": "days to ", "came": "came to ", "night": "whereabouts on "}.get(kind, kind)
    return fact.attribute.startswith(begins)


def _is_meant(fact: Fact, person: int, which: str, value: str) -> bool:
    """Whether it is said of the one it is about; in a clean sentence, whether it is the value that would be a break."""
    if fact.subject not in KEYS[person]:
        return False
    said, wrong = fact.words.lower(), value.lower()
    return (
        which != "clean"
        or said in wrong
        or any(word in said for word in wrong.replace("-", " ").split() if len(word) > 3)
    )
