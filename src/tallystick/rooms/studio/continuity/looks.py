"""The colour of eyes, hair and beards: the words that give the colour, and whose they are."""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, colours_in, go_together
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.lasting import CHANGES, is_lasting
from tallystick.rooms.studio.continuity.narration import Narration, clause_around
from tallystick.rooms.studio.continuity.owners import STOPS, Thing
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.tints import likened, tints
from tallystick.rooms.studio.continuity.vocabulary import words
from tallystick.rooms.studio.continuity.whose import whose

_NOUN = re.compile(
    r"\b(?P<eyes>eyes?|iris|irises|orbs?|gaze|stare|glance|pupils)\b|\b(?P<hair>hairs?|locks?|curls?|tress(?:es)?|"
    r"ringlets?|braids?|plaits?|pigtails?|ponytail|fringe|mane|mop|chignon|topknot|forelock|bun|head|poll|tangle|"
    r"thatch|clippings|tufts?|strands?|wisps?|scalp|ends|snippings|cuttings|trimmings|shock|crop)\b|"
    r"\b(?P<beard>beard|moustache|mustache|whiskers)\b"
)
_NOUNS = frozenset(
    words(
        "eyes eye iris irises orb orbs gaze stare glance pupils poll tangle thatch clippings tuft tufts strand strands "
        "wisp wisps scalp ends snippings cuttings trimmings shock crop tress "
        "hair hairs lock locks curl curls tresses ringlet ringlets braid braids plait plaits pigtail "
        "pigtails ponytail fringe mane mop chignon topknot forelock bun head beard moustache mustache whiskers"
    )
)
_ONLY_BEFORE = frozenset(
    words(
        "head eye gaze stare orb glance poll tangle thatch clippings tuft tufts strand strands wisp wisps scalp ends "
        "snippings cuttings trimmings shock crop"
    )
)
"""What has its colour before it; `her head was dark` may be said of much."""
_WISHED_FOR = frozenset(
    words(
        "wanted wished envied admired loved liked longed hated seen met known dreamed missed coveted preferred praised "
        "disliked distrusted fancied"
    )
)
_COLOURS = EYES | HAIR
_TOKEN = re.compile(r"[\w'-]+")
_FURTHEST = 7


@record
class Noun:
    """One word for eyes, hair or a beard, where it stands."""

    attribute: str
    start: int
    end: int


def looks(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every colour of eyes, hair and beard that the file gives somebody."""
    for number in narration.prose.with_words(_NOUNS | _LOOK):
        yield from _said(narration, binder, number)
        yield from _taken_up(narration, binder, number)
    for number, found in narration.prose.matches(_NOUN, _NOUNS):
        before = narration.prose.told[max(0, found.start() - 30) : found.start()]
        owned = _OWNED.search(before) is not None or _LIKE_HIS.match(narration.prose.told, found.end()) is not None
        # `nothing colder than her grey eyes`: what is somebody's own is so, whatever is likened to it.
        if is_claimed(narration, number, found.span(), granted=True, owned=owned, likened=not owned):
            yield from _of_noun(narration, binder, number, found)


_LIKE_HIS = re.compile(r"\s+like\s+(?:his|hers?|[A-Z][\w. ]*'s?)(?!\s+(?!ought|should|could|would|must|need)[a-z]+\b)")
_OWNED = re.compile(r"(?:'s|\b[Hh]is|\b[Hh]er|\bwhose)\s+(?:[a-z-]+,?\s+){1,3}\Z")
_LOOK = frozenset({"look", "regard", "lids", "eyelids", "lashes", "spectacles"})
_SLOT = re.compile(rf"{_NOUN.pattern}|\b(?P<look>look|regard|lids|eyelids|lashes|spectacles)\b")


def _said(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    """The colours that the sentence says of its nouns, in whatever order."""
    sentence = narration.prose.sentences[number]
    if CHANGES.search(sentence.text):
        return
    slots = [
        (one.start(), one.end(), "eyes" if one.lastgroup == "look" else one.lastgroup or "")
        for one in _SLOT.finditer(sentence.text)
        if one.group() not in _OF_ANYTHING
        and (one.group() not in {"head", "scalp"} or sentence.text[one.end() : one.end() + 1] == ",")
    ]
    for tint in tints(sentence.text, slots) if slots else ():
        start, end = sentence.start + tint.slot[0], sentence.start + tint.slot[1]
        attribute = next(slot[2] for slot in slots if slot[:2] == tint.slot)
        modifiers, thing = _left_of(sentence, Noun(attribute=attribute, start=start, end=end))
        before = colours_in(modifiers, EYES if attribute == "eyes" else HAIR)
        if before and tint.span[0] > tint.slot[1] and not go_together(attribute, before, tint.colours):
            # `by supper her red hair was brown`: it has been changed.
            continue
        owner = whose(binder, number, thing)
        span = (sentence.start + min(tint.slot[0], tint.span[0]), sentence.start + max(tint.slot[1], tint.span[1]))
        value = (sentence.start + tint.span[0], sentence.start + tint.span[1])
        # `never noticed how grey her eyes were`: that they are is granted.
        how = re.search(r"\b(?:how\s+(?:very\s+)?|their\s+|\A\W*Being\s+)\Z", sentence.text[: tint.span[0]]) is not None
        # So it is in `that heaven gave her eyes of hazel was no merit`.
        how = how or _OF_COLOUR.fullmatch(sentence.text, tint.slot[1], max(tint.span[0], tint.slot[1])) is not None
        if owner is None or not is_claimed(narration, number, value, granted=how, owned=how):
            continue
        if not (how or is_lasting(sentence, thing, *value)):
            continue
        yield fact_at(narration.prose, number, span, owner, attribute, tint.colours, sentence.text[slice(*tint.span)])


def _taken_up(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    """Read `Mara's hair was long that year. It was black, and it curled`."""
    prose = narration.prose
    sentence = prose.sentences[number]
    following = prose.sentences[number + 1] if number + 1 < len(prose.sentences) else None
    if following is None or following.paragraph != sentence.paragraph:
        return
    goes_on = _GOES_ON.match(following.text)
    slots = [one for one in _NOUN.finditer(prose.told, sentence.start, sentence.end) if one.lastgroup != "beard"]
    if goes_on is None or not slots or not is_claimed(narration, number + 1, _opening_of(following)):
        return
    last = slots[-1]
    if (last.lastgroup == "eyes") == (goes_on.group(1) == "It") or last.group() in _ONLY_BEFORE:
        return
    start = last.start() - sentence.start
    text = prose.told[sentence.start : following.end]
    for tint in tints(text, [(start, last.end() - sentence.start, last.lastgroup or "")]):
        _, thing = _left_of(sentence, Noun(attribute=last.lastgroup or "", start=last.start(), end=last.end()))
        owner = whose(binder, number, thing) if tint.span[0] > len(sentence.text) else None
        if owner is not None and is_claimed(narration, number, last.span(), granted=True):
            at = (sentence.start + tint.span[0], sentence.start + tint.span[1])
            yield fact_at(prose, number + 1, at, owner, last.lastgroup or "", tint.colours, prose.told[slice(*at)])


def _opening_of(sentence: Sentence) -> tuple[int, int]:
    """The first words of a sentence, up to its colour."""
    pause = re.search(r"[,;:—]|\s+and\s+", sentence.text[:40])
    return sentence.start, min(sentence.end, sentence.start + (pause.start() if pause else 40))


_OF_COLOUR = re.compile(r"\s+of\s+(?:an?\s+)?(?:[a-z-]+,?\s+){0,2}")
_GOES_ON = re.compile(r"\W*(It|They|Those|These|Both)\s+(?:was|were|had)\b")
_OF_ANYTHING = frozenset(
    words("tangle thatch clippings tuft tufts strand strands wisp wisps ends snippings cuttings trimmings shock crop")
)
_NEVER_SEEN = re.compile(
    r"\b(?:[Nn]obody|[Nn]o\s+one|[Nn]ever|not|hardly|none)\b[^,;]{0,30}\b(?:saw|seen?|known|met|imagin\w+|"
    r"pictured?)\s+[A-Z]"
)
_WOULD = re.compile(r"\b(?:would|might|could|should)\s+(?:have|be|look|suit)\b|\bif\b")
"""`would have looked better with black hair`."""
_OF_HEAD = re.compile(
    r"\b(?:hair|hairs|head|barber\w*|comb\w*|scissors|shears|brush\w*|brow|forehead|temples?|face|eyes?|hat|bonnet|"
    r"cap|curls?)\b"
)
"""What shows that a tangle or a tuft is one of hair."""
_ABSOLUTE = re.compile(r"\b(?:the|an?|his|her|its|their|my|him|them)(?:\s+[\w-]+){1,2}\Z")
_WIDE = re.compile(
    r"\s+(?:wide|narrow\w*|fixed|half|shining|bright|blazing|closed|shut|open|hard|cold|steady|level|calm|wet|dull|"
    r"full|fierce|empty|huge|round|alert|still|on|upon|[a-z]+(?:ing|ed))\b"
)
_SHADES_OF = re.compile(
    r"(?P<colour>[\w-]+)(?:\s+(?:flash|gleam|glint|glitter|fire|light|depths?|rims?|rings?|blaze|sparks?|sparkle|glow|"
    r"colou?r|shade|tint|hue|flecks?|crown|top|back|mass|waves?|curls|coils|tangle|ends|roots|halo|slits?|pools?|"
    r"beads?|dot|mop|pair|stare|glare|twinkle|parting))?\s+(?:of|in)\s+(?:each\s+of\s+|both\s+|an?\s+)?\Z"
)
"""`the grey of her eyes`, `a grey flash of the eyes`, `the black crown of her head`."""


def _of_noun(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """The colour that stands before its noun as an attribute, or that the noun is likened to."""
    sentence = narration.prose.sentences[number]
    noun = Noun(attribute=found.lastgroup or "", start=found.start(), end=found.end())
    if not _is_of_head(sentence, found.group()) or CHANGES.search(sentence.text):
        return
    lexicon = EYES if noun.attribute == "eyes" else HAIR
    modifiers, thing = _left_of(sentence, noun)
    colours, end = colours_in(modifiers, lexicon) or _shade(sentence, thing, lexicon), noun.end
    if not colours:
        colours, end = likened(narration.prose.told, noun.end, sentence.end, lexicon)
    owner = whose(binder, number, thing) if colours and not _is_bruise(found.group(), modifiers, thing) else None
    if owner is None:
        return
    if thing.cue in {"had", "has", "have"} and (
        _WISHED_FOR & set(modifiers) or not narration.asserts(number, thing.cue_start, noun.end)
    ):
        return
    clause = clause_around(sentence, thing.cue_start, noun.end)
    if thing.cue == "with" and (_WOULD.search(clause) or _NEVER_SEEN.search(clause)):
        return
    start = min(owner.start, noun.start) if owner.start >= sentence.start else noun.start
    words_said = " ".join(modifiers) or colours[0]
    yield fact_at(narration.prose, number, (start, end), owner, noun.attribute, colours, words_said)


def _is_of_head(sentence: Sentence, noun: str) -> bool:
    """A tangle or a tuft is one of hair where the sentence speaks of a head."""
    return noun not in _OF_ANYTHING or _OF_HEAD.search(sentence.text.replace(noun, "")) is not None


def _is_bruise(noun: str, modifiers: list[str], thing: Thing) -> bool:
    """A black eye is a blow; `opened one black eye` is not."""
    own = {thing.cue.lower(), *modifiers} & {"one", "his", "her", "each"}
    return noun == "eye" and "black" in modifiers and (not own or thing.cue in {"had", "has"})


def _shade(sentence: Sentence, thing: Thing, lexicon: dict[str, str]) -> tuple[str, ...]:
    before = sentence.text[: thing.cue_start - sentence.start]
    if thing.cue in {"of", "a"}:
        before = sentence.text[: thing.start - sentence.start]
    if re.search(r"(?:[A-Z][\w.]+\s+)+\Z", before) and thing.cue.endswith(("'s", "s'")):
        # The title and the given name before a surname's possessive.
        before = re.sub(r"(?:[A-Z][\w.]+\s+)+\Z", "", before)
    found = _SHADES_OF.search(before)
    return colours_in([found.group("colour")], lexicon) if found else ()


def _left_of(sentence: Sentence, noun: Noun) -> tuple[list[str], Thing]:
    """The words that stand as attributes before a noun, and what they hang on."""
    before = sentence.text[: noun.start - sentence.start]
    tokens = list(_TOKEN.finditer(before))[-_FURTHEST:]
    modifiers: list[str] = []
    last = len(before)
    for token in reversed(tokens):
        between = before[token.end() : last]
        word = token.group()
        if (
            between.strip() == ","
            and modifiers
            and _ABSOLUTE.search(before, 0, token.end())
            and _WIDE.match(sentence.text, len(before) + noun.end - noun.start)
        ):
            # `stared at the door, blue eyes wide`: the door is no adjective.
            break
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
