"""Whose eyes or hair a sentence shows, where no possessive says so."""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.colours import EYES, HAIR
from tallystick.rooms.studio.continuity.focus import HIMSELF, KIN, OTHERS, about, bearer, clause_at
from tallystick.rooms.studio.continuity.owners import PRONOUNS, Thing, owner_of
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import MEN, WOMEN, words

_OTHERS = frozenset(words("my your our their its another's nobody's everybody's"))
_OF_ANOTHER = re.compile(
    rf"\s+of\s+(?!(?:an?|the)\s+(?:[\w-]+,?\s+){{0,3}}(?:{'|'.join((*EYES, *HAIR))})\b)"
    r"(?:(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?\s+(?!(?:was|were|is|had|has)\b)[a-z]+|the|an?|his|her|their|some|"
    r"another|this|that|each)\b(?!\s+(?:head|brow|neck|face))"
)
_TURNED_BY_HIM = re.compile(r"(?:,?\s+(?:that|which))?\s+(?=[A-Z]|he\b|she\b)")
_WERE_HIS = re.compile(
    r",?\s+(?:which|and\s+they|that)\s+(?:were|was|belonged\s+to)\s+(?=[A-Z])|"
    r",\s+(?=(?:[A-Z][\w.]*\s+){0,2}[A-Z]\w+'s[,.;])|\s+belong(?:ed|ing)\s+to\s+(?=[A-Z])"
)
_BEASTS = re.compile(
    r"\b(?:dog|horse|cat|mare|pony|doll|bird|hound|puppy|kitten|owl|wolf|ox|cow|donkey|mule|lion|tiger|monkey|parrot|"
    r"terrier|spaniel|idol)\b(?!'s|\s+(?:that|had|lay|knew|barked|howled))"
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
_THINGS_OWN = re.compile(
    r"'s?\s+(?:\w+\s+)?(?!eyes?\b|hair\b|gaze\b|head\b|face\b|neck\b|locks\b|"
    r"curls\b)\w+,?\s+(?:not\s+[A-Z]\w+,\s+)?(?:had|has)\b(?!\s+been)"
)
"""`Mara's doll had grey eyes`."""
_BOUND = re.compile(r"\b(?:of|in|upon|on|from|over)\s+\Z")
_OF_HIS = re.compile(r"'s?\s+[a-z]")
_BODY = re.compile(
    r"'s?\s+(?:\w+\s+)?(?:forehead|brow|face|head|temples?|ears?|neck|nape|cheeks?|shoulders?|collar|chin|eyelids?|"
    r"lids|lashes|hair|plaits?|braids?|spectacles|hat|hood|bonnet|wound|eyes?)\b"
)
_THROUGH = re.compile(r"(?<!as )\b(?:through|out\s+of|from\s+under|from)\b[^,;]*\Z")
_EITHER = re.compile(
    r"\b(?:child|baby|infant|servant|friend|cousin|person|creature|guest|visitor|twin|orphan|cook|patient)\b"
)
_CARRIED = re.compile(
    r"\b(?:[Tt]he|[Aa]n?)\s+(?:\w+\s+)?[a-z]+\s+(?:that|which|whom)\s+(?:[A-Z][\w.]*\s+)+[a-z]+(?:\s+[a-z]+){0,4}\s*\Z"
)
"""`The doll that Mara carried had grey eyes`."""
_CLOSE = 8
"""Characters between somebody and the `with` of his looks."""
_FACE = re.compile(r"\b(?:in|from|[Oo]ut\s+of)\s+[^,;]{2,30}\s(?:face|head)\b", re.IGNORECASE)


def whose(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """The owner of eyes or hair: by the word before them, by what follows them, or by the company."""
    cue = thing.cue.lower()
    if cue in _OTHERS or cue == "like":
        return None
    if cue in {"had", "has"} and _CARRIED.search(
        binder.prose.told, binder.prose.sentences[number].start, thing.cue_start
    ):
        return None
    owner = owner_of(binder, number, thing)
    if owner is not None:
        return None if _is_anothers(binder, number, thing) or _THINGS_OWN.match(binder.prose.told, owner.end) else owner
    if cue.endswith(("'s", "s'")):
        return None
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    if after := (_WERE_HIS.match(told, thing.end, sentence.end) or _TURNED_BY_HIM.match(told, thing.end, sentence.end)):
        named = binder.named_from(number, after.end())
        if named is not None and binder.cast.is_person(named.key):
            return None if _OF_HIS.match(told, named.end) else named
    return _by_body(binder, number, thing) or _by_company(binder, number, thing) or _among_others(binder, number, thing)


def _among_others(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """The one who has a name, where nobody else can have the eyes: by no word beside them, nor as who has them."""
    sentence, told = binder.prose.sentences[number], binder.prose.told
    owner, cue = about(binder, number), thing.cue.lower()
    if (
        owner is None
        or cue in {"", "with", "had", "has", "have", "having", "whose", "in"}
        or owner.start < sentence.start
    ):
        return None
    others = [one for one in OTHERS.finditer(sentence.text) if not _REFERS.match(sentence.text, one.end())]
    start, _ = clause_at(sentence.text, thing.start - sentence.start)
    if _is_said_of_another(binder, number, owner, thing) or _SELF.search(sentence.text):
        return None
    if _HAD_THE.search(told, sentence.start, thing.cue_start) or KIN.search(sentence.text):
        return None
    if cue in PRONOUNS:
        # `What the child saw in Mara was that her eyes were grey`: they are the subject, and she is named last.
        near = all(
            one.end() < owner.start - sentence.start for one in others if sentence.start + one.start() < thing.start
        )
        agrees = binder.cast.gender(owner.key) in {"m" if cue == "his" else "f", None}
        return (
            owner
            if near and agrees and owner.start < thing.start and _SUBJECT.search(told, sentence.start, thing.cue_start)
            else None
        )
    here = [one for one in others if start <= one.start() < thing.start - sentence.start]
    return None if here or _is_beheld(binder, number, owner, thing) else owner


_SELF = re.compile(r"\b(?:I|me|my|mine|we|us|our|she|they)\b")
_HAD_THE = re.compile(r"\b(?:had|has|have|with)\s+\Z")
_REFERS = re.compile(r"\s+(?:of|at|in)\s+[A-Z]")
_SUBJECT = re.compile(r"(?:\b(?:that|for|because|so|how|where|and)|,)\s+(?:the\s+\w+\s+of\s+)?\Z")


def _by_body(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """`brushed the black hair back from Mara's forehead`: where it grows says whose it is."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    _, end = clause_at(sentence.text, thing.start - sentence.start)
    touched = thing.cue.lower() not in {*PRONOUNS, "with"} and not thing.cue.endswith(("'s", "s'"))
    if thing.cue.lower() in PRONOUNS and OTHERS.search(told, sentence.start, thing.start):
        # `The constable lifted his grey eyes to Mara's face`.
        return None
    for one in binder.mentions(number):
        near = thing.end <= one.start < sentence.start + end or (one.end < thing.start and touched)
        if one.is_possessive and near and _BODY.match(told, one.end):
            return one if binder.cast.is_person(one.key) and len(named_people(binder, number)) == 1 else None
    return None


def _by_company(binder: Binder, number: int, thing: Thing) -> Mention | None:
    sentence, cue = binder.prose.sentences[number], thing.cue.lower()
    if cue in PRONOUNS and not binder.mentions(number):
        return None
    owner = bearer(binder, number, thing.start) or (_by_sex(binder, number, cue, thing) if cue in PRONOUNS else None)
    if owner is None or _is_said_of_another(binder, number, owner, thing):
        return None
    here = sentence.start <= owner.start < sentence.end and not _FACE.search(sentence.text)
    return None if here and _is_beheld(binder, number, owner, thing) else owner


def _is_said_of_another(binder: Binder, number: int, owner: Mention, thing: Thing) -> bool:
    """Whether words beside the noun or beside the name give it to another."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    return bool(
        _BEASTS.search(sentence.text)
        or _KEEPSAKE.search(sentence.text)
        or (thing.cue.lower() in {"", "a", "an", "of"} and _LIKES.search(sentence.text))
        or _OF_ANOTHER.match(told, thing.end)
        or _is_anothers(binder, number, thing)
        or _GIVEN.search(told, sentence.start, thing.cue_start + len(thing.cue))
        or _NOT_HIS.search(told, max(0, owner.start - 16), owner.start)
        or _THINGS_OWN.match(told, owner.end)
        or _WAS_ANOTHERS.match(told, thing.end, sentence.end)
        or (
            _HIS_WERE.match(told, owner.end)
            and clause_at(sentence.text, owner.start - sentence.start)[0] > thing.end - sentence.start
        )
    )


_WAS_ANOTHERS = re.compile(
    r"[^;,]{0,40}?\s(?:was|were)\s+(?:the|an?|his|her)\s+(?:[a-z]+\s+)?[a-z]+(?:'s|s')(?=\s*[,.;])"
)
"""`The fair hair on the cushion was the governess's`."""
_HIS_WERE = re.compile(r"'s?(?:,[^,;]{2,50},|\s+own\b[^,;]{2,20})?\s+(?:had\s+been|was|were|are|is)\b")
"""`The fair hair was the stranger's; Mara's had been red`: hers is another."""


def _is_beheld(binder: Binder, number: int, owner: Mention, thing: Thing) -> bool:
    """`Grey eyes looked at Mara`, `Mara looked into grey eyes`: she is there, and they are not hers."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    if owner.start > thing.end:
        return _AT_HIM.search(told, thing.end, owner.start) is not None and not _BODY.match(told, owner.end)
    start, _ = clause_at(sentence.text, thing.start - sentence.start)
    between = told[owner.end : thing.start]
    if thing.cue.lower() in PRONOUNS or owner.start < sentence.start + start or _THROUGH.search(between):
        return False
    bare = thing.cue == "" and re.search(r",\s+(?:[\w-]+\s+){0,3}\Z", between)
    bound = _BOUND.search(told, sentence.start, owner.start)
    return _SEES.search(between) is not None and not bare and not bound


_DOING = re.compile(r",\s+[a-z]+ing\s+(?:[a-z]+\s+)?\Z")


def _by_sex(binder: Binder, number: int, cue: str, thing: Thing) -> Mention | None:
    """The only one named, where `his` or `her` can be nobody else's by the sex of those who have no name."""
    people = named_people(binder, number)
    gender = "m" if cue == "his" else "f"
    rivals = MEN if gender == "m" else WOMEN
    text = binder.prose.sentences[number].text
    if len({one.key for one in people}) != 1 or binder.cast.gender(people[0].key) != gender:
        return None
    either = _EITHER.search(text) if gender == "f" else OTHERS.search(text)
    at = thing.cue_start - binder.prose.sentences[number].start
    start, _ = clause_at(text, at)
    if _DOING.search(text, start, at) and OTHERS.search(text, start, at):
        # `said the guide, shaking back her hair`: whoever does it does it to his own.
        return None
    return None if either or re.search(rf"\b(?:{'|'.join(rivals)})\b", text) or KIN.search(text) else people[0]


def _is_anothers(binder: Binder, number: int, thing: Thing) -> bool:
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
        return True
    if thing.cue.lower() != "with" or not head:
        return False
    person = OTHERS.search(piece)
    return person is not None and not re.search(r"\b(?:he|she|[A-Z]\w+)\b", piece) and not re.match(r"\W*A\b", before)
