"""Who goes: the one person of a sentence who sets out, travels or comes, whoever else stands by.

The going may be a verb of which he is the subject (`Mara left`), a noun that is his (`Mara's departure`, `the coming of
Mara`), or what others do with him (`they waved Mara off to Leeds`, `the year that brought Mara to Leeds`). Where a date
is tied to it by a `when` or `the day that`, only what follows the tie counts: `The bank failed on the Monday when Mara
left`.
"""

import re

from tallystick.rooms.studio.continuity import tie_cues as cues
from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.doers import doer, is_by_another
from tallystick.rooms.studio.continuity.focus import BOUND, KIN, OTHERS, about, bearer, clause_at
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.subjects import is_anothers_doing, is_of_a_thing_sent

_GOING = (
    r"(?:journey(?:ing)?s?|trip|voyage|passage|crossing|ride|drive|march|walk|travels|travelling|departure|going|"
    r"setting\s+(?:out|off|forth)|leaving|leave-taking|start|starting|coming|arrival|arriving|settling|settlement|"
    r"removal|removing|moving|appearance|advent|entry|entrance|flight|exodus|first\s+(?:sight|day|year|night|"
    r"winter|summer)|residence|establishment)"
)
_HIS_GOING = re.compile(rf"'s?\s+(?:own\s+)?(?:[a-z-]+\s+){{0,2}}?{_GOING}\b")
_GOING_OF = re.compile(rf"\b{_GOING}\s+(?:of|for)\s+(?:(?:old|poor|young)\s+)?\Z", re.IGNORECASE)
_BY_OTHERS = re.compile(
    r"\b(?:t(?:ook|aken?|aking)|carr(?:ied|y|ying)|br(?:ought|ing|inging)|b(?:ore|orne|earing)|dr(?:ove|iven?|iving)|"
    r"saw|see|seen|seeing|waved?|waving|sen[dt]|set|setting|put|land(?:ed)?|convey(?:ed|ing)?|deliver(?:ed|ing)?|"
    r"deposit(?:ed|ing)?|led|drew|drawn|g[ai]v(?:en?|ing)|fetch(?:ed)?|call(?:ed)?|summon(?:ed)?|despatched|"
    r"dispatched|whirl(?:ed)?|hurr(?:ied|y)|ferr(?:ied|y)|row(?:ed)?|haul(?:ed)?|shipped|cast|dropped|hustled|"
    r"accompan(?:ied|y)|escort(?:ed)?|start(?:ed)?|packed|got|get|getting|helped|found|find|caught|wished|bade|bidden)"
    r"\s+(?:down\s+|off\s+|away\s+|out\s+)?\Z"
)
_ON_HIS_WAY = re.compile(
    r",?\s+(?:[a-z-]+\s+){0,4}?(?:off|away|forth|down|(?:on|upon)\s+(?:his|her|the)\s+(?:way|road|journey)|to|for|"
    r"towards?|into|at|in|farewell|good-?bye|godspeed)\b(?!\s+(?:dinner|supper|church|bed|tell|say|the\s+door)\b)"
)
"""`waved Mara off`, `set Mara down at Leeds`: whoever does it, she is the one who goes."""
_OPENING = re.compile(
    r"\W*(?:(?:On|Upon|After|Before|Since|When|While|Though)\s+)?[A-Za-z]+ing\b(?!\s+(?:was|is|had|came)\b)"
)
_FRONTED = re.compile(r"\A\W*(?:In|During|After|For|Through|Over|Of|All)\s+(?:all\s+)?(?:the|those|these)\s+\Z")
_ITS_SUBJECT = re.compile(
    r"\s+(?:of\s+(?:his|her|the)\s+\w+|between\s+\w+ing|on\s+the\s+(?:way|road))\b[^,;]*,\s+(?:(?:old|poor)\s+)?"
)
"""`In the six days between leaving home and reaching Leeds, Mara …`."""
_IT_LASTED = re.compile(
    rf"\b{_GOING}\s+to\b[^;:—]*[;:,—]\s+(?:and\s+|but\s+|for\s+)?it\s+(?:had\s+)?(?:lasted|took|taken|cost|was|occupied)\s+"
    r"(?:him\s+|her\s+)?(?:\w+\s+)?\Z"
)
"""`They promised Mara a short journey to Leeds; it lasted six days`."""
_FAMILY = re.compile(r"\W*The\s+[A-Z][a-z]+s(?:,|\s+(?:who|had|were|of|at|from|next|opposite|over)\b)")
_AFTER_COMMA = re.compile(r",\s+(?:(?:old|poor|young)\s+)?\Z")
_MEANWHILE = re.compile(r"\b(?:just\s+)?(?:as|when|while)\s+(?=(?:[A-Z][\w.]*\s+)*[A-Z]\w+\s)")
"""`They stood at the gate on Monday and waved as Mara left`."""
_WITHOUT = re.compile(r"\b(?:without|not|instead\s+of)\s+\Z")


def traveller(binder: Binder, number: int, found: re.Match[str], verbs: re.Pattern[str]) -> Mention | None:
    """Who goes, in a sentence that gives the going a day, a length or a year.

    Args:
        binder: The file's.
        number: The sentence.
        found: The day, the length or the year.
        verbs: The words for this kind of going.
    """
    sentence = binder.prose.sentences[number]
    people = named_people(binder, number)
    named = [one.start - sentence.start for one in people]
    if named and all(_WITHOUT.search(sentence.text, 0, at) for at in named):
        return None
    if _is_the_ones_named(sentence, found):
        return about(binder, number)
    linked = cues.LINKED.match(found.string, found.end(), sentence.end) is not None
    family = _FAMILY.match(sentence.text) and people and people[0].end < found.start()
    if family or (not linked and is_of_a_thing_sent(sentence.text, found.start() - sentence.start)):
        # `The Hendersons, who lived opposite Mara, had been in Leeds since 1790`.
        return None
    if len({one.key for one in people}) == 1 and any(_is_taken(sentence.text, sentence.start, one) for one in people):
        return people[0]
    if any(_is_subject_of_opening(sentence, found, one) for one in people if not one.is_possessive):
        return about(binder, number)
    return _by_verb(binder, number, found, verbs, named) or _leader(binder, number, found, people)


def _is_the_ones_named(sentence: Sentence, found: re.Match[str]) -> bool:
    """`her six days`, `a journey to Leeds; it lasted six days`, `there were six notches`: his who is named."""
    at = found.start() - sentence.start
    if cues.OWNED.search(sentence.text, 0, at) or found.groupdict().get("tally"):
        return True
    alone = not (OTHERS.search(sentence.text) or KIN.search(sentence.text))
    return alone and _IT_LASTED.search(sentence.text, 0, at) is not None


def _is_subject_of_opening(sentence: Sentence, found: re.Match[str], one: Mention) -> bool:
    """`Moving to Leeds in 1790, Mara had watched the men …`, `In the six days of her journey, Mara …`."""
    if _FRONTED.search(sentence.text, 0, found.start() - sentence.start):
        return _ITS_SUBJECT.fullmatch(found.string, found.end(), one.start) is not None
    after = found.end() <= one.start and _AFTER_COMMA.search(sentence.text, 0, one.start - sentence.start)
    return bool(after) and _OPENING.match(sentence.text) is not None


def _leader(binder: Binder, number: int, found: re.Match[str], people: list[Mention]) -> Mention | None:
    """Of several people the one who opens the clause of the value, where no other is named after it."""
    sentence = binder.prose.sentences[number]
    start, end = clause_at(sentence.text, found.start() - sentence.start)
    here = [one for one in people if start <= one.start - sentence.start < end]
    if len({one.key for one in here}) != 1 or len({one.key for one in people}) == 1 or here[0].is_possessive:
        return None
    later = [one for one in people if one.start > here[0].start and one.key != here[0].key]
    bound = BOUND.search(sentence.text, 0, here[0].start - sentence.start)
    return None if later or bound or OTHERS.search(sentence.text, start, end) else here[0]


def _is_taken(text: str, start: int, one: Mention) -> bool:
    """Whether the going is his by a noun, or is done to him by others."""
    first, last = one.start - start, one.end - start
    if one.is_possessive:
        return _HIS_GOING.match(text, last) is not None
    if _GOING_OF.search(text, 0, first):
        return True
    return _BY_OTHERS.search(text, 0, first) is not None and _ON_HIS_WAY.match(text, last) is not None


def _by_verb(
    binder: Binder, number: int, found: re.Match[str], verbs: re.Pattern[str], named: list[int]
) -> Mention | None:
    """The subject of the verb nearest to the value, else of any other of the sentence."""
    sentence = binder.prose.sentences[number]
    start, end = clause_at(sentence.text, found.start() - sentence.start)
    linked = cues.LINKED.match(found.string, found.end(), sentence.end) or _MEANWHILE.search(
        found.string, found.end(), sentence.end
    )
    at = found.start() - sentence.start
    alone = not any(start <= one < at for one in named)
    if linked is None and verbs is not cues.LEAVES and alone and is_anothers_doing(sentence.text, at, named):
        # `The mail took six days, and Mara had no letter`: nobody named stands before the value in its clause.
        return None
    places = [sentence.start + one.start() for one in verbs.finditer(sentence.text)]
    if linked is not None:
        after = [at for at in places if at >= linked.end()]
        owner = next((owner for at in after if (owner := doer(binder, number, at)) is not None), None)
        if owner is not None:
            return owner
    here = [at for at in places if start <= at - sentence.start < end]
    done = [at for at in here if not cues.WAYS.match(sentence.text, at - sentence.start)]
    for at in done or here:
        if (owner := doer(binder, number, at)) is not None:
            return owner
    bystander = [one for one in named if start <= one < end]
    if (
        not here
        and linked is None
        and not bystander
        and is_by_another(binder, number, sentence.start + max(end - 1, 0))
    ):
        # `In 1790 they pulled the bridge down, over which Mara had walked`: what is dated is not hers.
        return None
    away = [at for at in places if at in here or cues.GOES_TO.match(sentence.text, at - sentence.start)]
    if not places or any(is_by_another(binder, number, at) for at in away):
        return None
    elsewhere = (doer(binder, number, at) for at in places if at not in here)
    owner = next((owner for owner in elsewhere if owner is not None), None)
    return owner or (_whose(binder, number, found, named) if named else None)


def _whose(binder: Binder, number: int, found: re.Match[str], named: list[int]) -> Mention | None:
    sentence = binder.prose.sentences[number]
    if is_anothers_doing(sentence.text, found.start() - sentence.start, named):
        return None
    return bearer(binder, number, found.start(), leads=True) or doer(binder, number, found.start())
