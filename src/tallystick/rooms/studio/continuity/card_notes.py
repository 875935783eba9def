"""What a card says in notes, such as `Brown-eyed.` or `Lives in Fish Street.` or `Dead since the spring.`.

A card is about somebody whom its notes need not name. Each is made a sentence about him, and then read like any other.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.rooms.studio.book.blocks import blocks_of, unmarked
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.continuity.vocabulary import ANYONE, KIN, MEN, WOMEN

_LISTED = frozenset(
    {"appearance", "looks", "description", "features", "physical", "physical description", "person", "notes", "facts"}
)
"""Fields that hold a description."""
_FIELD = re.compile(r"([^\W\d_][\w '/()-]{1,40}?)\s*(?::|=|\s[-\u2013\u2014])\s+(\S.*)\Z")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z])")
_STORY = re.compile(
    r",?\s*\b(?:(?:long|just|some\s+\w+|\w+\s+(?:years?|months?|weeks?|days?))\s+)?(?:before|when|as|at|by|from|"
    r"since)\s+(?:the\s+)?(?:start|"
    r"opening|beginning|end)?\s*(?:of\s+)?the\s+(?:story|book|novel|tale)(?:\s+(?:opens|begins|starts|starting))?\b|"
    r",?\s*\bin\s+chapter\s+\w+\b",
    re.IGNORECASE,
)
"""Where in the book it is so; the note itself is no story."""
_PAST = {
    "is": "was", "are": "were", "has": "had", "lives": "lived", "lodges": "lodged", "comes": "came", "dwells": "dwelt",
    "resides": "resided", "wears": "wore", "dies": "died", "hails": "hailed", "keeps": "kept", "lies": "lay",
    "rents": "rented", "stays": "stayed", "drowns": "drowned",
}  # fmt: skip
_PRESENT = re.compile(rf"\b(?:{'|'.join(_PAST)})\b")
_VERB = re.compile(
    rf"(?:{'|'.join((*_PAST, *_PAST.values()))}|hanged|perished|grew|turned|passed|breathed|did|left|married|"
    rf"went)\b",
    re.IGNORECASE,
)
_DOES = re.compile(r"[A-Z][a-z]+(?:ed|[^s]s)\s+(?:an?|the|his|her|himself|herself|[a-z]+\s+(?:eyes|hair))\b")
"""`Killed a man`, `Likes brown eyes`: what he does, not what he is."""
_PART = re.compile(
    r"(?!.*\b(?:of|men|women|people|man|woman|girl|boy|lady|gentleman|child|person|widow|fellow)\b)(?:an?\s+|the\s+|"
    r"with\s+)?(?:[\w'-]+,?\s+(?:and\s+)?){0,5}(?:eyes|hair|beard|moustache|whiskers|curls|"
    r"locks)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(rf"\b(?:{'|'.join((*MEN, *WOMEN, *ANYONE, *KIN))})\b")
_DECADE = re.compile(r"\A(?=(?:early|mid|late)\b.*ies\b)", re.IGNORECASE)


def notes_of(card: CanonCard) -> Iterator[tuple[str, int]]:
    """Each note of a card's body as a sentence about its subject, with its line."""
    if card.kind != "character":
        return
    for text, line in _texts(card):
        for note in _SENTENCE.split(text):
            yield as_told(card.name, note), line
            if _speaks_of_another(card, note):
                # From here on `he` may be somebody else.
                break
    yield from _front_notes(card)


def _speaks_of_another(card: CanonCard, note: str) -> bool:
    own = set(re.findall(r"\w+", " ".join((card.name, *card.aliases))))
    named = (found.group() for found in re.finditer(r"(?<=[a-z,;] )[A-Z][a-z]+", note))
    return _PEOPLE.search(note) is not None or any(name not in own for name in named)


def as_told(name: str, note: str) -> str:
    """A note as a sentence that names its subject."""
    plain = _STORY.sub("", note).strip(" .;-\u2013\u2014")
    if plain.startswith(name):
        return f"{_past(plain)}."
    if said := re.match(r"(?:He|She)\s+", plain):
        return f"{name} {_past(plain[said.end() :])}."
    if owned := re.match(r"(?:His|Her)\s+", plain):
        return f"{name}'s {_past(plain[owned.end() :])}."
    lowered = plain[:1].lower() + plain[1:]
    if _VERB.match(plain) or _DOES.match(plain):
        return f"{name} {_past(lowered)}."
    if _PART.match(plain):
        return f"{name} had {re.sub(r'^with ', '', lowered)}."
    return f"{name} was {_DECADE.sub('in his ', lowered, count=1)}."


def _past(text: str) -> str:
    """Cards are written in the present, novels are told in the past."""
    return _PRESENT.sub(lambda found: _PAST[found.group()], text)


def _texts(card: CanonCard) -> Iterator[tuple[str, int]]:
    """The lines of a body that are no headings; those that run on are one."""
    held: list[str] = []
    first = last = 0
    for block in blocks_of(card.source.lines, card.body_line):
        if held and (block.kind != "text" or block.line != last + 1):
            yield " ".join(held), first
            held = []
        if block.kind == "item" or (block.kind == "text" and _FIELD.match(unmarked(block.text))):
            yield from _listed(unmarked(block.text), block.line)
        elif block.kind == "text":
            if not held:
                first = block.line
            held.append(unmarked(block.text))
            last = block.line
    if held:
        yield " ".join(held), first


def _listed(text: str, line: int) -> Iterator[tuple[str, int]]:
    found = _FIELD.match(text)
    if found is None:
        yield text, line
    elif found.group(1).strip().casefold() in _LISTED:
        for piece in re.split(r"[,;]\s+", found.group(2)):
            yield piece, line


def _front_notes(card: CanonCard) -> Iterator[tuple[str, int]]:
    for key, value in card.front.items():
        if str(key).replace("_", " ").casefold() in _LISTED:
            for text in _strings(value):
                for piece in re.split(r"[,;]\s+|(?<=[.!?])\s+", text):
                    yield as_told(card.name, piece), _line_of(card, piece)


def _strings(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    if isinstance(value, Mapping):
        return []
    return [value] if isinstance(value, str) else []


def _line_of(card: CanonCard, text: str) -> int:
    lines = enumerate(card.source.lines[: max(card.body_line - 1, 1)], 1)
    return next((number for number, line in lines if text.strip(" .") in line), 1)
