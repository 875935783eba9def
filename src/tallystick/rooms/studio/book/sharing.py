"""One name, one card: what two cards claim is said, and binds neither.

A shared alias would make one person's facts another's. So it is taken from every card that only calls itself so; the
card whose name it is keeps it.
"""

from collections.abc import Sequence
from dataclasses import replace

from tallystick.rooms.studio.book.cards import line_of
from tallystick.rooms.studio.book.nouns import CanonCard, Complaint


def settle_names(cards: Sequence[CanonCard]) -> tuple[list[CanonCard], list[Complaint]]:
    """The cards with the aliases that are theirs alone, and what had to be settled."""
    holders: dict[str, list[CanonCard]] = {}
    for card in cards:
        for name in dict.fromkeys(one.casefold() for one in (card.name, *card.aliases)):
            holders.setdefault(name, []).append(card)
    shared = {name: held for name, held in holders.items() if len(held) > 1}
    complaints = [_complaint(card, name, held) for name, held in shared.items() for card in held[1:]]
    settled = [
        replace(card, aliases=tuple(alias for alias in card.aliases if alias.casefold() not in shared))
        if any(alias.casefold() in shared for alias in card.aliases)
        else card
        for card in cards
    ]
    return settled, complaints


def _complaint(card: CanonCard, name: str, held: Sequence[CanonCard]) -> Complaint:
    other = next(one for one in held if one is not card)
    code = "name_taken" if sum(one.name.casefold() == name for one in held) > 1 else "alias_taken"
    spelt = next(one for one in (card.name, *card.aliases) if one.casefold() == name)
    return Complaint(
        code=code,
        path=card.path,
        line=line_of(card, spelt),
        message=f"{other.path} is called {spelt} too. Let one card have the name; until then it stands for neither.",
    )
