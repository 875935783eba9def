"""The colour of eyes, hair and beards: the words that give the colour, and whose they are."""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, LIKENED, colours_in
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence

_NOUN = re.compile(
    r"\b(?P<eyes>eyes|irises)\b|\b(?P<hair>hair|locks|curls|tresses|ringlets|braids?|plaits?)\b|"
    r"\b(?P<beard>beard|moustache|mustache|whiskers)\b"
)
_COMPOUND = re.compile(r"\b(?P<word>[\w-]+?)-(?:(?P<eyes>eyed)|(?P<hair>haired|headed)|(?P<beard>bearded))\b")
_NOUNS = frozenset(
    "eyes irises hair locks curls tresses ringlets braid braids plait plaits beard moustache mustache whiskers".split()
)
_COMPOUNDS = frozenset({"eyed", "haired", "headed", "bearded"})
_TOKEN = re.compile(r"[\w'-]+")
_IS = re.compile(
    r"(?:,[^,;:.]{1,60},)?\s+(?:were|was|are|is|remained|stayed)\s+(?P<words>(?:[\w'-]+,?\s+){0,5}?)(?P<colour>[\w'-]+)"
)
_BESIDE = re.compile(r",\s+(?P<words>(?:[\w'-]+,?\s+){0,3}?)(?P<colour>[\w'-]+)(?=\s+(?:as|and|like)\b|[,.;—!])")
_OF = re.compile(r"\s+of\s+(?P<words>(?:[\w'-]+,?\s+){0,4}?)(?P<colour>[\w'-]+)")
_LIKENED = re.compile(
    r"[\s,]+(?:(?:were|was|are|is)\s+)?(?:of\s+)?the\s+colou?r\s+of\s+(?:\w+\s+){0,2}?(?P<thing>\w+)\b"
)
_WITH_FEELING = re.compile(r"\s+(?:with|from|by|in|under|against|for|at)\b")
_NO_LINK = re.compile(
    r"\b(?:on|in|at|to|upon|with|from|towards?|by|for|over|into|full|like|than|not|never|no|looking|watching|fixed|red|"
    r"turned|bent|closed|shut|covered|hidden|lost|gone|open|\w{4,}ing|\w{4,}ed)\b"
)
_KEPT_LINK = re.compile(
    r"\b(?:startling|piercing|striking|arresting|penetrating|surprising|unsettling|faded|flecked)\b"
)
_STOPS = frozenset(
    "the a an those these both two with of had has have having possessed in and but or to at on from into by whose "
    "pair that as like were was is are through over under behind which between her his their its my your our".split()
)
_OUT = re.compile(r"\bout\s+\Z")
_HIS = re.compile(r"(his|hers)\b")
_GAVE = re.compile(r"\b(?:given|gave|granted|left|lent|bequeathed)\s+\Z")
_AND = re.compile(r",?\s+(?:and|or|flecked\s+with|shading\s+to|touched\s+with|almost|nearly)\s+([\w-]+)")
_PRONOUNS = frozenset({"his", "her"})
_FURTHEST = 7


@record
class Noun:
    """One word for eyes, hair or a beard, where it stands."""

    attribute: str
    start: int
    end: int


def looks(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes, hair and beard that the file gives somebody."""
    for pattern, words, read in ((_NOUN, _NOUNS, _of_noun), (_COMPOUND, _COMPOUNDS, _of_compound)):
        for number, found in narration.prose.matches(pattern, words):
            if narration.is_real(number):
                yield from read(narration, binder, number, found)


def _of_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    noun = Noun(attribute=found.lastgroup or "", start=found.start(), end=found.end())
    lexicon = EYES if noun.attribute == "eyes" else HAIR
    modifiers, cue, cue_start = _left_of(sentence, noun)
    colours = colours_in(modifiers, lexicon)
    words, end, asserted = " ".join(modifiers), noun.end, False
    if not colours:
        colours, words, end = _right_of(narration.prose.told, noun, lexicon, sentence.end)
        asserted = True
    if not colours:
        return
    owner = _owner(narration, binder, number, noun, cue, cue_start)
    if owner is None or (asserted and not narration.asserts(number, noun.start, end)):
        return
    if cue in {"had", "has", "have"} and not narration.asserts(number, cue_start, noun.end):
        return
    yield fact_at(narration.prose, number, (min(owner.start, noun.start) if owner.start >= sentence.start else noun.start, end),
                  owner, noun.attribute, colours, words)  # fmt: skip


def _left_of(sentence: Sentence, noun: Noun) -> tuple[list[str], str, int]:
    """The words that stand as attributes before a noun, the word before them, and where that begins."""
    before = sentence.text[: noun.start - sentence.start]
    tokens = list(_TOKEN.finditer(before))[-_FURTHEST:]
    modifiers: list[str] = []
    last = len(before)
    for token in reversed(tokens):
        between = before[token.end() : last]
        word = token.group()
        if between.strip() not in {"", ","}:
            break
        if word in {"and", "but"} and modifiers and not between.strip():
            last = token.start()
            continue
        if word.endswith(("'s", "s'")) or word.lower() in _STOPS or word[0].isupper():
            return modifiers[::-1], word, sentence.start + token.start()
        modifiers.append(word)
        last = token.start()
    return modifiers[::-1], "", sentence.start + last


def _right_of(told: str, noun: Noun, lexicon: dict[str, str], end: int) -> tuple[tuple[str, ...], str, int]:
    """The colour that is said of a noun after it: `were a deep brown`, `, green as glass`, `of the palest grey`."""
    if likened := _LIKENED.match(told, noun.end, end):
        thing = likened.group("thing")
        if thing in LIKENED:
            return (LIKENED[thing],), thing, likened.end()
    for pattern in (_IS, _BESIDE, _OF):
        # Each word may be the colour; the first that is one counts.
        found = pattern.match(told, noun.end, end)
        while found:
            colours = colours_in([found.group("colour")], lexicon)
            if colours and _links(found.group("words")) and not _WITH_FEELING.match(told, found.end()):
                more = _further(told, found.end(), lexicon)
                shade = colours_in([*found.group("words").split(), found.group("colour"), *more], lexicon)
                return shade, f"{found.group('words')}{found.group('colour')}", found.end()
            found = _longer(pattern, told, noun.end, end, found)
    return (), "", noun.end


def _longer(pattern: re.Pattern[str], told: str, start: int, end: int, found: re.Match[str]) -> re.Match[str] | None:
    """The same reading with one word more."""
    if len(found.group("words").split()) >= 5 or pattern is _BESIDE:
        return None
    words = len(found.group("words").split()) + 1
    longer = re.compile(pattern.pattern.replace("{0,5}?", f"{{{words}}}").replace("{0,4}?", f"{{{words}}}"))
    return longer.match(told, start, end)


def _further(told: str, at: int, lexicon: dict[str, str]) -> list[str]:
    """`blue and grey`, `brown or green`: the other colour of the same eyes."""
    found = _AND.match(told, at)
    return [found.group(1)] if found and colours_in([found.group(1)], lexicon) else []


def _links(words: str) -> bool:
    return not _NO_LINK.search(_KEPT_LINK.sub("", words))


def _owner(narration: Narration, binder: Binder, number: int, noun: Noun, cue: str, cue_start: int) -> Mention | None:
    lowered = cue.lower()
    if cue.endswith(("'s", "s'")):
        # The possessor itself, or a name of several words that ends in it.
        bare = cue_start + len(cue) - (2 if cue.endswith("'s") else 1)
        return binder.named_before(number, bare) or binder.named_before(number, bare + 1)
    if lowered in _PRONOUNS:
        return binder.pronoun(number, cue_start, lowered)
    if lowered == "whose":
        return binder.named_before(number, _before_comma(narration.prose.told, cue_start))
    if lowered in {"had", "has", "have", "possessed"}:
        return holder(binder, number, cue_start)
    if cue[:1].isupper() and lowered not in _STOPS:
        return _given(narration, binder, number, cue_start, cue)
    if lowered in {"from", "through"} or (lowered == "of" and _OUT.search(narration.prose.told, 0, cue_start)):
        return binder.subject(number, cue_start)
    if lowered in {"the", "those", "these", "two", "of", "a", "an", "pair"}:
        of = re.compile(r"\s+of\s+").match(narration.prose.told, noun.end)
        named = binder.named_from(number, of.end()) if of else None
        if of and named is None and (his := _HIS.match(narration.prose.told, of.end())):
            return binder.pronoun(number, of.end(), his.group(1).replace("hers", "her"))
        if named and (not named.is_possessive or lowered in {"those", "these"}):
            return named
        return _through_have(narration, binder, number, cue_start)
    return binder.subject(number, cue_start) if lowered == "with" else None


def _given(narration: Narration, binder: Binder, number: int, at: int, name: str) -> Mention | None:
    """`Nature had given Mara brown eyes`, and `Mara: brown eyes`, where the name itself stands before the words."""
    owner = binder.named_before(number, at + len(name))
    if owner is None:
        return None
    return owner if _GAVE.search(narration.prose.told, max(0, owner.start - 12), owner.start) else None


def _through_have(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    """`Mara had a pair of green eyes`, `had the blue eyes of her people`."""
    before = narration.prose.told[max(0, at - 30) : at]
    found = re.search(r"\b(had|has|with)\s+(?:(?:a|the)\s+(?:\w+\s+)?(?:pair|head|mane|mass|shock|mop)\s+)?\Z", before)
    if not found:
        return None
    place = at - len(before) + found.start()
    return binder.subject(number, place) if found.group(1) == "with" else holder(binder, number, place)


def holder(binder: Binder, number: int, at: int) -> Mention | None:
    """The subject of a verb at an offset: a name or a pronoun directly before it, an adverb apart."""
    told = binder.prose.told
    sentence = binder.prose.sentences[number]
    before = told[sentence.start : at]
    before = re.sub(
        r"\s+(?:still|also|always|now|indeed|certainly|both|too|then|already|just|[a-z]+ly)\s*\Z", " ", before
    )
    before = re.sub(r",?\s+(?:who|too,|that)\s*\Z", " ", before)
    end = sentence.start + len(before.rstrip())
    named = binder.named_before(number, end)
    if named is not None:
        return named
    found = re.search(r"\b([Hh]e|[Ss]he)\Z", before.rstrip())
    return binder.pronoun(number, sentence.start + found.start(), found.group(1)) if found else None


def _before_comma(told: str, at: int) -> int:
    trimmed = told[:at].rstrip()
    return len(trimmed.rstrip(",").rstrip())


def _of_compound(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    attribute = "eyes" if found.group("eyes") else "hair" if found.group("hair") else "beard"
    colours = colours_in([found.group("word")], EYES if attribute == "eyes" else HAIR)
    if not colours:
        return
    owner = _after(narration, binder, number, found.end()) or _described(narration, binder, number, found.start())
    if owner is not None:
        span = (min(owner.start, found.start()), max(owner.end, found.end()))
        yield fact_at(narration.prose, number, span, owner, attribute, colours, found.group("word"))


def _after(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    """`the blue-eyed Mara`, `blue-eyed, laughing Mara`."""
    return binder.named_from(number, at)


def _described(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    """`Mara was tall and blue-eyed`, `Mara, a blue-eyed girl,`."""
    sentence = narration.prose.sentences[number]
    before = sentence.text[: at - sentence.start]
    found = re.search(
        r"(?:\s+(?:was|is)|,)\s+(?:an?\s+|the\s+|still\s+)?(?:[\w'-]+(?:,|\s+and|,\s+and)?\s+){0,4}\Z", before
    )
    while found:
        place = sentence.start + found.start()
        owner = binder.named_before(number, place)
        if owner is None:
            said = re.search(r"\b([Hh]e|[Ss]he)\Z", before[: found.start()])
            owner = binder.pronoun(number, sentence.start + said.start(), said.group(1)) if said else None
        if owner is not None:
            return owner if narration.asserts(number, place, at) and not owner.is_possessive else None
        found = re.compile(found.re.pattern).search(before, found.start() + 1)
    return None
