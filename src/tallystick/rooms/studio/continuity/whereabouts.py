"""Where somebody was on a day or a night that has a name: a date, a feast, or the night of something.

A sentence that names one person, one place and one such time says that the person was there, unless it tells of a way
from or to the place, of another day, or of what others did there.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import UNTOLD, is_claimed
from tallystick.rooms.studio.continuity.cleft import is_anothers_by_cleft
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, moment_of
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.events import OCCASIONS
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import KIN, OTHERS, about, bearer, clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import Place, only_place
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.subjects import is_anothers_doing, is_of_a_thing_sent
from tallystick.rooms.studio.continuity.tie_cues import OTHER_TIME
from tallystick.rooms.studio.continuity.vocabulary import words

_DATE = re.compile(DATE)
_PART = re.compile(r"\b(?:night|morning|evening|afternoon|noon|midnight|dawn|dusk)\b", re.IGNORECASE)
_DARK = re.compile(r"\b(?:night|midnight|evening|dusk|dawn)\b", re.IGNORECASE)
_OCCASION = "|".join(OCCASIONS)
_FEAST = re.compile(
    r"\b(?P<feast>Christmas\s+(?:Eve|Day|night)|New\s+Year's\s+(?:Eve|Day|night)|Midsummer\s+(?:Eve|Day|night)|"
    r"Twelfth\s+Night|All\s+Hallows(?:'?\s+Eve)?|Easter\s+(?:Sunday|Monday)|Good\s+Friday|Ash\s+Wednesday|"
    r"Whit\s+(?:Sunday|Monday)|May\s+(?:Day|Eve)|Michaelmas\s+(?:Day|Eve|night))\b|"
    r"\b(?P<part>night|evening|morning|afternoon|day)\s+(?:of|after|before)\s+(?:the\s+)(?:\w+\s+)?"
    rf"(?P<what>{_OCCASION})\b"
)
_FEAST_WORDS = frozenset(
    {*OCCASIONS, *words("christmas year's midsummer twelfth hallows easter friday wednesday whit may michaelmas")}
)
_AWAY = re.compile(
    r"\b(?:set\s+(?:out|off)|start(?:ed|ing)\s+(?:for|from)|travel(?:led|ling)|sail\w*|depart\w*|born|died|buried|"
    r"married|letters?\s+(?:from|came|to|arriv\w+|reached)|news|went\s+(?:to(?!\s+(?:bed|sleep|church|supper))|from)|"
    r"on\s+(?:his|her|the)\s+(?:way|road)|bound\s+for|(?:was|were)\s+to\s+(?:be|have)|wrote\s+to|(?:[Nn]obody|"
    r"[Nn]o\s+one|[Nn]one)\s+(?:had\s+|ever\s+)*(?:saw|seen|met|"
    r"found|heard)|(?:thoughts?|heart|mind|soul|spirit)\s+(?:was|were|had\s+been|lay|flew|went|dwelt)|talked|spoke|"
    r"thinking\s+of\s+(?=[A-Z])|"
    r"not\s+(?:on\s+)?(?:the|that)\s+night|(?:week|day|night|fortnight|month|year)s?\s+(?:later|before|after|"
    r"earlier)\b|(?:before|after|since(?![^,;]*,\s+(?:which|when|where)\b)|from|"
    r"than)\s+(?:that\s+of\s+)?the\s+(?:night|evening|"
    r"\w+(?:-\w+)?\s+of\s+(?=[A-Z]))|(?:another|other)\s+(?:night|evening|day)\s+than|was\s+(?:\w+\s+)?forgotten|"
    r"not\s+(?:with|"
    r"among|of)\s+(?:them|the\s+\w+)|not\s+(?:aboard|on\s+board)|(?:days?|hours?)\s+(?:from|off|short\s+of|out\s+of)|"
    r"behind\s+(?:him|"
    r"her)(?=\s*[.,;]|\s+when)|without\s+(?=[A-Z])|as\s+[A-Z][\w.\s]{1,24}?\s(?:learned|learnt|heard|was\s+told|read)|"
    r"previous|following|miles|leagues|would|should|might|meant\s+(?:to|for|that)|hoped|intended|expected|"
    r"promised|due|every\s+(?:night|year|week)|always|read\s+(?:of|about)|knew\s+nothing\s+of\s+it|in\s+the\s+(?:paper|"
    r"newspaper)|whom\s+[A-Z]|[Bb]y\s+the\s+time|plan\s+(?:had\s+been|was)|arrangement|"
    r"for\s+(?:[A-Z][\w.]*\s+){1,3}to\s+(?:be|have))\b"
)
"""A way, another day, or what is only heard of."""
_LEAVES = re.compile(
    r"(?<!not )(?<!never )(?<!nor )\b(?:left|quitted|leaving|fled|flight)\b(?!\s+(?:after\s+breakfast|at\s+(?:dawn|"
    r"daybreak|sunrise)|in\s+the\s+morning|(?:the\s+)?next\s+(?:day|morning))\b)"
    r"(?!\s+(?:there\s+|behind\s+)?(?:word|an?|his|her|behind|it|nothing)\b)"
)
_NO = re.compile(r"\b(?:not|never|nor|neither|hardly)\b|n't\b")
_STAYS = re.compile(
    r"\b(?:not|never|nor|n't)\s+(?:\w+\s+){0,3}?(?:leave|left|stir\w*|quit\w*|out|sleep|slept|beyond|outside|move\w*|"
    r"clos\w+|shut|rest|lie\b|set\s+foot|a\s+mile)\b"
)
_THERE = re.compile(
    r"\b(?:there|its?|them|in\s+the\s+town|inside|here|among\s+those|with\s+the\s+rest|stayed|danced|slept|sat|lay|"
    r"walked|watch\w*|stood)\b"
)


def whereabouts(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such stay that the file tells."""
    prose = narration.prose
    for number in prose.with_words(DATE_WORDS):
        sentence = prose.sentences[number]
        dates = list(_DATE.finditer(prose.told, sentence.start, sentence.end))
        moment = moment_of(dates[0]) if len(dates) == 1 else None
        part = _PART.search(sentence.text)
        if moment is None or not (moment.day and moment.month):
            continue
        when = "night" if _DARK.search(sentence.text) else part.group().lower() if part else ""
        details = (*map(str, moment.as_value()), when)
        yield from _stay(
            narration, binder, number, f"{moment.day}.{moment.month}.{moment.year or ''}", details, dates[0].start()
        )
    for number, found in prose.matches(_FEAST, _FEAST_WORDS):
        when = " ".join(found.group().lower().split())
        if not _DATE.search(prose.sentences[number].text):
            yield from _stay(narration, binder, number, when, (found.group("part") or "night",), found.start())


_TURNS = re.compile(r";|,\s+but\b|\bbut\b(?=[^,;]*,)")
_MEANT = re.compile(r"\b(?:intended|meant|hoped|expected|promised|due|would|should|might)\b")
"""What was to be is over where the sentence turns: `He had meant to push on; but …`."""
_SPENT_THERE = re.compile(r"\b(?:[Hh]e|[Ss]he)\s+(?:had\s+)?(?:spen|pass|slep|sat|lay|stay)\w*\s[^,;]{2,60}?\sthere\b")
_SINCE = re.compile(r",\s+and\s+(?:he|she)\s+(?:had\s+)?(?:always|never|ever|often)\b")
_TAKEN_UP = re.compile(
    r"[;,]\s+(?:and\s+)?(?:that|this|it)\s+was\s+the\s+(?:night|evening)\b|\b(?:pass|spen|slep|sat|lay|"
    r"stay)\w*\s+(?:\w+\s+){0,2}?there\b"
)
"""`did not quit Leeds; the night was passed there`."""
_APART = re.compile(r"[;—]|,\s+but\b")
_JOINS = re.compile(r"\b(?:there|among\s+them|one\s+of\s+them|with\s+them)\b")
_COMPANY = re.compile(r"\W*(?:\w+\s+){0,12}?(?:party|family|company|regiment|others|rest|crew|household)\b")


def _stay(
    narration: Narration, binder: Binder, number: int, when: str, details: tuple[str, ...], start: int
) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    at = start - sentence.start
    owner = about(binder, number)
    place = _place(binder, number, owner) if owner is not None else None
    if owner is None or place is None or not binder.cast.is_person(owner.key):
        return
    first, last = sorted((at, place.start - sentence.start))
    first = max(first, 0)
    told = _around(sentence.text, at, last)
    if _AWAY.search(told) or OTHER_TIME.search(told) or _LEAVES.search(told):
        return
    apart = _APART.search(sentence.text, first, last) and not _TAKEN_UP.search(sentence.text, first)
    if apart or not _is_there(binder, number, owner, place):
        return
    if _is_denied(sentence, owner, place):
        return
    if is_claimed(narration, number, (place.start, place.end), granted=True, memory=True, likened=False):
        yield fact_at(
            narration.prose, number, (place.start, place.end), owner, f"whereabouts on {when}", (place.value,),
            place.name, details=details,
        )  # fmt: skip


def _place(binder: Binder, number: int, owner: Mention) -> Place | None:
    """The one place of the sentence; `there` is that of the one before."""
    sentence, here = binder.prose.sentences[number], only_place(binder, number, owner)
    before = binder.prose.sentences[number - 1] if number > 0 else sentence
    near = before is not sentence and before.paragraph == sentence.paragraph
    if here is not None or not near or not _SPENT_THERE.search(sentence.text):
        return here
    return only_place(binder, number - 1, owner)


def _around(text: str, at: int, last: int) -> str:
    """The sentence without what was only meant before it turned, and without what somebody felt about it ever since."""
    turned = next(_TURNS.finditer(text, 0, max(at, 0)), None)
    start = turned.start() if turned and _MEANT.search(text, 0, turned.start()) else 0
    since = _SINCE.search(text, max(last, 0))
    return text[start : since.start() if since else len(text)]


_THINGS = re.compile(
    r"\W*(?:and\s+)?(?:[^,;]*,\s+)?(?:there\s+(?:was|were)\s+an?|(?:the|an?|his|her|two|three|some)\s+(?!(?:rain|"
    r"snow|wind|clock|clocks|bells?|"
    r"fog|moon|night|lamps?|storm|frost|streets?|sky|weather|sun|inn|town|house|fire|bed|light|landlord\w*|"
    r"evening)\b)[a-z-]+"
    r"\s+(?:was|were|lay|stood|had|spent|stayed)\b)",
    re.IGNORECASE,
)
"""`The jewels were at Leeds`, `there was a fire at Leeds`: whoever is named after that need not be there."""
_EXISTS = re.compile(
    r"\bthere\s+(?:was|were|had\s+been)\s+(?:an?|the|two|some)\s+(?:\w+\s+)?(?:fire|riot|storm|flood|fair|murder|"
    r"robbery|wedding|market|meeting|strike|earthquake|fog|frost|battle|wreck)\b"
)
_WHO_WAS_THERE = re.compile(
    r",\s+who\s+(?!was\s+not|never|had\s+never|should|would|might)(?:\w+\s+){1,5}?there\b|"
    r",\s+(?:in|at|on|under|over)\s+[^,;]{2,40}?\sthere,"
)
"""`It rained at Leeds, and Mara, who slept there, got wet`."""
_WHERE_HE = re.compile(r",?\s+(?:where|while)\s+")
_SOME_OF_THEM = re.compile(
    r",\s+(?:one|two|three|some|others|several|most|none|both)\s+(?:of\s+(?:them|whom)\s+)?(?:was|were|had|lay|slept)\b"
)
"""`Of those whom Mara had sent before her, two were at Leeds`."""


def _is_there(binder: Binder, number: int, owner: Mention, place: Place) -> bool:
    """Whether the person is in the clause of the place, or another clause takes it up: `and Mara danced there`."""
    sentence = binder.prose.sentences[number]
    start, end = clause_at(sentence.text, place.start - sentence.start)
    at = owner.start - sentence.start
    if _is_for_others(binder, number, owner, place):
        return False
    where = _WHERE_HE.match(sentence.text, place.end - sentence.start)
    # `a lamp burned at Leeds, where Mara was writing`.
    there = _WHO_WAS_THERE.match(sentence.text, max(owner.end - sentence.start, 0)) is not None
    writes = ((where is not None and where.end() == at) or there) and not owner.is_possessive
    if writes or (start <= at < end and (doer(binder, number, place.start) or at > place.start - sentence.start)):
        return True
    if start <= at < end:
        return bearer(binder, number, place.start, leads=True) is not None
    mine = clause_at(sentence.text, at) if at >= 0 else (0, 0)
    if (_NO.search(sentence.text, *mine) and not _STAYS.search(sentence.text, *mine)) or _EXISTS.search(
        sentence.text, start, place.start - sentence.start
    ):
        return False
    taken_up = _THERE.search(sentence.text, *mine) or re.search(r"\b(?:he|she|his|her|him)\b", sentence.text[start:end])
    # `It rained at Leeds, and Mara got wet`: nobody else is there.
    small = sentence.text if at == 0 else sentence.text[:1].lower() + sentence.text[1:]
    alone = not OTHERS.search(small, start, end) and not KIN.search(sentence.text)
    thing = is_anothers_doing(sentence.text, place.start - sentence.start, [at])
    if thing and taken_up is not None and taken_up.group() in {"it", "its", "them"}:
        # `The jewels were at Leeds, and Mara had never heard of them`.
        return False
    alone = alone and not thing and not _THINGS.match(sentence.text, start)
    return (taken_up is not None or alone) and bearer(binder, number, max(owner.end, sentence.start)) is not None


def _is_for_others(binder: Binder, number: int, owner: Mention, place: Place) -> bool:
    """Whether it is said of somebody else: of kin, of whom a cleft puts first, of some of those whom he sent."""
    sentence, at = binder.prose.sentences[number], owner.start - binder.prose.sentences[number].start
    here = place.start - sentence.start
    start, end = clause_at(sentence.text, here)
    spans = [(one.start - sentence.start, one.end - sentence.start) for one in named_people(binder, number)]
    cleft = bool(spans) and all(is_anothers_by_cleft(sentence.text, here, span) for span in spans)
    kin = owner.is_possessive and KIN.match(binder.prose.told, owner.end) is not None
    if (
        kin
        or cleft
        or is_of_a_thing_sent(sentence.text, here)
        or _SOME_OF_THEM.search(sentence.text, max(at, 0), max(here, 0))
    ):
        return True
    clause = sentence.text[start:end]
    company = not start <= at < end and (OTHERS.search(clause) or _COMPANY.match(clause))
    another = company and is_anothers_doing(sentence.text, here, [at])
    return bool(another) and not _JOINS.search(sentence.text, end)


def _is_denied(sentence: Sentence, owner: Mention, place: Place) -> bool:
    first, last = sorted((max(owner.start - sentence.start, 0), place.start - sentence.start))
    end, comma = (
        clause_at(sentence.text, place.start - sentence.start)[1],
        sentence.text.find(",", place.end - sentence.start),
    )
    told = sentence.text[first : max(last, min(end, comma) if comma > 0 else end)]
    told = UNTOLD.sub(" ", told)
    return _NO.search(told) is not None and not _STAYS.search(told)
