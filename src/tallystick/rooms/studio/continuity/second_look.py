"""A second look at what the rules read: what they missed though it is likely told, and what is likely not told.

The rules know constructions, and every new writer has constructions of his own. The second look weighs words instead,
so the two err in different places.
"""

from collections.abc import Iterable, Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.candidates import candidates
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.likelihood import bounds, likelihood
from tallystick.rooms.studio.continuity.narration import Narration


def second_look(narration: Narration, binder: Binder, read: Iterable[Fact]) -> Iterator[Fact]:
    """What the rules read in a file, less what is most likely not told, and more what most likely is."""
    unlikely: set[tuple[object, ...]] = set()
    added: dict[tuple[object, ...], Fact] = {}
    for candidate in candidates(narration, binder):
        weight, key = likelihood(binder, candidate), key_of(narration, candidate.fact)
        told, untold = bounds(candidate.kind)
        if weight >= told:
            added.setdefault(key, candidate.fact)
        elif weight < untold:
            unlikely.add(key)
    for fact in read:
        key = key_of(narration, fact)
        if key in added or key not in unlikely:
            added.pop(key, None)
            yield fact
    yield from added.values()


def key_of(narration: Narration, fact: Fact) -> tuple[object, ...]:
    """By which the same fact of the same sentence is known, whoever read it."""
    return fact.subject, fact.attribute, fact.value, narration.prose.sentence_at(fact.offset)
