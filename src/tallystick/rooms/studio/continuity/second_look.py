"""A second look at what the rules read: what they missed though it is likely told, and what is likely not told.

The rules know constructions, and every new writer has constructions of his own. The second look weighs words instead,
so the two err in different places.
"""

from collections.abc import Iterator
from dataclasses import replace

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.candidates import Candidate, candidates
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.likelihood import bounds, likelihood
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.readers import read_by_rules

Key = tuple[object, ...]


def second_look(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """What the rules read in a file, less what is most likely not told, and more what most likely is."""
    looked: dict[Key, tuple[int, Candidate]] = {}
    for candidate in candidates(narration, binder):
        weight, key = likelihood(binder, candidate), key_of(narration, candidate.fact)
        if key not in looked or weight > looked[key][0]:
            looked[key] = weight, candidate
    ruled = set()
    for fact in read_by_rules(narration, binder):
        key = key_of(narration, fact)
        ruled.add(key)
        if key not in looked:
            yield fact
            continue
        weight, candidate = looked[key]
        limits = bounds(candidate.kind)
        if weight >= limits.untold:
            yield fact if weight >= limits.untold_alone else replace(fact, sure=False)
    for key, (weight, candidate) in looked.items():
        limits = bounds(candidate.kind)
        if key not in ruled and weight >= limits.told:
            yield replace(candidate.fact, sure=weight >= limits.told_alone)


def key_of(narration: Narration, fact: Fact) -> Key:
    """By which the same fact of the same sentence is known, whoever read it."""
    return fact.subject, fact.attribute, fact.value, narration.prose.sentence_at(fact.offset)
