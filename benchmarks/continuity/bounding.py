"""From which weight on something is told whatever the rules say, and below which it is not: by hands left out.

Each hand that no rule was written from, and each novel, is judged by weights that were learned without it. The bounds of each kind are
those that find most pairs for so many false alarms, and so many are allowed as keep the precision of all together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, product
from operator import ge
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
from tallystick.rooms.studio.continuity.likelihood import features, weight_of
from tallystick.rooms.studio.continuity.readers import read_by_rules
from tallystick.rooms.studio.continuity.second_look import key_of

RULES_FROM = frozenset(f"seen_{number}" for number in range(1, 11))
"""The rules were written from these: how they read them says nothing."""
PRECISION = 0.935
"""Of the kinds that are looked at twice; names and deaths, which are not, give next to no false alarm, so that the
precision of all kinds together is higher."""
ALONE = 0.95
"""Of what is held against a card: one sentence has to bear it, where else two must be read."""
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
Bound = tuple[int, int]
"""From where on it is told, and below where it is not, whatever the rules say."""
Found = tuple[float, float]
"""The share that is rightly found, and of false alarms beside it."""
Worth = Callable[[Sequence[Judged], Sequence[int], Bound], Found]


def bounds(
    hands: Collection[str], read: Sequence[list[Row]], weights: dict[str, Any]
) -> tuple[dict[str, dict[str, int]], str]:
    """The bounds of each kind, by their names, and what they come to on hands and novels left out.

    Args:
        hands: Who may be learned from.
        read: The novels' candidates.
        weights: What was learned from all: by these nothing of our own that is silent may be told.
    """
    judged, untold = _left_out(hands, read)
    deaths = judged.pop(DEAD)
    silent = {kind: (_silent(weights, kind), UNTOLD[0]) for kind in KIND_OF.values()}
    both = _chosen(judged, untold, _pair, silent, PRECISION)
    alone = _chosen(judged, untold, _against_card, both, ALONE)
    lines = [*_said("pairs", judged, untold, _pair, both), *_said("alone", judged, untold, _against_card, alone)]
    # A death that is read wrongly can cost more than one that is missed, and nothing speaks against one that is told.
    both[DEAD] = alone[DEAD] = (
        min(
            bound
            for bound in TOLD
            if bound >= silent[DEAD][0] and sum(weight >= bound for weight in untold[DEAD]) <= MISTAKEN
        ),
        NEVER,
    )
    settled = [one for one in deaths if one[1] == "settled"]
    found = sum(one[2] is not None or (one[3] or NEVER) >= both[DEAD][0] for one in settled)
    ruled = sum(one[2] is not None for one in settled)
    lines.append(f"dead: {found} of {len(settled)} read, by the rules {ruled}; bounds {both[DEAD]}")
    named = {"told": both, "untold": both, "told_alone": alone, "untold_alone": alone}
    return {
        name: {kind: bound[name.startswith("untold")] for kind, bound in chosen.items()}
        for name, chosen in named.items()
    }, "\n".join(lines)


def _silent(weights: dict[str, Any], kind: str) -> int:
    """Above what is likeliest among our own sentences that tell nothing."""
    return max(
        (weight_of(weights, kind, found) + 1 for one, found, told, _ in own_rows() if one == kind and not told),
        default=0,
    )


def _left_out(
    hands: Collection[str], read: Sequence[list[Row]]
) -> tuple[dict[str, list[Judged]], dict[str, list[int]]]:
    """How the hands' sentences and the novels' are weighed by what was learned without them."""
    later, (*whole, openings), own = sorted(set(hands) - RULES_FROM), read, list(own_rows())
    judged: dict[str, list[Judged]] = {kind: [] for kind in KIND_OF.values()}
    untold: dict[str, list[int]] = {kind: [] for kind in KIND_OF.values()}
    for part, novel in enumerate(whole):
        out = later[part :: len(whole)]
        others = chain(openings, *(rows for rows in whole if rows is not novel))
        weights = learned(evened([*told_rows(set(hands) - set(out)), *own, *others]))
        for kind, found, _, _ in novel:
            untold[kind].append(weight_of(weights, kind, found))
        for one in chain(*(judge(hand, weights) for hand in out)):
            judged[one[0]].append(one)
    return judged, untold


def _chosen(
    judged: Mapping[str, Sequence[Judged]],
    untold: Mapping[str, Sequence[int]],
    worth: Worth,
    least: Mapping[str, Bound],
    precision: float,
) -> dict[str, Bound]:
    """The bounds that find most at a price of false alarms: the lowest price that keeps the precision."""
    every = {
        kind: [
            (bound, worth(judged[kind], untold[kind], bound))
            for bound in product(TOLD, UNTOLD)
            if bound[1] < bound[0] and all(map(ge, bound, least.get(kind, bound)))
        ]
        for kind in judged
    }
    chosen: dict[str, Bound] = {}
    for price in range(2, 80):
        chosen = {kind: _best(choices, price / 4) for kind, choices in every.items()}
        if _precision([worth(judged[kind], untold[kind], bound) for kind, bound in chosen.items()]) >= precision:
            break
    return chosen


def _best(every: Sequence[tuple[Bound, Found]], price: float) -> Bound:
    choices = [choice for choice in every if choice[1][1] <= AT_MOST * choice[1][0]] or every
    return max(choices, key=lambda choice: choice[1][0] - price * choice[1][1])[0]


def _said(
    what: str,
    judged: Mapping[str, Sequence[Judged]],
    untold: Mapping[str, Sequence[int]],
    worth: Worth,
    chosen: Mapping[str, Bound],
) -> Iterator[str]:
    found = {kind: worth(judged[kind], untold[kind], bound) for kind, bound in chosen.items()}
    rules = [worth(ours, (), (-NEVER, NEVER)) for ours in judged.values()]
    yield (
        f"{what}, left out: {_share(found.values()):.3f} found, precision {_precision(found.values()):.3f}; by the "
        f"rules alone {_share(rules):.3f}, {_precision(rules):.3f}"
    )
    for kind, (right, wrong) in found.items():
        yield f"{kind}: {right:.2f} found, {wrong:.3f} wrong, bounds {chosen[kind]}"


def _share(found: Collection[Found]) -> float:
    return sum(right for right, _ in found) / len(found)


def _precision(found: Collection[Found]) -> float:
    return sum(right for right, _ in found) / sum(right + wrong for right, wrong in found)


def _pair(judged: Sequence[Judged], untold: Sequence[int], bound: Bound) -> Found:
    """The share of pairs that are found; and of cases that give a false alarm, by their twin or by the novel itself."""
    settled, (right, wrong) = _read(judged, "settled", bound), _against_card(judged, untold, bound)
    return settled * right, settled * wrong


def _against_card(judged: Sequence[Judged], untold: Sequence[int], bound: Bound) -> Found:
    """The same where a card settles it, and only the second sentence has to be read."""
    elsewhere = sum(weight >= bound[0] for weight in untold) / PEOPLE
    return _read(judged, "broken", bound), _read(judged, "clean", bound) * CLEAN + elsewhere


def _read(judged: Sequence[Judged], which: str, bound: Bound) -> float:
    told, untold = bound
    ours = [one for one in judged if one[1] == which]
    read = sum((one[2] is not None and one[2] >= untold) or (one[3] is not None and one[3] >= told) for one in ours)
    return read / len(ours)


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
                    weight = weight_of(weights, kind, features(binder, one))
                    key = key_of(narration, one.fact)
                    weight_of[key] = max(weight, weight_of.get(key, weight))
                    likeliest[place] = max(weight, likeliest.get(place, weight))
            ruled: dict[int, int] = {}
            for fact in read_by_rules(narration, binder):
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
