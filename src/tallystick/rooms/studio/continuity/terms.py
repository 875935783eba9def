"""A term of the book's own that is written two ways: `Skyship` and `Sky-ship`, `the Long Night` and `the long night`.

Names and terms with capitals, terms that cards define, and compounds that have their hyphen everywhere but once.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.continuity.people import Cast
from tallystick.rooms.studio.continuity.prose import Prose
from tallystick.rooms.studio.continuity.vocabulary import NOT_NAMES, TITLES

FEWEST = 4
FEWEST_SMALL = 8
"""The same for words without a capital, of which a book has many."""
MOST_VARIANTS = 2
_HYPHENED = re.compile(r"(?<![\w'-])[a-z]{3,}-[a-z]{3,}(?![\w'-])")
_SMALL = re.compile(r"(?<![\w'-])[a-z]{6,}(?![\w'-])")
_FORM = re.compile(r"(?<![\w'-])[A-ZÀ-Þ][a-zà-þ]+(?:-[A-ZÀ-Þa-zà-þ][a-zà-þ]+| [A-ZÀ-Þ][a-zà-þ]+)?(?![\w-])")
_SHORTEST = 7
Place = tuple[Prose, int]


@record
class Variant:
    """A term written two ways."""

    usual: str
    other: str
    count: int
    first: Place
    second: Place


def variants(proses: Sequence[Prose], cast: Cast) -> Iterator[Variant]:
    """Every rare way of writing a term."""
    yield from _compounds(proses)
    yield from _closed(proses)
    for card in cast.cards.values():
        if card.kind in {"glossary", "technology", "faction", "lore", "culture"}:
            for term in (card.name, *card.aliases):
                yield from _uncapitalised(proses, term)


def _compounds(proses: Sequence[Prose]) -> Iterator[Variant]:
    forms: dict[str, dict[str, list[Place]]] = defaultdict(lambda: defaultdict(list))
    for prose in proses:
        heads = {sentence.start for sentence in prose.sentences}
        for found in _FORM.finditer(prose.flat):
            form, start = _without_opening(found.group(), found.start())
            if _is_term(form) and start not in heads:
                forms[re.sub(r"[- ]", "", form).lower()][form].append((prose, start))
    for written in forms.values():
        yield from _rare(written)


def _without_opening(form: str, start: int) -> tuple[str, int]:
    """`Each Skyship` is `Skyship`."""
    first, space, second = form.partition(" ")
    return (second, start + len(first) + 1) if space and first.lower() in NOT_NAMES else (form, start)


def _closed(proses: Sequence[Prose]) -> Iterator[Variant]:
    """A compound that has its hyphen everywhere but once, or nowhere but once: `weigh-house`, `weighhouse`."""
    hyphened: dict[str, list[Place]] = defaultdict(list)
    for prose in proses:
        for found in _HYPHENED.finditer(prose.flat):
            hyphened[found.group()].append((prose, found.start()))
    closed: dict[str, list[Place]] = defaultdict(list)
    wanted = {form.replace("-", ""): form for form in hyphened}
    for prose in proses if wanted else ():
        for found in _SMALL.finditer(prose.flat):
            if found.group() in wanted:
                closed[found.group()].append((prose, found.start()))
    for whole, places in closed.items():
        yield from _rare({whole: places, wanted[whole]: hyphened[wanted[whole]]}, fewest=FEWEST_SMALL)


def _is_term(form: str) -> bool:
    """One capitalised word, a compound, or two capitalised words; `Then he` is none."""
    first, _, second = form.partition("-" if "-" in form else " ")
    if first.lower() in NOT_NAMES | TITLES or len(form) < _SHORTEST:
        return False
    return second.lower() not in NOT_NAMES


def _rare(written: dict[str, list[Place]], *, fewest: int = FEWEST) -> Iterator[Variant]:
    usual = max(written, key=lambda form: len(written[form]))
    count = len(written[usual])
    for form, places in written.items():
        # `the Sperm Whale` and `Sperm-Whale fishery`: a hyphen before a noun is grammar.
        is_grammar = {" " in form, " " in usual} == {True, False} and {"-" in form, "-" in usual} == {True, False}
        if form != usual and not is_grammar and len(places) <= MOST_VARIANTS and count >= max(fewest, 4 * len(places)):
            yield Variant(usual=usual, other=form, count=count, first=written[usual][0], second=places[0])


def _uncapitalised(proses: Sequence[Prose], term: str) -> Iterator[Variant]:
    """A term of a card that the book elsewhere writes small."""
    if not re.search(r"\s", term) or not term[0].isupper() or term.lower() == term:
        return
    inside = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", term))
    pattern = re.compile(rf"(?<!\w){inside}(?!\w)", re.IGNORECASE)
    written: dict[str, list[Place]] = defaultdict(list)
    for prose in proses:
        for found in pattern.finditer(prose.flat):
            written[" ".join(found.group().split())].append((prose, found.start()))
    count = len(written.get(term, ()))
    for form, places in written.items():
        if form != term and len(places) <= MOST_VARIANTS and count >= len(places):
            yield Variant(usual=term, other=form, count=count, first=written[term][0], second=places[0])
