"""How likely a candidate is told as a fact: weights of words and of their neighbours, learned from sentences.

Sentences that settle a fact, and sentences that only look so, were written by many hands; the benchmark's
`continuity.learning` counts what tells them apart and writes `likelihood.json`. What is here is a sum of whole numbers,
so that the same text gives the same answer everywhere.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.candidates import Candidate

WEIGHTS = Path(__file__).with_name("likelihood.json")
SCALE = 100
"""Weights are hundredths of a logit."""
_TOKEN = re.compile(r"¤+|[A-Z]{4,}|[A-Za-z]+(?:'[a-z]+)?|[0-9]+|[\"—;:,.?!()]")
_HE = {"m": {"he": "HE", "him": "HIM", "his": "HIS", "himself": "SELF"},
       "f": {"she": "HE", "her": "HIS", "hers": "HIS", "herself": "SELF"}}  # fmt: skip
_SAME = dict.fromkeys(("man", "woman", "lady", "gentleman"), "MAN")
_CLOSE = 5
"""Words on either side of the value that count as beside it."""


def likelihood(binder: Binder, candidate: Candidate) -> int:
    """How much speaks for it, in hundredths of a logit: 0 is even odds."""
    return weight_of(_held(), candidate.kind, features(binder, candidate))


def weight_of(weights: Mapping[str, Any], kind: str, found: set[str]) -> int:
    """What some features of a candidate weigh together."""
    shared, own = weights["shared"], weights["own"][kind]
    return int(weights["bias"][kind] + sum(shared.get(name, 0) + own.get(name, 0) for name in found))


@record
class Bounds:
    """What a likelihood must reach."""

    told: int
    """From where on it is told whatever the rules say."""
    untold: int
    """Below where it is not, whatever the rules say."""
    told_alone: int
    untold_alone: int
    """The same where nothing but this one sentence speaks: two that are read must both be misread to be wrong."""


@cache
def bounds(kind: str) -> Bounds:
    """What the likelihood of such a candidate must reach."""
    held = _held()["bounds"]
    return Bounds(**{name: by_kind[kind] for name, by_kind in held.items()})


def features(binder: Binder, candidate: Candidate) -> set[str]:
    """What is weighed: words, their roots, pairs, where they stand to the value, and the words of sentences beside."""
    tokens = _tokens(binder, candidate.number, candidate)
    at = tokens.index("VALUE") if "VALUE" in tokens else len(tokens)
    found = {f"2 {one} {other}" for one, other in pairwise(tokens)}
    for place, token in enumerate(tokens):
        found.add(f"1 {token}")
        found.add(f"{'<' if place < at else '>'} {token}")
        if place != at and abs(place - at) <= _CLOSE:
            found.add(f"{'<<' if place < at else '>>'} {token}")
    found |= {f"= {token}" for token in _clause(tokens, at)} | {f"| {token}" for token in _between(tokens, at)}
    found |= {rooted for feature in found if (rooted := _rooted(feature))}
    for number in binder.prose.beside(candidate.number):
        if number != candidate.number:
            sign = "-" if number < candidate.number else "+"
            found |= {f"{sign} {token}" for token in _tokens(binder, number, candidate)}
    return found


def _rooted(feature: str) -> str:
    """The same of a word's root: `dreamt` and `dreaming` say the same."""
    sign, _, token = feature.partition(" ")
    return f"{sign}~ {token[:_ROOT]}" if len(token) > _ROOT and sign in _ROOTED and token.islower() else ""


_ROOT = 5
_ROOTED = frozenset({"1", "=", "|", "<<", ">>"})


def _clause(tokens: list[str], at: int) -> list[str]:
    """The words that no comma or other mark parts from the value."""
    start = max((place + 1 for place in range(at) if tokens[place] in _PAUSES), default=0)
    end = next((place for place in range(at, len(tokens)) if tokens[place] in _PAUSES), len(tokens))
    return tokens[start:end]


def _between(tokens: list[str], at: int) -> list[str]:
    """The words between the value and the nearest name of the one it may be said of."""
    named = min(
        (place for place, word in enumerate(tokens) if word == "PERSON"), key=lambda each: abs(each - at), default=at
    )
    return [*tokens[min(named, at) + 1 : max(named, at)], f"{'before' if named < at else 'after'}"]


_PAUSES = frozenset(',;:—.?!()"') | {"SAID"}


def _tokens(binder: Binder, number: int, candidate: Candidate) -> list[str]:
    """The words of a sentence, with a sign for the value, the person and what else is named."""
    sentence = binder.prose.sentences[number]
    marks = [(*candidate.value, "VALUE"), *candidate.others]
    marks += [
        (one.start, one.end, "PERSON" if one.key == candidate.fact.subject else "OTHER")
        for one in binder.mentions(number)
        if binder.cast.is_person(one.key)
    ]
    text, at = "", sentence.start
    for start, end, mark in sorted(marks):
        if at <= start and end <= sentence.end:
            text += f"{binder.prose.told[at:start]} {mark} "
            at = end
    text += binder.prose.told[at : sentence.end]
    his = _HE.get(binder.cast.gender(candidate.fact.subject) or "", {})
    return [_plain(token, his) for token in _TOKEN.findall(text)]


def _plain(token: str, his: dict[str, str]) -> str:
    """A sign for what is said, for the person's own pronouns, and else the word in small letters."""
    if token[0] == "¤":
        return "SAID"
    if token in _MARKS:
        return token
    small = token.lower()
    return his.get(small) or _SAME.get(small, small)


_MARKS = frozenset({"VALUE", "PERSON", "OTHER", "PLACE", "DATE"})


@cache
def _held() -> dict[str, Any]:
    held: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return held
