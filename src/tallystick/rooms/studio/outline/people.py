"""Names and the cards they belong to."""

from collections import Counter
from collections.abc import Sequence

from tallystick.rooms.studio.book.nouns import CanonCard


def names_of(cards: Sequence[CanonCard]) -> dict[str, str]:
    """Every name and alias in small letters → the path of its card; also first names that only one person has."""
    names: dict[str, str] = {}
    for card in cards:
        for name in (card.name, *card.aliases):
            names.setdefault(name.casefold(), card.path)
    firsts = Counter(card.name.casefold().split()[0] for card in cards if card.kind == "character")
    for card in cards:
        first = card.name.casefold().split()[0]
        if card.kind == "character" and firsts[first] == 1:
            names.setdefault(first, card.path)
    return names


def card_of(cards: Sequence[CanonCard], name: str) -> CanonCard | None:
    """The card of a person: by name or alias, else by a first or last name that only one has."""
    wanted = name.casefold().strip()
    people = [card for card in cards if card.kind == "character"] or list(cards)
    for card in (*people, *cards):
        if wanted in {one.casefold() for one in (card.name, *card.aliases)}:
            return card
    partly = [
        card for card in people if wanted in card.name.casefold().split() or card.name.casefold() in wanted.split()
    ]
    return partly[0] if len(partly) == 1 else None
