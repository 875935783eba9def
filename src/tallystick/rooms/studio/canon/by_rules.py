"""An extraction by rules: what a card says in the forms that authors write cards in."""

import re
from collections.abc import Iterator, Sequence

from tallystick.rooms.studio.book.blocks import Block, blocks_of, cells_of, is_ruler, unmarked
from tallystick.rooms.studio.book.front_matter import text_of, texts_of
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.canon.nouns import MAX_ENTRIES, MAX_SUMMARY, MAX_TEXT, Extract, Hardness
from tallystick.rooms.studio.quoting import shortened

_SCOPE = ("scope", "applies to", "applies_to", "appears in", "appears_in", "scenes", "books")
_FROM = ("valid from", "valid_from", "from")
_TOPICS = ("topics", "tags", "themes", "keywords")
_CONSTRAINTS = ("constraints", "constraint", "rules", "limits")
_SUMMARY = ("summary", "description", "synopsis", "logline", "blurb")
_NO_ATTRIBUTES = frozenset({
    "name", "title", "type", "kind", "category", "aliases", "alias", "aka", "hardness", "canon", "status", "date",
    "created", "updated", "id", "slug", "waive", "progressions", "image", "cssclass", *_SCOPE, *_FROM, *_TOPICS,
    *_CONSTRAINTS, *_SUMMARY,
})  # fmt: skip
_SOFT = frozenset({"soft", "draft", "tentative", "rumour", "rumor", "provisional", "undecided", "maybe"})
_KEY = re.compile(r"[*_]{0,2}([^\W\d_][^:*_|.!?\n]{0,39}?)[*_]{0,2}:[*_]{0,2}[ \t]+(\S.*)\Z")
_BINDING = re.compile(
    r"\b(?:must|never|cannot|can't|can’t|always|may not|no one|nobody|under no circumstances)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_HEADED = re.compile(r"(?:constraints?|rules|limits|canon rules|hard rules)\Z", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def extract_by_rules(card: CanonCard) -> Extract:
    """What a card settles, as far as rules can tell."""
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
    """The names of what the card gives a value for."""
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
            yield from (one for one in _SENTENCE.split(unmarked(block.text)) if _BINDING.search(one))


def _summary(card: CanonCard, blocks: Sequence[Block]) -> str:
    for field in _SUMMARY:
        if given := text_of(card.front.get(field)):
            return shortened(given, MAX_SUMMARY)
    for block in blocks:
        plain = unmarked(block.text)
        if block.kind == "text" and not _KEY.match(block.text) and len(plain.split()) > 2:  # noqa: PLR2004
            return shortened(_SENTENCE.split(plain)[0], MAX_SUMMARY)
    told = [unmarked(block.text) for block in blocks if block.kind in {"item", "text"}]
    return shortened("; ".join([f"{card.name}, {card.kind}", *told[:4]]), MAX_SUMMARY)
