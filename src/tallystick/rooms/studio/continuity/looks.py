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
_NOUNS = frozenset(
    words(
        "eyes irises hair locks curls tresses ringlets braid braids plait plaits head beard moustache mustache whiskers"
    )
)
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
_FURTHEST = 7
_LIGHT = re.compile(
    r"\b(?:in|by|under|against)\s+(?:that|this|the|certain|some|such|a\s+certain|another)?\s*(?:\w+\s+)?(?:light|firelight|candlelight|"
    r"lamplight|moonlight|sunlight|starlight|twilight|glow|dusk|gloom|shadows?|lights)\b"
)
"""What a colour only looks like for the moment."""


@record
class Noun:
    """One word for eyes, hair or a beard, where it stands."""

    attribute: str
    start: int
    end: int


def looks(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes, hair and beard that the file gives somebody."""
    for number, found in narration.prose.matches(_NOUN, _NOUNS):
        if narration.is_real(number):
            yield from _of_noun(narration, binder, number, found)


def _of_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    noun = Noun(attribute=found.lastgroup or "", start=found.start(), end=found.end())
    lexicon = EYES if noun.attribute == "eyes" else HAIR
    modifiers, thing = _left_of(sentence, noun)
    colours = colours_in(modifiers, lexicon)
    words, end, asserted = " ".join(modifiers), noun.end, False
    if not colours and found.group() != "head":
        colours, words, end = right_of(narration.prose.told, noun.end, lexicon, sentence.end)
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
