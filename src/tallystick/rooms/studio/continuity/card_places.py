"""On which bank or side a place of the cards lies, wherever the text names it, with a capital or without."""

import re
from collections.abc import Iterator, Sequence

from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention

_ON = r"\s+(?:\w+\s+){0,3}?on\s+the\s+(?P<way>north|south|east|west|left|right)(?:ern)?\s+(?:bank|side|shore)\b"


def banks(narration: Narration, cards: Sequence[CanonCard]) -> Iterator[Fact]:
    """Where the narration puts a place that has a card."""
    for card in cards:
        if card.kind != "location":
            continue
        names = "|".join(re.escape(re.sub(r"^[Tt]he\s+", "", name)) for name in (card.name, *card.aliases))
        pattern = re.compile(rf"(?<![\w-])(?P<name>(?i:{names}))(?![\w-]){_ON}")
        for number, found in narration.prose.matches(pattern, {"bank", "side", "shore"}):
            if narration.is_real(number) and narration.asserts(number, found.start(), found.end()):
                name = found.group("name")
                subject = Mention(
                    start=found.start(), end=found.end("name"), key=card.path, name=name, is_possessive=False
                )
                way = found.group("way")
                yield fact_at(narration.prose, number, found.span(), subject, "bank", (way,), found.group())
