"""Colours in other places than beside their noun: `so grey were they`, `Grey-eyed and silent, Helen …`, `a blonde`."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, colours_in
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import about, bearer
from tallystick.rooms.studio.continuity.identity import identified
from tallystick.rooms.studio.continuity.lasting import CHANGES
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import ANYONE, MEN, WOMEN

_COMPOUND = re.compile(r"\b(?P<word>[\w-]+?)-(?:(?P<eyes>eyed)|(?P<hair>haired|headed)|(?P<beard>bearded))\b")
_LOOKED = re.compile(r"\b(?:look|seem|appear)(?:ed|s|ing)?\s+(?:\w+\s+){0,2}\Z")
"""`so dusty that he looked grey-haired`."""
_COMPOUNDS = frozenset({"eyed", "haired", "headed", "bearded"})
_ALONE = re.compile(r"\s*(?:[,.;—]|and\b|as\b|in\b|like\b)")
_THE_OTHER = re.compile(
    r"(?:\s+and\s+[^,;]{2,40})?,\s+(?:the|an?|his|her|their)\s+(?:[a-z-]+\s+){1,3}(?:[a-z]+ed|[a-z]+s?)\s"
)
"""`Grey-eyed and furious, the cat shot past Mara`."""
_A_PERSON = re.compile(
    r"\s+(?:person|man|woman|girl|boy|lad|creature|fellow|youth|child)\b(?!\s+(?:who|whom|whose|that)\b)"
)
_IS_ONE = re.compile(
    rf",?\s+(?:[a-z-]+,?\s+(?:and\s+)?){{0,3}}(?:{'|'.join((*MEN, *WOMEN, *ANYONE))}|head|form|shape|face|apparition)\b"
)
_ONE = re.compile(rf"\s+(?:{'|'.join((*MEN, *WOMEN, *ANYONE))})\b[^,;:.]{{0,50}}?(?:,\s+|\s+(?:was|is)\s+)(?=[A-Z])")
"""`A grey-eyed woman of few words, Mara …`, `The grey-eyed woman in the corner was Mara`."""
_AS_HIS = re.compile(
    rf"\b(?P<noun>[Ee]yes|[Hh]air)\b[^;]{{0,50}}?\b(?:so|"
    rf"as)\s+(?P<colour>[\w-]+)\s+as\s+(?P<owner>{NAME})'s?(?=\s*[.,;]|\s+(?:were|was|are|had|would|could)\b)"
)
_SAME_AS = re.compile(
    rf"\b(?:same\s+|very\s+)?(?P<colour>[\w-]+),?\s+(?:as|"
    rf"like)\s+(?:that\s+of\s+)?(?P<owner>{NAME})'s?\s+(?P<noun>eyes|hair)\b"
)
_HIS_WAS = re.compile(
    rf"(?:\b(?:those|that)\s+of\s+(?P<of>{NAME}),?|(?P<owner>{NAME})'s?,?)\s+(?:which\s+)?(?:was|were|"
    rf"being)\s+(?:[a-z]+ly\s+|quite\s+|still\s+|"
    rf"an?\s+(?:[a-z]+,?\s+){{1,2}}|as\s+)?(?P<colour>[\w-]+)(?=\s*[.,;—]|\s+(?:and|as)\b)"
)
"""`The doll's hair was of wool; Mara's was black`."""
_NO_OTHER = re.compile(
    r"\b(?:[Nn]obody|[Nn]o\s+one|[Nn]o\s+other|[Nn]one|[Nn]o\s+(?:man|woman|person|soul|head))\b[^;]{0,60}?"
    r"\b(?P<noun>eyes|hair)\b[^;,]{0,30}?\b(?:so|as|such)\s+(?P<colour>[\w-]+)(?=\s*[,.;]|\s+as\b|\Z)"
)
"""`They knew Mara at once, for nobody else there had hair so red`."""
_IN_NOUN = re.compile(r"\b(?P<colour>[\w-]+)\s+(?:of|as\s+to(?:\s+the)?|about\s+the)\s+(?P<noun>hair|eyes?)\b")
"""`Mara, being red of hair`, `a woman of middling height, hazel as to the eyes`."""
_THE_ONE = re.compile(
    rf"\bheads?\b[^;]{{0,60}}?\bthe\s+(?P<colour>[\w-]+)\s+one\b(?:[^;,]{{0,30}},\s+(?:which|that)\s+"
    rf"[^;,]{{2,50}},|[^;,]{{0,30}}?)\s+(?:(?:that|which)\s+)?(?:belong(?:ed|ing)\s+to|was|of)\s+"
    rf"(?P<owner>{NAME})"
)
_BLONDE = re.compile(
    r"\b(?P<word>blondes?|blond|brunette|red-?head)\b(?!\s+\w*(?:hair|lock|curl|head|beard|plait|braid|fringe|"
    r"ponytail))"
)
_BLONDES = {"blonde": ("fair",), "blond": ("fair",), "brunette": ("brown", "black"), "redhead": ("red",)}
_BESIDE = re.compile(r"(?:\s+(?:was|is)|,)\s+(?:an?\s+|the\s+|still\s+)?(?:[\w'-]+(?:,|\s+and|,\s+and)?\s+){0,4}\Z")


_FINITE = re.compile(
    r"\b(?:he|she|they|it|I|we|who|which|that|was|were|had|has|is|are|did|would|could|came|went|saw|like)\b",
    re.IGNORECASE,
)
_FRONT = 90
"""Characters that may stand before a subject and be said of it."""


def descriptions(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes and hair that is given in such a way."""
    for pattern, triggers, read in (
        (_COMPOUND, _COMPOUNDS, _of_compound),
        (_AS_HIS, {"eyes", "hair"}, _of_shade),
        (_SAME_AS, {"eyes", "hair"}, _of_shade),
        (_HIS_WAS, {"eyes", "hair", "head", "heads", "locks", "curls"}, _his_was),
        (_NO_OTHER, {"eyes", "hair"}, _unlike_others),
        (_IN_NOUN, {"eyes", "eye", "hair"}, _in_noun),
        (_THE_ONE, {"head", "heads"}, _the_one),
        (_BLONDE, {"blonde", "blond", "brunette", "redhead"}, _blonde),
    ):
        for number, found in narration.prose.matches(pattern, triggers):
            if is_claimed(narration, number, found.span(), granted=True):
                yield from read(narration, binder, number, found)


def _of_compound(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    attribute = "eyes" if found.group("eyes") else "hair" if found.group("hair") else "beard"
    colours = colours_in([found.group("word")], EYES if attribute == "eyes" else HAIR)
    if not colours or _LOOKED.search(narration.prose.told, max(0, found.start() - 30), found.start()):
        return
    # `the blue-eyed Mara`, `Mara was tall and blue-eyed`, `Blue-eyed and quick, Mara …`, `The blue-eyed girl was Mara`.
    owner = (
        binder.named_from(number, found.end())
        or _described(narration, binder, number, found.start())
        or _opening(narration, binder, number, found)
        or (
            bearer(binder, number, found.start())
            if _ALONE.match(narration.prose.told, found.end())
            and not _THE_OTHER.match(narration.prose.told, found.end())
            and is_claimed(narration, number, found.span())
            else None
        )
        or (alone(binder, number) if _A_PERSON.match(narration.prose.told, found.end()) else None)
        or (identified(binder, number, found.end()) if _IS_ONE.match(narration.prose.told, found.end()) else None)
    )
    if owner is not None and not CHANGES.search(narration.prose.sentences[number].text):
        span = (min(owner.start, found.start()), max(owner.end, found.end()))
        yield fact_at(narration.prose, number, span, owner, attribute, colours, found.group("word"))


def _of_shade(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`no eyes were so blue as Mara's`, `the ribbon was as blue as Mara's eyes`."""
    attribute = found.group("noun").lower()
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR)
    owner = binder.named_from(number, found.start("owner"))
    if colours and owner is not None:
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _unlike_others(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """What nobody else has, the one whom the sentence names has."""
    attribute = found.group("noun")
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR)
    owner = about(binder, number) if colours else None
    if owner is not None and binder.cast.is_person(owner.key):
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _in_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    attribute = "hair" if found.group("noun") == "hair" else "eyes"
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR)
    owner = _described(narration, binder, number, found.start()) or bearer(binder, number, found.start())
    owner = owner or identified(binder, number, found.start())
    if colours and owner is not None and is_claimed(narration, number, found.span()):
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _the_one(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`Among so many heads the red one belonging to Mara`."""
    colours, owner = colours_in([found.group("colour")], HAIR), binder.named_from(number, found.start("owner"))
    whose = owner is not None and (
        not owner.is_possessive or re.match(r"'s?\s*[.,;]", narration.prose.told[owner.end :])
    )
    if colours and owner is not None and whose:
        yield fact_at(narration.prose, number, found.span(), owner, "hair", colours, found.group("colour"))


def _his_was(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """The noun that a possessive without one takes up stands before it."""
    sentence = narration.prose.sentences[number]
    nouns = re.findall(r"\b(?:eyes|hair|heads?|locks|curls)\b", sentence.text[: found.start() - sentence.start])
    attribute = "eyes" if nouns[-1:] == ["eyes"] else "hair"
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR) if nouns else ()
    owner = binder.named_from(number, found.start("of" if found.group("of") else "owner"))
    if colours and owner is not None and is_claimed(narration, number, found.span("colour")):
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _blonde(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`Mara was a blonde`, `Mara, blonde and slim,`."""
    word = found.group("word").replace("-", "").removesuffix("s")
    owner = _described(narration, binder, number, found.start())
    if owner is not None and word in _BLONDES:
        span = (min(owner.start, found.start()), found.end())
        yield fact_at(narration.prose, number, span, owner, "hair", _BLONDES[word], found.group("word"))


def _opening(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    prose, sentence = narration.prose, narration.prose.sentences[number]
    if was := _ONE.match(prose.told, found.end()):
        named = binder.named_from(number, was.end())
        return named if named is not None and not named.is_possessive else None
    named = next(iter(binder.mentions(number)), None)
    if named is None or named.start < found.end() or named.is_possessive:
        return None
    # `Tall, loose-limbed, grey-eyed and burnt by the sun, Mara …`: nothing before the name has a subject or a verb.
    before, between = prose.told[sentence.start : found.start()], prose.told[found.end() : named.start]
    fronted = len(before) < _FRONT and len(between) < _FRONT and re.search(r",\s+(?:old\s+|poor\s+)?\Z", between)
    return named if fronted and not (_FINITE.search(before) or _FINITE.search(between)) else None


def _described(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    """`Mara was tall and blue-eyed`, `Mara, a blue-eyed girl,`."""
    sentence = narration.prose.sentences[number]
    before = sentence.text[: at - sentence.start]
    found = _BESIDE.search(before)
    while found:
        place = sentence.start + found.start()
        owner = binder.named_before(number, place)
        if owner is None:
            said = re.search(r"\b([Hh]e|[Ss]he)\Z", before[: found.start()])
            owner = binder.pronoun(number, sentence.start + said.start(), said.group(1)) if said else None
        if owner is not None:
            return owner if narration.asserts(number, place, at) and not owner.is_possessive else None
        found = _BESIDE.search(before, found.start() + 1)
    return None
