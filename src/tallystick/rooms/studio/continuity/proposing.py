"""Cards proposed from the text: who and what the book names most, and what it says of them, with the lines."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.book.naming import slugged
from tallystick.rooms.studio.book.nouns import CardKind
from tallystick.rooms.studio.continuity.checking import Reading
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.vocabulary import TITLES

FEWEST_DEEDS = 3
"""Times somebody speaks or acts before a card is proposed."""
FEWEST_VISITS = 3
MOST = 60
_FOLDERS = {"character": ("Characters", "CHAR"), "location": ("Locations", "LOC")}
_FIELDS = {
    "eyes": "eyes", "hair": "hair", "beard": "beard", "age": "age", "height": "height", "handed": "handedness",
    "mother": "mother", "father": "father", "husband": "husband", "wife": "wife", "trade": "occupation",
    "home": "home", "birthplace": "birthplace", "born": "born", "dead": "status", "in": "location",
}  # fmt: skip


@record
class Proposed:
    """A card that could be made."""

    path: str
    kind: CardKind
    name: str
    aliases: tuple[str, ...]
    mentions: int
    facts: tuple[Fact, ...]

    def shown(self) -> dict[str, object]:
        """As commands give it."""
        return {
            "path": self.path, "kind": self.kind, "name": self.name, "aliases": list(self.aliases),
            "mentions": self.mentions,
            "facts": [_shown(fact) for fact in self.facts],
        }  # fmt: skip

    def text(self) -> str:
        """The card as a file."""
        lines = ["---", f"name: {self.name}"]
        if self.aliases:
            lines.append(f"aliases: [{', '.join(self.aliases)}]")
        lines += ["---", f"# {self.name}", "", "Proposed from the text; check it before you rely on it.", ""]
        if self.facts:
            lines += ["| what | value | where |", "|---|---|---|"]
            lines += [f"| {field_of(fact)} | {_cell(fact)} | {fact.path}:{fact.line} |" for fact in self.facts]
        return "\n".join(lines) + "\n"


def proposals(reading: Reading) -> list[Proposed]:
    """Cards for whom and what the book has none yet; the busiest first."""
    facts: dict[str, list[Fact]] = defaultdict(list)
    for fact in reading.borne_out():
        if fact.attribute in _FIELDS:
            facts[fact.subject].append(fact)
    named: dict[str, Counter[str]] = defaultdict(Counter)
    for prose in reading.proses:
        for mention in reading.cast.named_in(prose, 0, len(prose.flat), spoken=True):
            named[mention.key][mention.name] += 1
    found = [*_people(reading, facts, named), *_places(reading, facts, named)]
    return sorted(found, key=lambda one: (-one.mentions, one.path))[:MOST]


def field_of(fact: Fact) -> str:
    """What the card calls it."""
    return _FIELDS[fact.attribute]


def _people(reading: Reading, facts: dict[str, list[Fact]], named: dict[str, Counter[str]]) -> Iterator[Proposed]:
    for key, deeds in reading.cast.people():
        if key not in reading.cast.cards and deeds >= FEWEST_DEEDS and named[key]:
            yield _proposed("character", named[key], facts[key])


def _places(reading: Reading, facts: dict[str, list[Fact]], named: dict[str, Counter[str]]) -> Iterator[Proposed]:
    for key, visits in reading.cast.places():
        if key not in reading.cast.cards and visits >= FEWEST_VISITS and named[key]:
            yield _proposed("location", named[key], facts[key])


def _proposed(kind: CardKind, names: Counter[str], facts: list[Fact]) -> Proposed:
    # The longest of the usual names says most; the others are aliases.
    usual = [name for name, count in names.most_common() if count > 1 or len(names) == 1] or [
        names.most_common(1)[0][0]
    ]
    name = max(usual, key=lambda one: (len(_untitled(one).split()), names[one]))
    aliases = tuple(one for one in usual if one != name)[:8]
    folder, prefix = _FOLDERS[kind]
    path = f"Compendium/{folder}/{prefix}-{slugged(name)}.md"
    kept = tuple({(fact.attribute, fact.value): fact for fact in reversed(facts)}.values())[::-1]
    return Proposed(path=path, kind=kind, name=name, aliases=aliases, mentions=names.total(), facts=kept)


def _untitled(name: str) -> str:
    return " ".join(word for word in name.split() if word.rstrip(".").lower() not in TITLES)


def _shown(fact: Fact) -> dict[str, object]:
    place = {"path": fact.path, "line": fact.line, "quote": fact.quote}
    return {"field": field_of(fact), "value": fact.words, **place}


def _cell(fact: Fact) -> str:
    value = "dead" if fact.attribute == "dead" else fact.words
    return re.sub(r"[|\n]", " ", value)
