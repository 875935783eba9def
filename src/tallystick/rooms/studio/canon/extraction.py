"""Extracts of cards, made by rules or by a model.

A model may summarise freely. What it says the card defines or demands must be in the card, word for word: an invented
rule in the canon would be worse than none.
"""

import re
from collections.abc import Iterator, Sequence

import orjson

from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.quotes import find_quote
from tallystick.rooms.studio.book.blocks import Block, blocks_of, cells_of, is_ruler, unmarked
from tallystick.rooms.studio.book.front_matter import text_of, texts_of
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.canon.model import (
    MAX_ENTRIES,
    MAX_SUMMARY,
    MAX_TEXT,
    SCHEMA,
    Extract,
    Hardness,
    extract_of,
)
from tallystick.rooms.studio.model_answers import object_in
from tallystick.rooms.studio.quotes import shortened
from tallystick.text.sentences import sentences

_SCOPE = ("scope", "applies to", "applies_to", "appears in", "appears_in", "scenes", "books")
_FROM = ("valid from", "valid_from", "from")
_TOPICS = ("topics", "tags", "themes", "keywords")
_CONSTRAINTS = ("constraints", "constraint", "rules", "limits")
_SUMMARY = ("summary", "description", "synopsis", "logline", "blurb")
_NO_ATTRIBUTES = frozenset(
    {
        "name",
        "title",
        "type",
        "kind",
        "category",
        "aliases",
        "alias",
        "aka",
        "hardness",
        "canon",
        "status",
        "date",
        "created",
        "updated",
        "id",
        "slug",
        "waive",
        "progressions",
        "image",
        "cssclass",
        *_SCOPE,
        *_FROM,
        *_TOPICS,
        *_CONSTRAINTS,
        *_SUMMARY,
    }
)
_SOFT = frozenset({"soft", "draft", "tentative", "rumour", "rumor", "provisional", "undecided", "maybe"})
_KEY = re.compile(r"[*_]{0,2}([^\W\d_][^:*_|.!?\n]{0,39}?)[*_]{0,2}:[*_]{0,2}[ \t]+(\S.*)\Z")
_BINDING = re.compile(
    r"\b(?:must|never|cannot|can't|can’t|always|may not|no one|nobody|under no circumstances)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_HEADED = re.compile(r"(?:constraints?|rules|limits|canon rules|hard rules)\Z", re.IGNORECASE)


def extract_by_rules(card: CanonCard) -> Extract:
    """The extract of a card, made by rules."""
    blocks = list(blocks_of(card.source.lines, card.body_line))
    return Extract(
        type=card.kind,
        scope=_bounded(_scope(card)) or ("book",),
        hardness=_hardness(card),
        topics=_bounded(_topics(card, blocks)),
        defines=_bounded([card.name, *card.aliases, *_attributes(card, blocks)]),
        constraints=_bounded(_constraints(card, blocks)),
        summary=_summary(card, blocks),
    )


def _bounded(texts: Sequence[str] | Iterator[str]) -> tuple[str, ...]:
    plain = (shortened(text, MAX_TEXT) for text in texts)
    return tuple(dict.fromkeys(text for text in plain if text))[:MAX_ENTRIES]


def _scope(card: CanonCard) -> Iterator[str]:
    for field in _SCOPE:
        yield from texts_of(card.front.get(field))
    for field in _FROM:
        if named := text_of(card.front.get(field)):
            yield f"from {named}"


def _hardness(card: CanonCard) -> Hardness:
    for field in ("hardness", "canon", "status"):
        if (text_of(card.front.get(field)) or "").casefold() in _SOFT:
            return "soft"
    return "hard"


def _topics(card: CanonCard, blocks: Sequence[Block]) -> Iterator[str]:
    for field in _TOPICS:
        yield from (text.lstrip("#").casefold() for text in texts_of(card.front.get(field)))
    for block in blocks:
        if block.kind == "heading" and block.depth > 1:
            yield unmarked(block.text).casefold()


def _attributes(card: CanonCard, blocks: Sequence[Block]) -> Iterator[str]:
    """The names of the card's attributes."""
    yield from (name for name in card.front if name not in _NO_ATTRIBUTES)
    for block in blocks:
        if block.kind == "row":
            cells = cells_of(block.text)
            if len(cells) == 2 and not is_ruler(cells):  # noqa: PLR2004 - name and value
                yield unmarked(cells[0]).casefold()
        elif block.kind != "heading" and (found := _KEY.match(block.text)):
            key = found.group(1).strip().casefold()
            if key not in _NO_ATTRIBUTES:
                yield key


def _constraints(card: CanonCard, blocks: Sequence[Block]) -> Iterator[str]:
    for field in _CONSTRAINTS:
        given = card.front.get(field)
        # A sentence has commas; only a list is several.
        yield from texts_of(given) if isinstance(given, list) else filter(None, [text_of(given)])
    headed = False
    for block in blocks:
        if block.kind == "heading":
            headed = _HEADED.match(unmarked(block.text)) is not None
        elif headed and block.kind == "item":
            yield unmarked(block.text)
        elif block.kind in {"item", "text"}:
            yield from (one for one in sentences(unmarked(block.text)) if _BINDING.search(one))


def _summary(card: CanonCard, blocks: Sequence[Block]) -> str:
    for field in _SUMMARY:
        if given := text_of(card.front.get(field)):
            return shortened(given, MAX_SUMMARY)
    for block in blocks:
        plain = unmarked(block.text)
        if block.kind == "text" and not _KEY.match(block.text) and len(plain.split()) > 2:  # noqa: PLR2004
            return shortened(sentences(plain)[0], MAX_SUMMARY)
    told = [unmarked(block.text) for block in blocks if block.kind in {"item", "text"}]
    return shortened("; ".join([f"{card.name}, {card.kind}", *told[:4]]), MAX_SUMMARY)


MAX_CARD = 24_000
"""Characters of a card that a model is shown."""
MAX_ANSWER = 64_000
_COMPILED = compile_schema(dict(SCHEMA), closed=True)


def prompt_for(card: CanonCard) -> str:
    """The prompt for one card."""
    text = card.source.text[:MAX_CARD]
    return (
        "Read this card of a novel's compendium and answer with one JSON object and nothing else:\n"
        '{"type": the kind of card, "scope": [where it holds: "book", scenes, acts], "hardness": "hard" if it is '
        'settled or "soft" if it may still change, "topics": [what it is about], "defines": [names and attributes it '
        'settles, as the card writes them], "constraints": [sentences of the card that say what must or must never '
        'be, word for word], "summary": one sentence}\n'
        "Invent nothing. Lists may be empty. Every entry is one line.\n\n"
        f"The card, {card.path}, a card of type {card.kind}:\n\n{text}\n"
    )


def read_answer(text: str, card: CanonCard) -> Extract | str:
    """The extract, or an error code."""
    found = object_in(text, MAX_ANSWER)
    if found is None:
        return "extraction_not_json"
    if not _COMPILED.accepts(found):
        return "extraction_does_not_fit"
    names = (card.name, *card.aliases)
    kept = dict(found) | {
        "constraints": _standing(found["constraints"], card),
        "defines": list(dict.fromkeys([*names, *_standing(found["defines"], card)])),
        "scope": found["scope"] or ["book"],
    }
    return extract_of(kept, card.kind)


def readable(kept: object, card: CanonCard) -> Extract | None:
    """A stored extract, if it is still valid."""
    if not isinstance(kept, dict) or not _COMPILED.accepts(orjson.loads(orjson.dumps(kept))):
        return None
    return extract_of(kept, card.kind)


def _standing(texts: Sequence[str], card: CanonCard) -> list[str]:
    folded = card.source.folded
    return [text for text in texts if find_quote(text, folded) is not None]
