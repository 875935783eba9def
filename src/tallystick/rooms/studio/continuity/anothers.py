"""What gives eyes or hair to another than the one who has a name: a beast, a doll, whoever is looked at."""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colours import EYES, HAIR
from tallystick.rooms.studio.continuity.focus import HIMSELF, OTHERS, clause_at
from tallystick.rooms.studio.continuity.owners import PRONOUNS, Thing
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import MEN, WOMEN

_OF_ANOTHER = re.compile(
    rf"\s+of\s+(?!(?:an?|the)\s+(?:[\w-]+,?\s+){{0,3}}(?:{'|'.join((*EYES, *HAIR))})\b)"
    r"(?:(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?\s+(?!(?:was|were|is|had|has)\b)[a-z]+|the|an?|his|her|their|some|"
    r"another|this|that|each)\b(?!\s+(?:head|brow|neck|face))"
)
BEASTS = re.compile(
    r"\b(?:dog|horse|cat|mare|pony|doll|bird|hound|puppy|kitten|owl|wolf|ox|cow|donkey|mule|lion|tiger|monkey|parrot|"
    r"terrier|spaniel|idol)\b(?!-|'s|\s+(?:that|had|lay|knew|barked|howled))"
)
_SEES = re.compile(
    r"\b(?:saw|sees?|seen|look(?:ed|s|ing)|gaz(?:ed|ing)|star(?:ed|ing)|glanc(?:ed|ing)|met|notic(?:ed|ing)|sought|"
    r"found|watch(?:ed|ing)|faced|facing|beheld|felt|lov(?:ed|ing)|admir(?:ed|ing)|lik(?:ed|ing)|prefer\w*|kiss(?:ed|"
    r"ing)|past|encounter\w*|strok(?:ed|ing)|touch(?:ed|ing)|pull(?:ed|ing)|wore|wearing|kept|settled|opposite|beside|"
    r"with\s+an?\s+\w+\s+with)\b"
)
"""What is done to another's."""
_WITH_THEM = re.compile(r"(?<!was)(?<!is)\s(?:an?|another|some)\s+(?:[\w-]+\s+){1,3}(?:with|who\s+had|whose)\s*\Z")
_GIVEN = re.compile(
    r"\b(?:gave|given|lent|granted)\s+(?:the\s+)?[A-Z][\w.]+(?:\s+[A-Z]\w+)?(?:\s+\w+\s+the\s+\w+)?\s*\Z"
)
_AT_HIM = re.compile(
    r"\b(?:looked|stared|gazed|glanced|peered|watched|followed|met|regarded|surveyed|studied|rested|searched|fell|"
    r"sought)\b[^;,]*\Z"
)
"""`Grey eyes looked at Mara`: whoever they belong to, it is not Mara."""
_NOT_HIS = re.compile(
    r"\b(?:not|unlike|like|than|beside|except|excepting|save|(?:all|body|none|no\s+one|one)\s+but|but\s+for|"
    r"apart\s+from)\s+\Z"
)
_LIKES = re.compile(
    r"\b(?:admir\w+|lik(?:ed|ing|es)|lov(?:ed|ing|es)|prefer\w*|want(?:ed|s)|envi\w+|hat(?:ed|es)|dislik\w+|"
    r"(?:dis|mis)trust\w*|fear(?:ed|s)|sought|looked\s+for|weakness\s+for|fond\s+of)\b"
)
"""What somebody thinks of such eyes; whose they are nobody says."""
_KEEPSAKE = re.compile(r"\b(?:locket|brooch|keepsake|medallion|watch-?case|pocket-?book|envelope|album)\b")
THINGS_OWN = re.compile(
    r"'s?\s+(?:\w+\s+)?(?!eyes?\b|hair\b|gaze\b|head\b|face\b|neck\b|locks\b|"
    r"curls\b)\w+,?\s+(?:not\s+[A-Z]\w+,\s+)?(?:had|has)\b(?!\s+been)"
)
"""`Mara's doll had grey eyes`."""
_BOUND = re.compile(r"\b(?:of|in|upon|on|from|over)\s+\Z")
BODY = re.compile(
    r"'s?\s+(?:\w+\s+)?(?:forehead|brow|face|head|temples?|ears?|neck|nape|cheeks?|shoulders?|collar|chin|eyelids?|"
    r"lids|lashes|hair|plaits?|braids?|spectacles|hat|hood|bonnet|wound|eyes?)\b"
)
_THROUGH = re.compile(r"(?<!as )\b(?:through|out\s+of|from\s+under|from)\b[^,;]*\Z")
_CLOSE = 8
"""Characters between somebody and the `with` of his looks."""


def is_said_of_another(binder: Binder, number: int, owner: Mention, thing: Thing) -> bool:
    """Whether words beside the noun or beside the name give it to another."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    return bool(
        _is_beasts(told, sentence.start, sentence.end, thing)
        or _KEEPSAKE.search(sentence.text)
        or _ITS_OWN.search(told, thing.end, sentence.end)
        or (thing.cue.lower() in {"", "a", "an", "of"} and _LIKES.search(sentence.text))
        or _OF_ANOTHER.match(told, thing.end)
        or is_anothers(binder, number, thing)
        or _GIVEN.search(told, sentence.start, thing.cue_start + len(thing.cue))
        or _NOT_HIS.search(told, max(0, owner.start - 16), owner.start)
        or THINGS_OWN.match(told, owner.end)
        or _WAS_ANOTHERS.match(told, thing.end, sentence.end)
        or (
            _HIS_WERE.match(told, owner.end)
            and not re.search(r"\b(?:as|like)\s+\Z", told[max(0, owner.start - 8) : owner.start])
            and clause_at(sentence.text, owner.start - sentence.start)[0] > thing.end - sentence.start
        )
    )


_WAS_ANOTHERS = re.compile(
    r"[^;,]{0,40}?\s(?:was|were)\s+(?:the|an?|his|her)\s+(?:[a-z]+\s+)?[a-z]+(?:'s|s')(?=\s*[,.;])"
)
"""`The fair hair on the cushion was the governess's`."""
_HIS_WERE = re.compile(r"'s?(?:,[^,;]{2,50},|\s+own\b[^,;]{2,20})?\s+(?:had\s+been|was|were|are|is)\b")
"""`The fair hair was the stranger's; Mara's had been red`: hers is another."""


def _is_beasts(told: str, start: int, end: int, thing: Thing) -> bool:
    """Whether a beast can have the eyes: it stands before them, or they are said to be its own."""
    if BEASTS.search(told, start, thing.start):
        return True
    beast = BEASTS.search(told, thing.end, end)
    return beast is not None and not _WATCHED.search(told, thing.end, beast.start())


_ITS_OWN = re.compile(r"\bits\s+(?:own\s+)?(?:forehead|brow|face|eyes|head|neck|ears|cheeks?|temples)\b")
_WATCHED = re.compile(
    r"\b(?:watch\w*|follow\w*|look\w*|star\w+|rest\w*|fix\w*|fell|gaz\w+|met|upon|on|at|to|towards|over|"
    r"saw|sought)\s+(?:\w+\s+)?(?:the|an?|his|her|old)\s+(?:\w+\s+)?\Z"
)


_MIRROR = re.compile(
    r"\b(?:mirror|looking-glass|reflection|in(?:to)?\s+the\s+(?:\w+\s+)?(?:glass|water|window|pane)|shop-?\s?window)\b"
)
"""In which one sees oneself."""


_AND_SAW = re.compile(
    r"(?:\b(?:and|then)|,)\s+(?:\w+ly\s+)?(?:saw|met|noticed|beheld|encountered|faced)\s+(?:[a-z-]+,?\s+){0,3}\Z"
)
"""`Mara looked up and saw grey eyes in the hedge`."""


def is_beheld(binder: Binder, number: int, owner: Mention, thing: Thing) -> bool:
    """`Grey eyes looked at Mara`, `Mara looked into grey eyes`: she is there, and they are not hers."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    if owner.start > thing.end:
        return _AT_HIM.search(told, thing.end, owner.start) is not None and not BODY.match(told, owner.end)
    start, _ = clause_at(sentence.text, thing.start - sentence.start)
    between = told[owner.end : thing.start]
    if _MIRROR.search(between):
        return False
    if thing.cue.lower() not in PRONOUNS and _AND_SAW.search(between):
        return True
    if thing.cue.lower() in PRONOUNS or owner.start < sentence.start + start or _THROUGH.search(between):
        return False
    bare = thing.cue == "" and re.search(r",\s+(?:[\w-]+\s+){0,3}\Z", between)
    bound = _BOUND.search(told, sentence.start, owner.start)
    return _SEES.search(between) is not None and not bare and not bound


def is_anothers(binder: Binder, number: int, thing: Thing) -> bool:
    """`drew a face with grey eyes`, `a mild person with grey eyes`: it is said whose they are."""
    start = binder.prose.sentences[number].start
    before = binder.prose.told[start : thing.cue_start + len(thing.cue)]
    head, _, piece = before.rpartition(",")
    if head and any(one.end == start + len(head) for one in binder.mentions(number)):
        # `Mara, a slight woman with grey eyes,`: she herself.
        return False
    if any(
        found.start() < len(before) <= found.end() + _CLOSE
        for found in HIMSELF.finditer(binder.prose.sentences[number].text)
    ):
        # `a person with grey eyes, who proved to be Mara`.
        return False
    if _WITH_THEM.search(before):
        return not _is_apposed(binder, number, before)
    if thing.cue.lower() != "with" or not head:
        return False
    person = OTHERS.search(piece)
    return person is not None and not re.search(r"\b(?:he|she|[A-Z]\w+)\b", piece) and not re.match(r"\W*A\b", before)


_APPOSED = re.compile(
    r",\s+(?:still\s+|always\s+|now\s+)?an?\s+(?:[\w-]+,?\s+(?:and\s+)?){0,4}(?P<noun>man|woman|person|creature|figure|"
    r"girl|boy|fellow|lady|gentleman|lad|soul|body|being)\s+(?:with|who\s+had|whose)\s*\Z"
)


def _is_apposed(binder: Binder, number: int, before: str) -> bool:
    """`Mara sat there, a tired woman with grey eyes`: nobody else stands before it, and the noun is of her sex."""
    found = _APPOSED.search(before)
    people = named_people(binder, number)
    if found is None or len({one.key for one in people}) != 1 or OTHERS.search(before, 0, found.start()):
        return False
    noun, gender = found.group("noun"), binder.cast.gender(people[0].key)
    agrees = not (noun in MEN and gender == "f") and not (noun in WOMEN and gender == "m")
    start = binder.prose.sentences[number].start
    return agrees and not people[0].is_possessive and people[0].start - start < found.start()
