"""The colour of eyes, hair and beards: the words that give the colour, and whose they are."""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, LIKENED, colours_in
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import PRONOUNS, STOPS, Thing, owner_of
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import words

_NOUN = re.compile(
    r"\b(?P<eyes>eyes|irises)\b|\b(?P<hair>hair|locks|curls|tresses|ringlets|braids?|plaits?|head)\b|"
    r"\b(?P<beard>beard|moustache|mustache|whiskers)\b"
)
_COMPOUND = re.compile(r"\b(?P<word>[\w-]+?)-(?:(?P<eyes>eyed)|(?P<hair>haired|headed)|(?P<beard>bearded))\b")
_NOUNS = frozenset(
    words(
        "eyes irises hair locks curls tresses ringlets braid braids plait plaits head beard moustache mustache whiskers"
    )
)
_COMPOUNDS = frozenset({"eyed", "haired", "headed", "bearded"})
_SHADE = re.compile(rf"\b(?P<colour>[a-z]+)\s+of\s+(?:(?P<owner>his|her|{NAME})(?:'s|')?)\s+(?P<noun>eyes|hair)\b")
_TINT = re.compile(
    r"\b(?:shade|colou?r|tint|hue|kind|sort)\s+of\s+(?:\w+\s+)??(?P<colour>[a-z-]+)\b(?=[^;.]*\b(?P<noun>eyes|hair)\b)"
)
_THE_ONE = re.compile(r"\b(?P<noun>heads?)\b[^;.]{1,60}?\bthe\s+(?P<colour>[a-z-]+)\s+one\b")
_OTHERS = frozenset(words("my your our their its whose"))
_OF_ANOTHER = re.compile(r"\s+of\s+(?:the|an?|his|her|their|some|another|this|that)\b")
_BEASTS = re.compile(
    r"\b(?:dog|horse|cat|mare|pony|doll|bird|hound|puppy|kitten|owl|wolf|ox|cow|donkey|mule|lion|tiger|monkey|parrot|idol)\b"
)
_SEES = re.compile(
    r"\b(?:saw|sees?|seen|look(?:ed|s|ing)|gaz(?:ed|ing)|star(?:ed|ing)|glanc(?:ed|ing)|met|notic(?:ed|ing)|sought|found|"
    r"watch(?:ed|ing)|faced|facing|beheld|lov(?:ed|ing)|admir(?:ed|ing)|lik(?:ed|ing)|prefer\w*|kiss(?:ed|ing)|encounter\w*)\b"
)
"""What is done to another's eyes."""
_TOKEN = re.compile(r"[\w'-]+")
_IS = re.compile(
    r"(?:,[^,;:.]{1,60},|[,:;]\s+they|,?\s+(?:which|that))?\s+(?:were|was|are|is|remained|stayed|showed|had\s+always\s+been)\s+(?:(?:seen|found|known|"
    r"said)\s+to\s+be\s+)?(?P<words>(?:[\w'-]+,?\s+){0,7}?)(?P<colour>[\w'-]+)"
)
_BESIDE = re.compile(r"[,:]\s+(?P<words>(?:[\w'-]+,?\s+){0,3}?)(?P<colour>[\w'-]+)(?=\s+(?:as|and|like)\b|[,.;—!])")
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
_AND = re.compile(r",?\s+(?:and|or|flecked\s+with|shading\s+to|touched\s+with|almost|nearly)\s+([\w-]+)")
_FURTHEST = 7
_MOST_BETWEEN = 7
"""Words between `were` and the colour."""


@record
class Noun:
    """One word for eyes, hair or a beard, where it stands."""

    attribute: str
    start: int
    end: int


def looks(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes, hair and beard that the file gives somebody."""
    for pattern, triggers, read in (
        (_NOUN, _NOUNS, _of_noun),
        (_COMPOUND, _COMPOUNDS, _of_compound),
        (_SHADE, {"eyes", "hair"}, _of_shade),
        (_TINT, {"eyes", "hair"}, _of_tint),
        (_THE_ONE, {"head", "heads"}, _of_tint),
    ):
        for number, found in narration.prose.matches(pattern, triggers):
            if narration.is_real(number):
                yield from read(narration, binder, number, found)


def _of_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    noun = Noun(attribute=found.lastgroup or "", start=found.start(), end=found.end())
    lexicon = EYES if noun.attribute == "eyes" else HAIR
    modifiers, thing = _left_of(sentence, noun)
    colours = colours_in(modifiers, lexicon)
    words, end, asserted = " ".join(modifiers), noun.end, False
    if not colours and found.group() != "head":
        colours, words, end = _right_of(narration.prose.told, noun, lexicon, sentence.end)
        asserted = True
    if not colours:
        return
    owner = owner_of(binder, number, thing) or _by_company(binder, number, thing)
    # `no harm to her hair, which was red`: what is said after the comma is not denied with what stands before it.
    said = noun.end + 1 if narration.prose.told[noun.end] in ",:" else noun.start
    if owner is None or (asserted and not narration.asserts(number, said, end)):
        return
    if thing.cue in {"had", "has", "have"} and not narration.asserts(number, thing.cue_start, noun.end):
        return
    start = min(owner.start, noun.start) if owner.start >= sentence.start else noun.start
    yield fact_at(narration.prose, number, (start, end), owner, noun.attribute, colours, words)


def _left_of(sentence: Sentence, noun: Noun) -> tuple[list[str], Thing]:
    """The words that stand as attributes before a noun, and what they hang on."""
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
        if word.endswith(("'s", "s'")) or word.lower() in STOPS or word[0].isupper():
            at = sentence.start + token.start()
            return modifiers[::-1], Thing(start=noun.start, end=noun.end, cue=word, cue_start=at)
        modifiers.append(word)
        last = token.start()
    return modifiers[::-1], Thing(start=noun.start, end=noun.end, cue="", cue_start=sentence.start + last)


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
    if len(found.group("words").split()) >= _MOST_BETWEEN or pattern is _BESIDE:
        return None
    words = len(found.group("words").split()) + 1
    longer = re.compile(pattern.pattern.replace("{0,7}?", f"{{{words}}}").replace("{0,4}?", f"{{{words}}}"))
    return longer.match(told, start, end)


def _further(told: str, at: int, lexicon: dict[str, str]) -> list[str]:
    """`blue and grey`, `brown or green`: the other colour of the same eyes."""
    found = _AND.match(told, at)
    return [found.group(1)] if found and colours_in([found.group(1)], lexicon) else []


def _links(words: str) -> bool:
    return not _NO_LINK.search(_KEPT_LINK.sub("", words))


def _of_compound(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    attribute = "eyes" if found.group("eyes") else "hair" if found.group("hair") else "beard"
    colours = colours_in([found.group("word")], EYES if attribute == "eyes" else HAIR)
    if not colours:
        return
    # `the blue-eyed Mara`, else `Mara was tall and blue-eyed`.
    owner = binder.named_from(number, found.end()) or _described(narration, binder, number, found.start())
    if owner is not None:
        span = (min(owner.start, found.start()), max(owner.end, found.end()))
        yield fact_at(narration.prose, number, span, owner, attribute, colours, found.group("word"))


def _of_shade(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`the blue of Mara's eyes`."""
    attribute = found.group("noun")
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR)
    at = found.start("owner")
    said = found.group("owner")
    owner = binder.pronoun(number, at, said) if said in PRONOUNS else binder.named_from(number, at)
    if colours and owner is not None:
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _of_tint(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`a shade of green that …, and Mara's eyes had it`, `among the heads the golden one was Mara's`."""
    attribute = "eyes" if found.group("noun") == "eyes" else "hair"
    colours = colours_in([found.group("colour")], EYES if attribute == "eyes" else HAIR)
    owner = alone(binder, number) if colours else None
    if owner is not None and narration.asserts(number, found.start(), found.end()):
        yield fact_at(narration.prose, number, found.span(), owner, attribute, colours, found.group("colour"))


def _by_company(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """Whose it must be where nothing but the company says so."""
    cue = thing.cue.lower()
    if cue in _OTHERS or cue.endswith(("'s", "s'")) or (cue in PRONOUNS and not binder.mentions(number)):
        return None
    owner = alone(binder, number) or alone_before(binder, number)
    told = binder.prose.told
    if _BEASTS.search(binder.prose.sentences[number].text):
        return None
    if owner is None or _OF_ANOTHER.match(told, thing.end) or _SEES.search(_same_clause(told[owner.end : thing.start])):
        return None
    return owner


def _same_clause(between: str) -> str:
    """What stands before a thing in its own clause; another subject ends the name's."""
    last = re.split(r"[;:—]", between)[-1]
    return "" if re.search(r"\b(?:they|one|nobody|everyone|people)\b", last) else last


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
