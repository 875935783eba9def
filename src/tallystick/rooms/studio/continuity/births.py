"""Where somebody was born or lives, and where somebody was on one night, in sentences about one person only."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, moment_of
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import words

_PROPER = r"[A-ZÀ-Þ][\w'-]*\w(?:\s+(?:(?:of|de|la|le|du|upon|on|the)\s+)?[A-ZÀ-Þ][\w'-]*\w){0,2}"
_P = (
    r"(?P<place>(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day|Mr|Mrs|"
    rf"Miss|Dr|Sir|Lady|Lord|Captain|Madame|Master|Aunt|Uncle|Father)\b){_PROPER})"
)
_BORN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Bb]orn|[Bb]red|[Cc]hristened)(?:\s+and\s+(?:bred|raised|brought\s+up|reared))?\s+(?:in|at|of)\s+{_P}",
        rf"\b(?:[Nn]ative|[Cc]hild|[Ss]on|[Dd]aughter)\s+of\s+(?:the\s+)?{_P}",
        rf"\b(?:saw|seen|beheld)\s+the\s+light(?:\s+of\s+(?:day|the\s+world))?\s+(?:in|at)\s+{_P}",
        rf"\b(?:came|come)\s+into\s+(?:the|this)\s+world\s+(?:in|at)\s+{_P}",
        rf"\b(?:drew|drawn)\s+(?:his|her)\s+first\s+breath\s+(?:in|at)\s+{_P}",
        rf"\bcradle\s+(?:had\s+)?(?:stood|rocked|was)\s+(?:in|at)\s+{_P}",
        rf"\bhail(?:ed|s|ing)\s+from\s+{_P}",
        (
            rf"\b(?:birthplace|native\s+(?:town|city|village|place|parish))(?:\s+of\s+[^,;]{{2,30}})?\s+(?:was|"
            rf"had\s+been|is|being)\s+{_P}"
        ),
        (
            rf"{_P}\s+(?:was|is|had\s+been|being)\s+(?:[^,;]{{0,30}}(?:'s|s')|the|his|her)\s+(?:birthplace|"
            rf"native\s+(?:town|city|village|"
            rf"place|parish))\b"
        ),
        rf"{_P}\s+(?:had\s+)?(?:bore(?!\s+(?:the|an?|no|his|her|witness)\b)|gave\s+birth\s+to|had\s+given\s+birth\s+to|saw\s+the\s+birth\s+of)\b",
        rf"(?:\bin|\bat)\s+{_P},?\s+where\s+[^,;]{{0,30}}\b(?:was|had\s+been)\s+born\b",
        rf"(?:\bin|\bat)\s+{_P}\s+that\s+[^,;]{{0,30}}\b(?:was|had\s+been)\s+born\b",
    )
)
_BIRTH_CUE = re.compile(
    r"(?<![-\w])(?<!\ba )[Bb]orn\b|(?<!gave )\bbirth(?:place)?\b|\b(?:drew|drawn)\s+(?:his\s+|"
    r"her\s+)?(?:first\s+)?breath\b|"
    r"\bborne\s+(?:him|her)\b|\b(?:opened\s+(?:his|her)\s+eyes\s+on|brought\s+(?:[\w.]+\s+){0,3}into)\s+the\s+world\b|"
    r"\blife\s+(?:had\s+)?beg[au]n\b|\bbeg[au]n\s+(?:his\s+|her\s+)?life\b|(?:\b(?:his|her)|'s)\s+native\b|"
    r"\bfirst\s+cry\b|\b(?:his|her)\s+beginnings\b|\b(?:came|come|was|were|and)\s+(?:originally\s+)?from\b(?=\s+[A-Z])"
)
_ADDRESS = (
    r"(?P<place>(?:[A-ZÀ-Þ][\w'-]*\w\s+){1,3}(?:Street|Row|Lane|Court|Square|Terrace|Alley|Place|Gardens?|Crescent|"
    r"Hill|Road|Avenue|"
    r"Close|Yard|Walk|Mews|Gate|Parade|Buildings|Wharf|Quay|Passage|Green|Fields|Bank|Inn)(?:\s+Hill)?)"
)
_HOME = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"\b(?:lived?|lives|living|dwelt|dwelling|lodged|lodging|resided|residing|at\s+home|home|house|rooms?|"
            rf"lodgings|windows?|door|"
            rf"doorstep|roof|parlour|garret|quarters|address|household|bed|floor|cottage|attic|abode|hearth|fireside|"
            rf"tenant|live[ds]?|found|lodging|landlady|landlord|slept|key|inhabitant),?\s+"
            rf"(?:[a-z']+,?\s+){{0,5}}?(?:in|at|on|was|of|into)\s+(?:[\w'-]+,?\s+){{0,4}}?{_ADDRESS}"
        ),
        rf"{_ADDRESS}[^;]*?\b(?:home|house|lodgings|rooms)\s+(?:was|were|stood|lay)\s+there\b",
        (
            rf"{_ADDRESS},?\s+where\s+[^;]{{0,40}}\b(?:lived|lodged|dwelt|resided|had\s+(?:his|her|a|two|three|rooms|"
            rf"lodgings))\b"
        ),
        (
            rf"{_ADDRESS}\s+that\s+[^,;]{{0,30}}\b(?:lived|lodged|dwelt|resided|had\s+(?:his|her)\s+(?:home|rooms|"
            rf"lodgings|house))\b"
        ),
        rf"\b(?:[Nn]umber\s+[\w-]+,?|[Aa]ddress\s+as|lodging\s+looked\s+(?:up)?on)\s+{_ADDRESS}",
        rf"\bIn\s+{_ADDRESS},?\s+(?:lived|lodged|dwelt)\b",
        rf"{_ADDRESS}\s+was\s+where\s+[^,;]{{2,30}}\b(?:lived|lodged|dwelt|had\s+(?:his|her|rooms|lodgings|a))\b",
        (
            rf"\bIn\s+{_ADDRESS},?\s+[^,;]{{2,30}}\s+(?:had|kept|rented)\s+(?:an?|two|three|four|his|"
            rf"her)\s+(?:\w+\s+)?(?:rooms?|house|lodgings?|bed|floor|garret)\b"
        ),
        rf"(?<=[a-z]),\s+of\s+{_ADDRESS},",
        rf"{_ADDRESS}\s+(?:was|had\s+been)\s+(?:[^,;]{{0,30}}(?:'s|s')|his|her)\s+(?:home|address)\b",
        rf"\b(?:back|home|returned|went\s+home)\s+to\s+(?:[\w'-]+\s+){{0,3}}?{_ADDRESS}",
    )
)
_PARENTS = re.compile(
    r"\b(?:mother|father|parents|people|wife|husband|son|daughter|sister|brother)\s+(?:was|were|had\s+been)\s+born\b|"
    r"'s\s+(?:horse|dog|mare|cat|parrot|pony|cook|maid|servant|clerk|partner|landlady|groom|nurse)\s+(?:was|had|is|came)\b"
)
_AND_NO_MORE = re.compile(r"\s*(?:[.;]|,\s+(?:and|where|though|which)\b)")
_STAYS = re.compile(r"\b(?:(?:did\s+)?not|never)\s+(?:once\s+)?(?:leave|stir|stirred|out|quit|left)\b")
"""`did not leave Leeds` is a way of being there."""
_AT_EASE = re.compile(
    r"\b(?:much|felt|feel|feeling)\s+at\s+home\b|\b(?:met|saw|knew|heard|hated|passed|watched|with|by)\s+(?:an?|the|every|some)\s+(?:\w+\s+)?"
    r"(?:native|house|door|cry|son|daughter|child)\b|\bfor\s+the\s+night\b|\bfirst\s+cry\s+of\s+the\b|\b(?:called|knocked|stopped|rang|inquired|asked)\s+at\s+an?\s+(?:\w+\s+)?(?:house|door)\b"
)
"""Somebody's house, but not his own."""
_NIGHT = re.compile(DATE)
_WAS_AT = re.compile(
    rf"\b(?:slept|spent|lay|been|was|were|stayed|passed|lodged|put\s+up|sat\s+up|kept|found|saw|remained|dined|"
    rf"supped|rested|woke|"
    rf"under\s+a\s+roof|stopped|lain|bed|night)\b[^;]{{0,60}}?\b(?:in|at)\s+{_P}"
)
_HERE = re.compile(rf"\b{_P}\s+(?:had|saw|kept|held|sheltered|housed|lodged)\b")
_IN = re.compile(rf"\b(?:[Ii]n|[Aa]t|leave|[Rr]eached|of|on|out\s+of)\s+{_P}")
_THERE = re.compile(rf"{_P}\s+(?:was|is)\s+where\b")
_SPENT = (_WAS_AT, _HERE, _THERE, _IN)
_GOES = re.compile(
    r"\b(?:left|set\s+(?:out|off)|started|travel\w*|sailed|rode|drove|departed|went|coming|thought|spoke|talked|born|"
    r"died|heard|"
    r"wrote|news|word|letter)\b"
)
_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|"
    r"September|October|November|December|Christmas)\b"
)
_SUPPOSED = re.compile(
    r"\b(?:might|would|could|should|may|if|perhaps|maybe|not|never|nor|neither|hardly|seemed|anywhere|rather|"
    r"instead)\b|n't\b|"
    r"\b(?:like|as|than)\s+(?:if\s+|though\s+)?(?:an?|one|any|the|some|most)\b"
)
_PART = re.compile(r"\b(night|morning|evening|afternoon|noon|midnight|dawn|dusk)\b")
_BIRTH_WORDS = frozenset(
    words(
        "cry beginnings born bred christened native child son daughter light world "
        "breath cradle hail hailed hails hailing birthplace birth bore borne eyes life began begun native from"
    )
)
_HOME_WORDS = frozenset(
    words(
        "live lived lives living dwelt dwelling lodged lodging resided residing home house room rooms lodgings window "
        "windows door "
        "doorstep roof parlour garret quarters address household bed floor cottage attic abode "
        "hearth fireside back returned number lodging landlady landlord slept key"
    )
)


def births(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every birthplace, address and place of a night."""
    for pattern in _BORN:
        for number, found in narration.prose.matches(pattern, _BIRTH_WORDS):
            yield from _placed(narration, binder, number, found, "birthplace")
    for pattern in _HOME:
        for number, found in narration.prose.matches(pattern, _HOME_WORDS):
            yield from _placed(narration, binder, number, found, "home")
    for number in narration.prose.with_words(DATE_WORDS):
        yield from _that_night(narration, binder, number)
    for number, found in narration.prose.matches(_BIRTH_CUE, _BIRTH_WORDS):
        yield from _born_there(narration, binder, number, found)


def _born_there(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """A birth in a sentence that names one person and one place, wherever in it they stand."""
    owner = alone(binder, number) or alone_before(binder, number) if narration.is_real(number) else None
    place = _only_place(binder, number, owner) if owner is not None else None
    told = narration.prose.told
    text = narration.prose.sentences[number].text
    if owner is None or place is None or _PARENTS.search(text) or _AT_EASE.search(text):
        return
    if found.group().endswith("from") and not _AND_NO_MORE.match(told, place.end):
        # `came from Leeds by the coach` is a journey.
        return
    before = re.split(r"[;:,—]|\bwhere\b|\bthat\b", told[narration.prose.sentences[number].start : found.end()])[-1]
    if not found.group().endswith("native") and _SUPPOSED.search(before):
        return
    span = (min(place.start, found.start()), max(place.end, found.end()))
    yield fact_at(narration.prose, number, span, owner, "birthplace", (_plain(place.name),), place.name)


def _only_place(binder: Binder, number: int, owner: Mention) -> Mention | None:
    """The one name of a sentence that is not its person's."""
    others = [one for one in binder.mentions(number) if one.key != owner.key]
    if len(others) != 1 or _MONTH.match(others[0].name) or binder.cast.acts(others[0].key):
        return None
    return None if others[0].is_possessive else others[0]


def _placed(narration: Narration, binder: Binder, number: int, found: re.Match[str], attribute: str) -> Iterator[Fact]:
    owner = _owner(narration, binder, number, found)
    if (
        owner is None
        or _is_supposed(narration, number, found)
        or _PARENTS.search(narration.prose.sentences[number].text)
        or _AT_EASE.search(narration.prose.sentences[number].text)
    ):
        return
    place = found.group("place")
    hard = attribute != "home"
    yield fact_at(narration.prose, number, found.span(), owner, attribute, (_plain(place),), place, hard=hard)


def _that_night(narration: Narration, binder: Binder, number: int) -> Iterator[Fact]:
    """A sentence that gives one date, one place and one person."""
    sentence = narration.prose.sentences[number]
    dates = list(_NIGHT.finditer(narration.prose.told, sentence.start, sentence.end))
    part = _PART.search(sentence.text)
    if len(dates) != 1 or part is None:
        return
    moment = moment_of(dates[0])
    told = narration.prose.told
    if not (moment.day and moment.month):
        return
    found = next((found for one in _SPENT if (found := one.search(told, sentence.start, sentence.end))), None)
    if found is None or (found.re is _IN and (_GOES.search(sentence.text) or not _is_only(binder, number, found))):
        return
    owner = _owner(narration, binder, number, found)
    if owner is None or _is_supposed(narration, number, found):
        return
    place = found.group("place")
    details = (*map(str, moment.as_value()), part.group())
    attribute = f"whereabouts on {moment.day}.{moment.month}.{moment.year or ''}"
    yield fact_at(narration.prose, number, found.span(), owner, attribute, (_plain(place),), place, details=details)


def _is_only(binder: Binder, number: int, found: re.Match[str]) -> bool:
    """Whether the sentence names no other place."""
    owner = alone(binder, number)
    place = _only_place(binder, number, owner) if owner is not None else None
    return place is not None and place.name == found.group("place")


def _owner(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    place = found.group("place")
    if not narration.is_real(number) or _MONTH.match(place):
        return None
    owner = alone(binder, number) or alone_before(binder, number)
    start, end = found.span("place")
    if owner is None or (
        owner.start < end and start < owner.end and owner.start >= narration.prose.sentences[number].start
    ):
        return None
    return None if binder.cast.acts(binder.cast.key_of_name(place) or "") else owner


def _is_supposed(narration: Narration, number: int, found: re.Match[str]) -> bool:
    """`might as well have been born in Leeds`; what stands after the place supposes something else."""
    before = narration.prose.told[narration.prose.sentences[number].start : found.start("place")]
    last = _STAYS.sub("", re.split(r"[;:,—]", before)[-1])
    return _SUPPOSED.search(last) is not None


def _plain(place: str) -> str:
    return " ".join(place.lower().removeprefix("the ").split()).removesuffix("'s")
