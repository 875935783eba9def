"""Events and buildings that a card is about, under whatever words the text names them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.vocabulary import words

_EMPTY = frozenset(words("the a an of at in on for to great old famous terrible"))


class CardSubjects:
    """The cards that are not about people, by the words of their names."""

    def __init__(self, cards: Sequence[CanonCard]) -> None:
        self._cards = [
            (words_of(name), card.path)
            for card in cards
            if card.kind != "character"
            for name in (card.name, *card.aliases)
        ]

    def settled(self, fact: Fact) -> Fact:
        """The fact with the card as its subject, if one card and no other is meant."""
        if fact.subject.endswith(".md"):
            return fact
        words = words_of(fact.subject)
        found = {path for name, path in self._cards if name and name == words} or {
            path for name, path in self._cards if len(name) > 1 and name <= words
        }
        return replace(fact, subject=found.pop()) if len(found) == 1 else fact


def words_of(name: str) -> frozenset[str]:
    """What of a name tells things apart: `the Ball at Netherfield` is `Netherfield ball`."""
    return frozenset(re.findall(r"\w+", name.lower().replace("'s", ""))) - _EMPTY
