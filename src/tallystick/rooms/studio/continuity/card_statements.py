"""What the cards settle: every line as a statement, kept even where its field is unknown."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tallystick.reading.parser import ParsedText, ParsedWord, Parser
from tallystick.records import record
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.continuity.card_lines import CardLine, SceneOrder, lines_of
from tallystick.rooms.studio.continuity.cast import Cast, Person, plain_name
from tallystick.rooms.studio.continuity.fields.abstinence import read_bans
from tallystick.rooms.studio.continuity.fields.age import ages_in, read_age
from tallystick.rooms.studio.continuity.fields.appearance import FIELDS as LOOKS
from tallystick.rooms.studio.continuity.fields.appearance import colours, read_appearance, read_figure
from tallystick.rooms.studio.continuity.fields.death import read_death
from tallystick.rooms.studio.continuity.fields.found import Found
from tallystick.rooms.studio.continuity.fields.kin import ONE_OF, STRANGERS, read_kin, tie
from tallystick.rooms.studio.continuity.fields.numbers import NUMBER, number_of
from tallystick.rooms.studio.continuity.fields.objects import MARKS, read_numbers, read_properties, read_sides
from tallystick.rooms.studio.continuity.fields.place import kind_of, read_bank, read_place
from tallystick.rooms.studio.continuity.fields.rank import is_rank_key, read_rank, titles_in
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, name_mentions
from tallystick.rooms.studio.continuity.passages import Passage
from tallystick.rooms.studio.continuity.statements import Statement, Value
from tallystick.rooms.studio.continuity.words import COLOURS, FEATURES, KIN, MATERIALS
from tallystick.text.stems import stem
from tallystick.text.words import STOP_WORDS, words

KEYS: dict[str, str] = tomllib.loads((Path(__file__).parent / "data" / "keys.toml").read_text(encoding="utf-8"))
_READERS = (read_appearance, read_age, read_kin, read_death, read_rank, read_sides, read_place, read_bank, read_figure)
_HE, _SHE = {"he", "him", "his"}, {"she", "her", "hers"}
_NO_KIN = re.compile(r"\bno (?:kin|relation|relative)\b|\bnot (?:family|related|kin)\b|\bunrelated\b", re.IGNORECASE)
_SUBJECTLESS = re.compile(
    r"(?:Never\s+|Always\s+)?[A-Z]?[a-z]+s\s+(?:in|on|at|with|a|an|the|his|her|no|to|from|by|for|as|of|like)\b|(?:Does|Cannot|Never|Has|Is|Was)\b"
)
_BANK = re.compile(r"\b(north|south|east|west)(?:ern)?\s+(?:bank|side|shore|coast|end)\b", re.IGNORECASE)
_SIDE = re.compile(r"\b(left|right)\b", re.IGNORECASE)
_FIELD_OF = {"where": "place:street", "home": "place:street", "died": "dead", "cannot": "never"}
_MATERIAL_KEYS = {"material", "made of", "colour", "color", "metal"}
_MEASURES = {"year", "day", "week", "month", "hour", "minute", "time", "mile", "pound", "shilling", "foot"}
_NAMES_KEYS = {"name", "aliases", "alias", "type", "kind", "hardness", "waive", "title"}


@record
class ReadLine:
    """A card line and what was understood of it."""

    line: CardLine
    statements: tuple[Statement, ...]

    @property
    def understood(self) -> bool:
        """Whether it has a field that the check compares, or only names the card."""
        return any(one.field for one in self.statements)


def card_statements(
    cast: Cast, order: SceneOrder, cards: Sequence[CanonCard], year: int | None, parser: Parser | None
) -> list[ReadLine]:
    """Read all cards. Without a parser only keys and values are understood."""
    lines = [line for card in cards for line in lines_of(card, order, year)]
    texts = [_sentence(line) for line in lines]
    parsed = list(parser.parse(texts)) if parser is not None else [None] * len(lines)
    return [_read(cast, line, text) for line, text in zip(lines, parsed, strict=True)]


def _sentence(line: CardLine) -> str:
    text = re.sub(
        r"(?:\b(?:from|until|since|after|before|to|in)\s+)?\(?\bSCN-[\w-]+\)?(?:\s+(?:onwards?|on)\b)?:?|\b(?:hard|soft)\s*\|",
        "",
        line.text,
    ).strip(" |")
    if line.card.kind == "character" and not line.key and _SUBJECTLESS.match(text):
        # `Lives in Fish Street.` is said of whoever the card is about.
        return f"{plain_name(line.card.name)} {text[0].lower()}{text[1:]}"
    return text


def _read(cast: Cast, line: CardLine, text: ParsedText | None) -> ReadLine:
    person = cast.people[line.card.path]
    found: list[Statement] = []
    if line.key in _NAMES_KEYS:
        found.append(_statement(line, person, "named", (line.text,)))
    if text is not None:
        passage = _passage(cast, line, text)
        found += [_of(line, one) for one in _grammar(passage, person)]
        found += _extra(line, passage, person)
    for field, value in _keyed(line, text):
        if not any(one.field == field and one.value == value and one.subject == person.key for one in found):
            found.append(_statement(line, person, field, value))
    found += _ties_by_key(cast, line, person)
    if not found:
        found.append(_statement(line, person, "", (line.text,)))
    return ReadLine(line=line, statements=tuple(found))


class _LinePassage(Passage):
    """A card line in the place of a paragraph."""

    def __init__(self, line: CardLine, text: str) -> None:
        self.text, self.spoken, self.teller, self.day, self.dated = text, [], None, line.day, False
        self.number = line.line

    def line_at(self, _offset: int) -> int:
        """The card's line."""
        return self.number


def _passage(cast: Cast, line: CardLine, text: ParsedText) -> ParsedPassage:
    passage = ParsedPassage(_LinePassage(line, text.text), text)
    name_mentions(cast, [passage])
    person = cast.people[line.card.path]
    if person.is_person:
        named = {one.person.key for one in passage.mentions if one.is_name and one.person.is_person} - {person.key}
        for word in text.words:
            if word.lower in _HE | _SHE and word.index not in passage.by_word:
                passage.add(
                    Mention(person=person, word=word, first=word.index, title=None, sure=not named, is_name=False)
                )
    return passage


def _grammar(passage: ParsedPassage, person: Person) -> Iterator[Found]:
    words = passage.parsed.words
    default = Mention(person=person, word=words[0], first=0, title=None, sure=True, is_name=True) if words else None
    for read in _READERS:
        yield from read(passage, default)


def _extra(line: CardLine, passage: ParsedPassage, person: Person) -> Iterator[Statement]:
    """Yield bans, numbers and materials of things, and bare owned things."""
    for ban, word in read_bans(passage) if person.is_person else ():
        yield _statement(line, person, "never", ban, word.text)
    yield from _things(line, passage)
    if KEYS.get(line.key) == "owns":
        for word in passage.parsed.words:
            if word.pos in {"NOUN", "PROPN"} and word.relation not in {"poss", "pobj"}:
                yield _statement(line, person, "owns", (word.lemma.lower(),), word.text)


def _things(line: CardLine, passage: ParsedPassage) -> Iterator[Statement]:
    for noun, count, word in read_numbers(passage, card=True):
        if noun not in KIN and noun not in _MEASURES:
            yield _thing(line, f"number:{noun}", (count,), word)
    for noun, made, word in read_properties(passage):
        if noun not in FEATURES:
            yield _thing(line, f"made:{noun}", (made,), word)


def _keyed(line: CardLine, text: ParsedText | None) -> Iterator[tuple[str, Value]]:
    """Yield what a key says of its value."""
    field = KEYS.get(line.key, "")
    value = _value_of(field, line, text)
    if value is not None:
        yield (field if field not in {"where", "home", "died", "cannot"} else _FIELD_OF[field], value)
    noun = line.key.split()[-1] if line.key else ""
    if noun in MARKS and (side := _SIDE.search(line.text)):
        yield f"side:{noun}", (side[1].lower(),)
    elif line.key in _MATERIAL_KEYS and line.card.kind != "character":
        made = next((word for word in words(line.text) if word in MATERIALS or word in COLOURS), None)
        # `the fourth weight` is one of several; only a thing with a name of one word is told by its noun.
        if made is not None and len([word for word in words(line.card.name) if word not in STOP_WORDS]) == 1:
            yield f"made:{words(line.card.name)[-1]}", (made,)
    if line.card.kind != "character" and (bank := _BANK.search(line.text)) is not None:
        yield "place:bank", (bank[1].lower(),)
    if is_rank_key(line.key):
        yield from ((ladder, (title,)) for ladder, title in titles_in(line.text))
    yield from _kin_by_key(line)


def _value_of(field: str, line: CardLine, text: ParsedText | None) -> Value | None:
    """The value of a key whose field is known, in the form that is compared."""
    if field in LOOKS:
        return (colours(text.words) or None) if text is not None else None
    if field == "age":
        return ages_in(line.text)
    if field == "born":
        year = re.search(r"\b(1[0-9]\d\d|20\d\d)\b", line.text)
        return (int(year[1]),) if year else None
    if field in {"where", "home"}:
        place = _proper(line.text)
        return (place.lower(),) if place and kind_of(place) == "street" else None
    return _plain_value(field, line, text)


def _plain_value(field: str, line: CardLine, text: ParsedText | None) -> Value | None:
    if field == "handedness":
        side = _SIDE.search(line.text)
        return (side[1].lower(),) if side else None
    if field == "died":
        return ("dead",)
    if field == "cannot" and text is not None and text.words:
        verb = text.words[0]
        return (stem(verb.lemma.lower()), *(one.lemma for one in text.words[1:] if one.pos == "NOUN"))
    return (line.text,) if field in {"status", "terms", "occupation", "married"} else None


def _kin_by_key(line: CardLine) -> Iterator[tuple[str, Value]]:
    if line.key in ONE_OF and (named := _proper(line.text)):
        yield f"kinname:{line.key}", (named.lower(),)
    noun = line.key.removesuffix("s")
    if noun in KIN and line.key.endswith("s") and (counted := _count(line.text)) is not None:
        yield f"count:{noun}", (counted,)


def _count(text: str) -> int | None:
    found = re.match(rf"(?:no|none|{NUMBER})\b", text, re.IGNORECASE)
    return number_of(found[0]) if found else None


def _proper(text: str) -> str | None:
    found = re.match(r"(?:(?:on|in|at|the)\s+)*((?:[A-Z][\w’'-]+)(?:\s+[A-Z][\w’'-]+)*)", text)  # noqa: RUF001
    return found[1] if found else None


def _ties_by_key(cast: Cast, line: CardLine, person: Person) -> Iterator[Statement]:
    """`wife: Mina Murray`; `employer: Peter Hale, who is no kin of his`."""
    last = line.key.split()[-1] if line.key else ""
    other = cast.resolve(line.text) if last in KIN or _NO_KIN.search(line.text) else None
    if other is None and _NO_KIN.search(line.text):
        other = cast.resolve(line.written)
    if other is None or other is person or not other.is_person:
        named = re.search(r"\bto\s+([A-Z][\w’'-]+)", line.written)  # noqa: RUF001
        other = cast.resolve(named[1]) if named and _NO_KIN.search(line.text) else None
    if other is None or other is person or not other.is_person:
        return
    kind = STRANGERS if _NO_KIN.search(line.text) else KIN[last]
    word = ParsedWord(0, line.text, 0, "", "", "", "")
    whose, who = (_as_mention(one, word) for one in (person, other))
    yield _of(line, tie(whose, who, kind, word))


def _as_mention(person: Person, word: ParsedWord) -> Mention:
    return Mention(person=person, word=word, first=word.index, title=None, sure=True, is_name=True)


def _of(line: CardLine, found: Found) -> Statement:
    return _statement(line, found.person, found.field, found.value, found.words, hard=found.hard and found.sure)


def _thing(line: CardLine, field: str, value: Value, word: ParsedWord) -> Statement:
    return _statement(line, None, field, value, word.text)


def _statement(
    line: CardLine, person: Person | None, field: str, value: Value, words: str = "", *, hard: bool = True
) -> Statement:
    return Statement(
        subject=person.key if person else "thing",
        name=person.name if person else line.card.name,
        field=field,
        value=value,
        words=words or " ".join(dict.fromkeys(map(str, value))),
        path=line.card.path,
        line=line.line,
        quote=line.written,
        first_scene=line.first_scene,
        last_scene=line.last_scene,
        hard=line.hard and hard,
        day=line.day,
    )
