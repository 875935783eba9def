"""The colour of eyes, hair and beards: the words that give the colour, and whose they are."""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colour_phrases import Said, in_next, right_of
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, colours_in
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration, clause_around
from tallystick.rooms.studio.continuity.owners import PRONOUNS, STOPS, Thing, owner_of
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import words

_NOUN = re.compile(
    r"\b(?P<eyes>eyes?|irises|gaze|stare)\b|"
    r"\b(?P<hair>hair|locks?|curls?|tresses|ringlets?|braids?|plaits?|pigtails?|ponytail|fringe|mane|mop|chignon|"
    r"topknot|forelock|bun|head)\b|"
    r"\b(?P<beard>beard|moustache|mustache|whiskers)\b"
)
_NOUNS = frozenset(
    words(
        "eyes eye irises gaze stare hair lock locks curl curls tresses ringlet ringlets braid braids plait plaits "
        "pigtail pigtails ponytail fringe mane mop chignon topknot forelock bun head beard moustache mustache whiskers"
    )
)
_OTHERS = frozenset(words("my your our their its whose"))
_OF_ANOTHER = re.compile(r"\s+of\s+(?:the|an?|his|her|their|some|another|this|that)\b")
_BEASTS = re.compile(
    r"\b(?:dog|horse|cat|mare|pony|doll|bird|hound|puppy|kitten|owl|wolf|ox|cow|donkey|mule|lion|tiger|monkey|parrot|"
    r"idol)\b"
)
_SEES = re.compile(
    r"\b(?:saw|sees?|seen|look(?:ed|s|ing)|gaz(?:ed|ing)|star(?:ed|ing)|glanc(?:ed|ing)|met|notic(?:ed|ing)|sought|"
    r"found|"
    r"watch(?:ed|ing)|faced|facing|beheld|felt|lov(?:ed|ing)|admir(?:ed|ing)|lik(?:ed|ing)|prefer\w*|kiss(?:ed|ing)|"
    r"encounter\w*)\b"
)
"""What is done to another's eyes."""
_ONLY_BEFORE = frozenset({"head", "eye", "gaze", "stare"})
"""What has its colour before it; `her head was dark` may be said of much."""
_WISHED_FOR = frozenset(
    words("wanted wished envied admired loved liked longed hated seen met known dreamed missed coveted")
)
_COLOURS = EYES | HAIR
_IN_FACE = re.compile(r"\b(?:in|from|[Oo]ut\s+of)\s+[^,;]{2,24}'s\s+(?:\w+\s+){0,2}face\b", re.IGNORECASE)
_NOT_HIS = re.compile(r"\b(?:not|unlike|like|than)\s+\Z")
_SERVED = re.compile(r"\bwho\s+(?:had\s+)?[a-z]+\s+\Z")
_AT_HIM = re.compile(
    r"\b(?:looked|stared|gazed|glanced|peered|watched|followed|met|regarded|surveyed|studied|rested|searched|"
    r"sought)\b[^;,]*\Z"
)
"""`Grey eyes looked at Mara`: whoever they belong to, it is not Mara."""
_WITH_THEM = re.compile(r"(?<!was)(?<!is)\s(?:an?|another|some)\s+(?:[\w-]+\s+){1,3}(?:with|who\s+had|whose)\Z")
_GIVEN = re.compile(r"\b(?:gave|given|lent|granted)\s+[A-Z][\w.]+(?:\s+[A-Z]\w+)?\Z")
_TOKEN = re.compile(r"[\w'-]+")
_AT_THE_END = 3
"""Characters after a noun that ends its sentence."""
_FURTHEST = 7
_LIGHT = re.compile(
    r"\b(?:in|by|under|against)\s+(?:that|this|the|certain|some|such|a\s+certain|another)?\s*(?:\w+\s+)?(?:light|"
    r"firelight|candlelight|"
    r"lamplight|moonlight|sunlight|starlight|twilight|glow|dusk|gloom|shadows?|lights)\b"
)
"""What a colour only looks like for the moment."""
_LIT_FIRST = re.compile(rf"\W*(?:For\s+a\s+moment,\s+)?(?i:{_LIGHT.pattern})")
_TURNED = re.compile(
    r"(?<!Nature had )(?<!nature had )(?<!God had )\b(?:turned|made|dyed|left|rendered|painted|stained|gilded|tinged|"
    r"lit)\s+\Z"
)


@record
class Noun:
    """One word for eyes, hair or a beard, where it stands."""

    attribute: str
    start: int
    end: int


def looks(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes, hair and beard that the file gives somebody."""
    for number, found in narration.prose.matches(_NOUN, _NOUNS):
        if narration.is_real(number, until=found.end()):
            yield from _of_noun(narration, binder, number, found)


def _of_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    noun = Noun(attribute=found.lastgroup or "", start=found.start(), end=found.end())
    lexicon = EYES if noun.attribute == "eyes" else HAIR
    modifiers, thing = _left_of(sentence, noun)
    colours = colours_in(modifiers, lexicon)
    words, said, end, asserted = " ".join(modifiers), noun.start, noun.end, False
    if found.group() in {"eye", "gaze", "stare"} and colours in {("black",), ("red",)}:
        # A black eye is a blow, and red eyes weep.
        return
    if not colours and found.group() not in _ONLY_BEFORE:
        colours, words, (said, end) = right_of(narration.prose.told, noun.end, lexicon, sentence.end)
        asserted = True
    if not colours and sentence.end - noun.end <= _AT_THE_END:
        colours, words, (said, end) = _in_next_sentence(narration, number, lexicon)
        if colours and narration.asserts(number + 1, said, end):
            asserted, end = False, noun.end
        else:
            return
    if not colours:
        return
    owner = owner_of(binder, number, thing) or _by_company(binder, number, thing)
    if owner is None or (
        asserted and not (narration.asserts(number, said, end) and _is_lasting(sentence, thing, said, end))
    ):
        return
    if thing.cue in {"had", "has", "have"} and (
        _WISHED_FOR & set(modifiers) or not narration.asserts(number, thing.cue_start, noun.end)
    ):
        return
    start = min(owner.start, noun.start) if owner.start >= sentence.start else noun.start
    yield fact_at(narration.prose, number, (start, end), owner, noun.attribute, colours, words)


def _in_next_sentence(narration: Narration, number: int, lexicon: dict[str, str]) -> Said:
    """What the next sentence says of the thing that this one ends with."""
    sentences = narration.prose.sentences
    last = number + 1 >= len(sentences) or sentences[number + 1].paragraph != sentences[number].paragraph
    if last or not narration.is_real(number + 1):
        return (), "", (0, 0)
    following = sentences[number + 1]
    return in_next(narration.prose.told, following.start, following.end, lexicon)


def _is_lasting(sentence: Sentence, thing: Thing, start: int, end: int) -> bool:
    """`were gold in that light`, `the sunset turned her hair red`: what they looked like for the moment."""
    before = sentence.text[: thing.cue_start - sentence.start]
    aside = sentence.text[thing.end - sentence.start : thing.end - sentence.start + 1] == ","
    passing = _LIGHT.search(clause_around(sentence, start, end)) or (_LIT_FIRST.match(before) and not aside)
    return not (passing or _TURNED.search(before))


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
        if token is tokens[0] and len(tokens) < _FURTHEST and colours_in([word], _COLOURS):
            # `Black hair hung …`: the sentence begins with the colour.
            modifiers.append(word.lower())
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
    text, told = binder.prose.sentences[number].text, binder.prose.told
    if (
        owner is None
        or _BEASTS.search(text)
        or _OF_ANOTHER.match(told, thing.end)
        or _is_anothers(binder, number, thing)
    ):
        return None
    if _IN_FACE.search(text):
        return owner
    between = told[owner.end : thing.cue_start]
    sees = _SEES.search(_same_clause(told[owner.end : thing.start])) and not (between.endswith(",") and not cue)
    return None if sees or _is_turned_on(told, owner, thing) else owner


def _is_turned_on(told: str, owner: Mention, thing: Thing) -> bool:
    """`Grey eyes looked at Mara`, `The clerk who served Mara had grey eyes`: Mara is there, and they are not hers."""
    before = max(0, owner.start - 24)
    served = thing.cue == "had" and _SERVED.search(told, before, owner.start)
    return bool(served or _NOT_HIS.search(told, before, owner.start) or _AT_HIM.search(told, thing.end, owner.start))


def _is_anothers(binder: Binder, number: int, thing: Thing) -> bool:
    """`drew a face with grey eyes`, `gave Mara grey eyes`: whose they are is said, and it is nobody here."""
    before = binder.prose.told[binder.prose.sentences[number].start : thing.cue_start + len(thing.cue)]
    return _WITH_THEM.search(before) is not None or _GIVEN.search(before) is not None


def _same_clause(between: str) -> str:
    """What stands before a thing in its own clause; another subject ends the name's."""
    last = re.split(r"[;:—]", between)[-1]
    return "" if re.search(r"\b(?:they|one|nobody|everyone|people)\b", last) else last
