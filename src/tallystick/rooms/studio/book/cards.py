"""Compendium cards: kind, name and aliases, and what happens when two cards claim one name.

A shared alias would attribute one person's facts to another. It is removed from every card that only lists it as an
alias; the card whose name it is keeps it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.blocks import Block, blocks_of, unmarked
from tallystick.rooms.studio.book.front_matter import Fields, read_front_matter, text_of, texts_of
from tallystick.rooms.studio.book.model import CanonCard, CardKind, Complaint
from tallystick.rooms.studio.book.paths import (
    KINDS,
    kind_of_folder,
    kind_of_prefix,
    spoken,
    stem_of,
)

MAX_ALIASES = 100
MAX_NAME = 120
_LINES = 400
"""Lines of a card that are searched for aliases."""
_ALIAS_FIELDS = (
    "aliases",
    "alias",
    "aka",
    "a.k.a.",
    "also known as",
    "also_known_as",
    "other names",
    "other_names",
    "nickname",
    "nicknames",
    "called",
)
_ALIASES = re.compile(
    r"[*_ \t]{0,6}(?:alias(?:es)?|a\.?k\.?a\.?|also known as|also called|other names?|nicknames?)[*_ \t]{0,4}"
    r"(?::|[–—-](?=[ \t]))[*_ \t]{0,6}(.*)\Z",  # noqa: RUF001
    re.IGNORECASE,
)
_HEADED = re.compile(r"(?:alias(?:es)?|also known as|other names?|nicknames?):?\Z", re.IGNORECASE)
_PARENTHESIS = re.compile(r"(?<![ \t])[ \t]*\([^()]{0,200}\)")
_NAMELESS = frozenset({"", "untitled", "unnamed", "new", "card", "new card", "name", "tbd", "todo", "none", "n/a", "?"})


def parse_card(source: Source) -> CanonCard | Complaint:
    """Read a card. A card without a name is a complaint."""
    front = read_front_matter(source)
    blocks = [block for block in blocks_of(source.lines, front.body_line) if block.line <= _LINES]
    name = _name(source.path, front.fields, blocks)
    if name is None:
        message = "The card has no name. Give it one: `name:` in its front matter, or a heading `# Name`."
        return Complaint(code="card_without_name", path=source.path, line=1, message=message, left_out="card")
    aliases = dict.fromkeys(alias for alias in _aliases(front.fields, blocks) if alias.casefold() != name.casefold())
    return CanonCard(
        source=source,
        kind=_kind(source.path, front.fields),
        name=name,
        aliases=tuple(aliases)[:MAX_ALIASES],
        front=front.fields,
        body_line=front.body_line,
    )


def line_of(card: CanonCard, wanted: str) -> int:
    """The line on which a name first occurs; 1 if it spans several lines."""
    sought = wanted.casefold()
    return next((number for number, line in enumerate(card.source.lines, 1) if sought in line.casefold()), 1)


def kind_of(path: str, fields: Fields) -> CardKind | None:
    """The kind of a card by its front matter, folder or name; None if it may not be a card."""
    for field in ("type", "kind", "category"):
        named = text_of(fields.get(field))
        if named and named.casefold() in KINDS:
            return KINDS[named.casefold()]
    return kind_of_folder(path) or kind_of_prefix(path)


def _kind(path: str, fields: Fields) -> CardKind:
    return kind_of(path, fields) or "misc"


def _name(path: str, fields: Fields, blocks: Sequence[Block]) -> str | None:
    for field in ("name", "title"):
        if found := _usable(text_of(fields.get(field))):
            return found
    heading = next((block for block in blocks if block.kind == "heading"), None)
    if heading and heading.depth == 1 and (found := _usable(_label_free(unmarked(heading.text)))):
        return found
    if "name" in fields:
        # The author left it open; a file's name is no answer to that.
        return None
    stem = stem_of(path)
    prefix, dash, rest = stem.partition("-")
    slug = rest if dash and prefix.isupper() and prefix.casefold() in KINDS else stem
    return _usable(spoken(slug)) if re.search(r"[^\W\d_]", slug) and slug.casefold() not in KINDS else None


def _label_free(heading: str) -> str:
    """`Character: Mara Voss` names Mara Voss."""
    label, colon, rest = heading.partition(":")
    return rest.strip() if colon and label.strip().casefold() in KINDS else heading


def _usable(name: str | None) -> str | None:
    if name is None or name.strip().casefold() in _NAMELESS or len(name) > MAX_NAME:
        return None
    return name.strip()


def _aliases(fields: Fields, blocks: Sequence[Block]) -> Iterator[str]:
    for field in _ALIAS_FIELDS:
        for text in texts_of(fields.get(field)):
            yield from _names_in(text)
    listing = False
    for block in blocks:
        found = _ALIASES.match(block.text) if block.kind != "row" else None
        if found:
            yield from _names_in(found.group(1))
            # A bare `Aliases:` is followed by a list of them.
            listing = not found.group(1).strip()
        elif block.kind == "heading":
            listing = _HEADED.match(unmarked(block.text)) is not None
        elif listing and block.kind == "item":
            yield from _names_in(block.text)
        elif block.kind == "row":
            yield from _in_row(block.text)
        else:
            listing = False


def _in_row(row: str) -> Iterator[str]:
    name, bar, value = row.strip().strip("|").partition("|")
    if bar and _HEADED.match(unmarked(name)):
        yield from _names_in(value.partition("|")[0])


def _names_in(text: str) -> Iterator[str]:
    for part in re.split(r"[,;/]|[ \t](?:and|or)[ \t]", _PARENTHESIS.sub("", unmarked(text))):
        name = part.strip(" \t.\"'“”‘’«»")  # noqa: RUF001
        if name and len(name) <= MAX_NAME and name.casefold() not in _NAMELESS:
            yield name


def settle_names(cards: Sequence[CanonCard]) -> tuple[list[CanonCard], list[Complaint]]:
    """The cards without shared aliases, and a complaint for each conflict."""
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
        message=f"{other.path} is called {spelt} too. Rename one card; until then the name refers to neither.",
    )
