"""Whose eyes or hair a sentence shows, where no possessive says so."""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.anothers import (
    BEASTS,
    BODY,
    THINGS_OWN,
    is_anothers,
    is_beheld,
    is_said_of_another,
)
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.focus import KIN, OTHERS, about, bearer, clause_at
from tallystick.rooms.studio.continuity.identity import identified
from tallystick.rooms.studio.continuity.owners import PRONOUNS, Thing, owner_of
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.shown import shown
from tallystick.rooms.studio.continuity.vocabulary import MEN, WOMEN, words

_OTHERS = frozenset(words("my your our their its another's nobody's everybody's"))
_TURNED_BY_HIM = re.compile(r"(?:,?\s+(?:that|which))?\s+(?=[A-Z]|he\b|she\b)")
_WERE_HIS = re.compile(
    r",?\s+(?:which|and\s+they|that)\s+(?:were|was|belonged\s+to)\s+(?=[A-Z])|"
    r",\s+(?=(?:[A-Z][\w.]*\s+){0,2}[A-Z]\w+'s[,.;])|\s+belong(?:ed|ing)\s+to\s+(?=[A-Z])"
)
_OF_HIS = re.compile(r"'s?\s+[a-z]")
_EITHER = re.compile(
    r"\b(?:child|baby|infant|servant|friend|cousin|person|creature|guest|visitor|twin|orphan|cook|patient)\b"
)
_CARRIED = re.compile(
    r"\b(?:[Tt]he|[Aa]n?)\s+(?:\w+\s+)?[a-z]+\s+(?:that|which|whom)\s+(?:[A-Z][\w.]*\s+)+[a-z]+(?:\s+[a-z]+){0,4}\s*\Z"
)
"""`The doll that Mara carried had grey eyes`."""
_FACE = re.compile(r"\b(?:in|from|[Oo]ut\s+of)\s+[^,;]{2,30}\s(?:face|head)\b", re.IGNORECASE)


_BEAST_HAS = re.compile(rf"(?:{BEASTS.pattern.partition('(?!')[0]})\s+(?:\w+ly\s+|all\s+)?\Z")
"""`The doll had blue eyes, and Mara had broken it`."""


def whose(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """The owner of eyes or hair: by the word before them, by what follows them, or by the company."""
    cue = thing.cue.lower()
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    if cue == "its" or _LIKE_HIS.match(told, thing.end):
        return _as_told(binder, number, thing)
    if cue in _HAS and _BEAST_HAS.search(told, sentence.start, thing.cue_start):
        return None
    if cue in _OTHERS or cue == "like" or (cue in _HAS and _CARRIED.search(told, sentence.start, thing.cue_start)):
        return None
    owner = owner_of(binder, number, thing)
    if owner is not None:
        return None if is_anothers(binder, number, thing) or THINGS_OWN.match(told, owner.end) else owner
    return None if cue.endswith(("'s", "s'")) else _by_words_around(binder, number, thing)


def _by_words_around(binder: Binder, number: int, thing: Thing) -> Mention | None:
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    if after := (_WERE_HIS.match(told, thing.end, sentence.end) or _TURNED_BY_HIM.match(told, thing.end, sentence.end)):
        named = binder.named_from(number, after.end())
        if named is not None and binder.cast.is_person(named.key):
            return None if _OF_HIS.match(told, named.end) else named
    return (
        shown(binder, number, thing)
        or _by_body(binder, number, thing)
        or _by_company(binder, number, thing)
        or _among_others(binder, number, thing)
        or (identified(binder, number, thing.end) if OTHERS.search(told, sentence.start, thing.start) else None)
    )


_HAS = frozenset({"had", "has"})
_LIKE_HIS = re.compile(
    r"\s+(?:like|such\s+as)\s+(?:his|hers?|(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s?)(?=\s*[,.;]|\s+(?:ought|was|were|should|"
    r"could|would|had|did|needed?|needs|must|will|are|is|might|may|never|always|wanted|deserved|went|became|on|in)\b)"
)
_THE_FACE = re.compile(r"\b(?:faces?|countenance|features|head)\b")


def _as_told(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """`was told that hair like hers …`, `Mara's face, with its grey eyes`: of whom the sentence is."""
    text = binder.prose.told[binder.prose.sentences[number].start : thing.start]
    if thing.cue.lower() == "its" and (not _THE_FACE.search(text) or BEASTS.search(text)):
        return None
    return about(binder, number)


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
    if is_said_of_another(binder, number, owner, thing) or _SELF.search(told, sentence.start, thing.start):
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
    at, named = thing.start - sentence.start, owner.end - sentence.start
    seen = [one for one in others if _SEEN_BY.search(sentence.text, one.end(), at)]
    others = [one for one in others if one not in seen]
    # `kissed the girl's head, where the fair hair was parted`: what hangs on another is another's.
    hung = _HANGS_ON.match(sentence.text, start) is not None
    here = [one for one in others if (start if not hung else named) <= one.start() < at]
    return None if here or (not seen and is_beheld(binder, number, owner, thing)) else owner


_SELF = re.compile(r"\b(?:I|me|my|mine|we|us|our|she|they)\b")
_SEEN_BY = re.compile(
    r"\b(?:saw|seen|noticed|remarked|observed|found|recognised|recognized|knew|caught|marked|met|looked\s+into|"
    r"noted)\s+"
    r"(?:[\w\s]{2,24}?\s)?(?:that\s+|how\s+)?(?:the|those|these|that|in)\s+(?:[\w-]+,?\s+){0,3}\Z"
)
"""Whoever sees them has others."""
_HANGS_ON = re.compile(r"\W*(?:where|which|whose|whom|who)\b")
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
        if one.is_possessive and near and BODY.match(told, one.end):
            return one if binder.cast.is_person(one.key) and len(named_people(binder, number)) == 1 else None
    return None


def _by_company(binder: Binder, number: int, thing: Thing) -> Mention | None:
    sentence, cue = binder.prose.sentences[number], thing.cue.lower()
    if cue in PRONOUNS and not binder.mentions(number):
        return None
    owner = bearer(binder, number, thing.start) or (_by_sex(binder, number, cue, thing) if cue in PRONOUNS else None)
    if owner is None or is_said_of_another(binder, number, owner, thing):
        return None
    here = sentence.start <= owner.start < sentence.end and not _FACE.search(sentence.text)
    return None if here and is_beheld(binder, number, owner, thing) else owner


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
