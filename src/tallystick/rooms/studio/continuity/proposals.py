"""Cards proposed from the text: whom and what the book names most, and what it says of them, with the lines."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.book.model import CardKind
from tallystick.rooms.studio.book.paths import slugged
from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.continuity.statements import Statement
from tallystick.rooms.studio.continuity.words import LADDERS

FEWEST_MENTIONS = 3
MOST = 60
_FOLDERS = {"character": ("Characters", "CHAR"), "location": ("Locations", "LOC")}
_LABELS = {
    "eyes": "eyes",
    "hair": "hair",
    "beard": "beard",
    "moustache": "moustache",
    "age": "age",
    "height": "height",
    "build": "build",
    "handedness": "handedness",
    "title": "title",
    "occupation": "occupation",
    "place": "home",
    "dead": "status",
    "side": "body",
    "count": "number",
    "kinname": "",
    "kin": "",
}


@record
class ProposedFact:
    """One line of a proposed card."""

    field: str
    value: str
    path: str
    line: int
    quote: str

    def shown(self) -> dict[str, object]:
        """As commands give it."""
        return {"field": self.field, "value": self.value, "path": self.path, "line": self.line, "quote": self.quote}


@record
class ProposedCard:
    """A card that could be made."""

    path: str
    kind: CardKind
    name: str
    aliases: tuple[str, ...]
    mentions: int
    facts: tuple[ProposedFact, ...]

    def shown(self) -> dict[str, object]:
        """As commands give it."""
        return {
            "path": self.path,
            "kind": self.kind,
            "name": self.name,
            "aliases": list(self.aliases),
            "mentions": self.mentions,
            "facts": [fact.shown() for fact in self.facts],
        }

    def text(self) -> str:
        """The card as a file."""
        lines = ["---", f"name: {self.name}"]
        if self.aliases:
            lines.append(f"aliases: [{', '.join(self.aliases)}]")
        lines += ["---", f"# {self.name}", "", "Proposed from the text; check it before you rely on it.", ""]
        if self.facts:
            lines += ["| what | value | where |", "|---|---|---|"]
            lines += [f"| {fact.field} | {fact.value} | {fact.path}:{fact.line} |" for fact in self.facts]
        return "\n".join(lines) + "\n"


def proposals(reading: BookReading) -> list[ProposedCard]:
    """Cards for whom and what the book has none yet; the busiest first."""
    facts: dict[str, list[Statement]] = defaultdict(list)
    for one in reading.told:
        if one.hard and one.field.partition(":")[0] in _LABELS:
            facts[one.subject].append(one)
    found = [*_people(reading, facts), *_places(reading)]
    return sorted(found, key=lambda one: (-one.mentions, one.path))[:MOST]


def _people(reading: BookReading, facts: dict[str, list[Statement]]) -> Iterator[ProposedCard]:
    names: dict[str, list[str]] = defaultdict(list)
    acting = Counter(act.subject for act in reading.acts)
    written = _written(reading)
    for person in reading.cast.people.values():
        known = person.gender is not None or acting[person.key] > 0
        if person.card is None and person.is_person and person.mentions >= FEWEST_MENTIONS and known:
            names[person.key] = [name for name, _ in written[person.key].most_common() if name != person.name]
            name = max(
                [person.name, *names[person.key]], key=lambda one: (len(_untitled(one)), written[person.key][one])
            )
            others = tuple(one for one in [person.name, *names[person.key]] if one != name)[:8]
            yield _card("character", name, others, person.mentions, _facts(reading, facts[person.key]))


def _places(reading: BookReading) -> Iterator[ProposedCard]:
    for place in reading.cast.people.values():
        if place.kind == "location" and place.card is None and place.mentions >= FEWEST_MENTIONS:
            yield _card("location", place.name, (), place.mentions, ())


def _written(reading: BookReading) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for passage in reading.parsed:
        for mention in passage.mentions:
            if mention.is_name:
                words = passage.parsed.words[mention.first : mention.word.index + 1]
                found[mention.person.key][" ".join(word.text for word in words)] += 1
    return found


def _facts(reading: BookReading, told: list[Statement]) -> tuple[ProposedFact, ...]:
    """Each field once, with the value that most of the text gives."""
    by_field: dict[str, list[Statement]] = defaultdict(list)
    for one in told:
        by_field[one.field].append(one)
    found = []
    for field, statements in by_field.items():
        usual = Counter(one.value for one in statements).most_common(1)[0][0]
        one = next(one for one in statements if one.value == usual)
        label, value = _labelled(reading, field, one)
        found.append(ProposedFact(field=label, value=value, path=one.path, line=one.line, quote=one.quote))
    return tuple(found)


def _labelled(reading: BookReading, field: str, one: Statement) -> tuple[str, str]:
    kind, _, rest = field.partition(":")
    if kind == "kin":
        other = reading.cast.people.get(rest)
        return f"kin ({one.value[0]})", other.name if other else rest
    if kind == "kinname":
        return rest, one.words
    if kind == "count":
        return f"number of {rest}s", str(one.value[0])
    if kind == "side":
        return rest, one.words
    return _LABELS[kind], "dead" if kind == "dead" else one.words


def _card(
    kind: CardKind, name: str, aliases: tuple[str, ...], mentions: int, facts: tuple[ProposedFact, ...]
) -> ProposedCard:
    folder, prefix = _FOLDERS[kind]
    path = f"Compendium/{folder}/{prefix}-{slugged(name)}.md"
    return ProposedCard(path=path, kind=kind, name=name, aliases=aliases, mentions=mentions, facts=facts)


def _untitled(name: str) -> list[str]:
    return [word for word in name.split() if word.rstrip(".").lower() not in LADDERS]
