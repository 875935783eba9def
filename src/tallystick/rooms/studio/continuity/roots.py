"""Where somebody comes from and where somebody lives, in sentences that name one person and one place."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import about, bearer
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import LET_OUT, NEVER_THERE, Place, only_place
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.subjects import is_anothers_doing
from tallystick.rooms.studio.continuity.vocabulary import words

_BORN_THERE = re.compile(
    r"(?<![-\w])(?<!\ba )(?<!\bone )(?<!\bman )(?<!\bwoman )[Bb]orn\b|(?<!gave )(?<!given )(?<!giving )\bbirth(?:place|"
    r"right)?\b(?!-)|\b(?:saw|seen|beheld)\s+(?:the\s+)?(?:first\s+)?(?:light|daylight)\b|\bfirst\s+(?:opened\b|(?:saw|"
    r"seen|beheld|looked)\s+(?:up)?(?:on\s+)?(?:the|this)\s+(?:world|day|light))|\bopened\s+(?:his|"
    r"her)\s+eyes\s+(?:up)?on\b|\bdelivered\s+of\b|\bbrought\s+to\s+bed\b|\b(?:drew|drawn|took|taken)\s+(?:his|"
    r"her)\s+first\b|\b(?:(?:his|her)|'s)\s+first\s+(?:breath|cry|steps|breaths)\b|\b(?:came|come|brought|arrived|"
    r"entered)\s+(?:[\w.]+\s+){0,3}?(?:into\s+)?(?:the|this)\s+world\b|\b(?:was|is|being|as|,)\s+(?:an?|the|"
    r"to\s+be\s+a)\s+(?:\w+\s+)?native\b|,\s+a\s+native\b|(?:\b(?:his|her)|'s)\s+(?:own\s+)?native\b|\A\W*(?:A|"
    r"The)\s+native\b|\bcradle\b|\bcradled\b|\bbeg[au]n\s+(?:his\s+|her\s+)?(?:days|life|career|existence|"
    r"pilgrimage)\b|\b(?:came|come)\s+into\s+(?:being|existence|life)\b|\b(?:had\s+|has\s+)?(?:produced|bred|reared|"
    r"fathered|mothered)\s+(?=[A-Z])|\bhail(?:ed|s|ing)\s+from\b|\boriginally\b|\b(?:christened|baptised|baptized)\b|"
    r"\bbr(?:ought|inging)\s+forth\b|\b(?:was|were|is)\s+from\s+(?=[A-Z])|\b(?:came|"
    r"comes)\s+from\s+(?=[A-Z]\w+\s*(?:[.;]|,\s+(?:and\s+(?:was|is|had)|where|which)\b))|"
    r"\band\s+from\s+(?=[A-Z]\w+\s*[.;])|(?<=[a-z])'s\s+(?:\w+\s+){0,3}(?:son|daughter|child)\b|\bby\s+origin\b|"
    r"\b(?:roots?|origins?|beginnings|infancy|babyhood|nativity|natal)\b|\b(?:sprung|sprang|came|come|was|"
    r"is)\s+(?:all\s+)?of\s+(?:an?\s+|old\s+|good\s+|honest\s+)*(?=[A-Z])"
)
"""What ties somebody to a place by birth, wherever in the sentence it stands."""
_FOLK = (
    r"(?:man|woman|lad|lass|girl|boy|child|native|baby|bairn|youth|fellow|stock|family|people|folk|parents|blood|"
    r"breed|person|gentleman|body|house|line|origin|extraction|birth|maid|schoolboy)"
)
_FOLK_AFTER = re.compile(rf"(?:-|\s+)(?:born|bred|reared|raised)\b|\s+(?:\w+\s+)?{_FOLK}\b|\s+(?:born|bred)\b")
_FOLK_BEFORE = re.compile(
    rf"\b(?:was|is|being|been|as)\s+(?:an?|the|one\s+of\s+the|only\s+an?|"
    rf"but\s+an?)\s+(?:\w+\s+){{0,3}}?(?:{_FOLK}|son|daughter)\s+(?:from|of|out\s+of)\s+\Z|"
    r"\bof\s+(?:an?\s+|old\s+|good\s+|honest\s+)*\Z"
)
_IS_ONE = re.compile(
    r"(?:\b(?:was|is|being|been|as|remained|birth)|(?:came|come|sprang|sprung|was|is)\s+of|\A\W*(?:A|An|"
    r"The)|,)\s+(?:an?\s+|the\s+|all\s+|only\s+|but\s+|old\s+|good\s+|plain\s+|true\s+|honest\s+)*\Z"
)
_LIVES = re.compile(
    r"\b(?:lived?|lives|living|dwelt|dwelled|dwells?|dwelling|resid(?:ed|es?|ing)|(?<!the )(?<!of )lodg(?:ed|es?|"
    r"ing)|boarded|"
    r"inhabit(?:ed|s|ing)|tenanted|settled|domiciled|(?:kept|keeps?|keeping|set\s+up)\s+(?:house|home|shop|school|"
    r"an?\s+(?:\w+\s+)?(?:shop|inn|school|store|house))|househol\w+|tenant|inhabitant|resident|parishioner|"
    r"neighbou?rs?|landlady|landlord|(?:master|mistress|owner|possessor|proprietor|occupier)\s+of\s+(?:an?|"
    r"the)\s+(?:\w+\s+)?(?:house|cottage|farm|shop|villa|estate)|(?:been|was)\s+(?:established\s+|settled\s+)?(?:at|"
    r"in)\s+[\w\s]{3,30}?\s+(?:for\s+|these\s+|"
    r"this\s+)?[\w-]+\s+years|at\s+home|home|homeward)\b",
    re.IGNORECASE,
)
_HOUSE = (
    r"(?:house|home|cottage|rooms?|lodgings?|farm|farmhouse|dwelling|abode|quarters|fireside|hearth|residence|address|"
    r"roof|garret|attic|parlour|chambers|flat|apartments?|doorstep|front\s+door|own\s+door|bed|bedroom|kitchen|"
    r"windows?|chimney|garden|villa|lodge|estate|seat|household|shop|front\s+steps?|steps?|stoop|porch|shutters|"
    r"threshold)"
)
_HIS_HOUSE = re.compile(
    rf"(?:\b(?:his|her)|'s|s')\s+(?:(?:own|little|old|small|new|two|three|four|narrow|tall|white|snug|poor|bare|single|"
    rf"only|quiet|[\w-]+)\s+){{0,2}}?{_HOUSE}\b|\b(?:had|has|have|kept|owned|rented|occupied|took|taken|shared|held|"
    rf"possessed|leased|built)\s+(?:(?:\w+\s+){{0,4}}?){_HOUSE}\b|\b{_HOUSE}\b(?=[^;]*?\b(?:belonged\s+to|had\s+been|"
    rf"was|were)\s+(?:[\w.]+\s+)?[\w.]+'s\b)|"
    rf"\b{_HOUSE}\b(?=[^;]*?\bbelong(?:ed|s|ing)\s+to\b)",
    re.IGNORECASE,
)
_LIVES_THERE = re.compile(
    r"(?:\bwho|,?\s+and|\b(?:he|she))\s+(?:had\s+|has\s+)?(?:(?:still|now|always|ever|since)\s+)*(?:lived|lives|"
    r"dwelt|dwelled|lodged|resided|"
    r"been\s+living|was\s+living)\s+(?:\w+\s+)?(?:there|in\s+it)\b(?!\s+(?:once|until|till|as\s+an?|when|before|"
    r"for\s+an?)\b)"
)
"""`had bought a house in Fish Street, and lived there`: whatever else was done with it."""
_HOUSE_THERE = re.compile(rf"\s+{_HOUSE}\b")
_BACK_TO = re.compile(r"\b(?:back|home|return(?:ed|ing)?)\s+to\s+\Z")
_HIS_DOOR = re.compile(
    rf"\b(?:his|her)\s+(?:\w+\s+)?(?:{_HOUSE}|door|fire|gate|latch|key|supper|slippers|wife|husband|cat|dog)\b"
)
_COMES_HOME = re.compile(r"\b(?:back|returned|return|home|(?:let|locked)\s+(?:himself|herself))\b")
_OF_HERE = re.compile(r",?\s+of\s+(?:the\s+)?\Z")
_ONCE = re.compile(
    r"\b(?:once|looked\s+(?:at|over)|envelopes?|really\s+lived|"
    r"had\s+an?\s+(?:aunt|uncle|cousin|brother|sister|friend|nephew|niece|brother-in-law|sister-in-law|grandmother)|"
    r"let\s+it|born\s+in\s+an?\s+(?:\w+\s+)?(?:house|cottage|room)|home\s+from|formerly|until|till|"
    r"used\s+to|previously|at\s+one\s+time|a\s+time|a\s+while|"
    r"a\s+(?:few\s+)?(?:year|month|season|summer|winter|week|term)|as\s+an?\s+(?:child|boy|girl|young)|when\s+(?:he|"
    r"she)\s+was|would|might|should|meant\s+to|hoped|wished|going\s+to|intended|planned|longed|wanted|to\s+live|if|"
    r"whether|perhaps|visit(?:ed|ing)?|called|passed|sold|left|leaving|quitted|burn\w+|than|like|instead|rather|"
    r"before(?=\s*[.,;]|\s+(?:he|she|that|his|her)\b)|ago|temporar\w+|summers?|holidays?|bought|inherit\w*|empty|"
    r"to\s+let|(?:his|her|'s)\s+(?:\w+\s+)?(?:mother|father|brother|sister|uncle|aunt|cousin|friend|son|daughter|"
    r"nephew|niece|wife|husband|grandmother|grandfather|people|parents|family|servant|clerk|"
    r"master|employer)(?:'s|s')?\b)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\b(?:not|never|no|nor|neither|hardly|[Nn]obody|[Nn]one|[Nn]o\s+one|without)\b|n't\b")
_SUPPOSED = re.compile(r"\b(?:might|would|should|may|if|perhaps|maybe|seemed|as\s+though|as\s+well\s+(?:have|be))\b")
_BUT = re.compile(
    r"\b(?:never|no|not|nowhere|nobody)\b[^;,]{0,40}?\b(?:but|except|besides|outside|out\s+of|"
    r"other\s+than|other\s+home|else\s+but|forgot\w*|lost|left|chang\w+|g[ai]ven?\s+up|parted|"
    r"longer|doubt\w*|secret|ashamed|denied|concealed|hid|mistak\w+|need|far|stirred|moved|quitted|guess\w*|known?)\b"
)
_ANOTHERS = re.compile(
    r"\bbirthplace\s+of\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s\s+[a-z]|"
    r"\b(?:as|than|like|unlike)\s+(?:the|his|her)\s+(?:\w+\s+)?(?:town|place|city|village|parish|country)\s+(?:in\s+"
    r"which|where|of\s+(?:his|her))\b|"
    r"'s\s+(?:\w+\s+)?(?:mother|father|parents|wife|husband|son|daughter|sister|brother|uncle|aunt|cousin|"
    r"child|children|grand\w+|friend|servant|maid|horse|dog)\s+"
    r"(?!(?:had\s+)?(?:been\s+|was\s+)?(?:delivered|brought\s+to\s+bed|borne|bore|given|gave))"
)
_STANDS_IN = re.compile(r"\b(?:in|at|to|from|of|near)\s+\Z")
_JOURNEY = re.compile(
    r"\b(?:by\s+the|coach|train|that\s+(?:morning|night|day)|on\s+foot|post|letter|parcel|mail|news|"
    r"walked|rode|drove|travel\w*|yesterday)\b"
)
_BIRTH_WORDS = frozenset(
    words("""
    born bred birth birthplace birthright light eyes day world delivered bed first breath cry steps native natives
    cradle cradled produced reared fathered mothered hailed hails hailing originally origin roots root origins
    beginnings infancy babyhood nativity natal sprung sprang of man woman lad lass girl boy child baby raised days life
    career existence pilgrimage being from came
    """)
)
_HOME_WORDS = frozenset(
    words("""
    live lived lives living dwelt dwelled dwell dwells dwelling resided reside resides residing lodged lodge lodges
    lodging boarded inhabited inhabits inhabiting tenanted settled domiciled kept keep keeps keeping set householder
    householders tenant inhabitant resident parishioner neighbour neighbours neighbor neighbors landlady landlord home
    homeward house cottage room rooms lodgings farm farmhouse abode quarters fireside hearth residence address roof
    garret attic parlour chambers flat apartment apartments doorstep door bed bedroom kitchen window windows chimney
    garden villa estate seat household shop mistress master owner possessor proprietor occupier years
    """)
)


def roots(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every birthplace and home that a sentence of one person and one place tells."""
    for number in narration.prose.with_words(_BIRTH_WORDS | _HOME_WORDS):
        owner = about(binder, number)
        place = only_place(binder, number, owner) if owner is not None else None
        if owner is None or place is None or not _is_somebody(binder, owner):
            continue
        yield from _told(narration, binder, number, owner, place)


def _told(narration: Narration, binder: Binder, number: int, owner: Mention, place: Place) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    if _ANOTHERS.search(sentence.text):
        return
    for attribute, found in (("birthplace", _birth), ("home", _home)):
        span = found(binder, number, owner, place)
        ends = (min(span[0], place.start), max(span[1], place.end)) if span is not None else None
        if ends is None or _is_denied(sentence, ends) or _is_anothers(binder, number, ends, place):
            continue
        if is_claimed(narration, number, ends, granted=True, memory=attribute == "birthplace"):
            yield fact_at(
                narration.prose, number, ends, owner, attribute, (place.value,), place.name, hard=attribute != "home"
            )
            return


def _is_anothers(binder: Binder, number: int, ends: tuple[int, int], place: Place) -> bool:
    """Whether either end of the tie may be somebody else's."""
    sentence = binder.prose.sentences[number]
    named = [one.start - sentence.start for one in binder.mentions(number)]
    if is_anothers_doing(sentence.text, ends[0] - sentence.start, named):
        return True
    own = [at for at in ends if bearer(binder, number, at, leads=True) is not None]
    where = re.match(r",?\s+(?:where|in\s+which)\b", binder.prose.told[place.end : place.end + 12])
    among = re.search(r"\bamong\s+(?:them|those)\b", binder.prose.sentences[number].text)
    return not own or (len(own) < len(ends) and where is None and among is None)


def _is_somebody(binder: Binder, owner: Mention) -> bool:
    """A name that others are in is a house, where it stands as one."""
    stands_in = _STANDS_IN.search(binder.prose.told, max(0, owner.start - 8), owner.start)
    return binder.cast.is_person(owner.key) and not (stands_in and binder.cast.is_visited(owner.key))


def _is_denied(sentence: Sentence, span: tuple[int, int]) -> bool:
    """Whether the clauses from the first to the last word deny it; `nowhere but at Yarrow` does not."""
    before = re.split(r"[;:,—]|\bthat\b", sentence.text[: span[0] - sentence.start])[-1]
    tie = sentence.text[span[0] - sentence.start : span[1] - sentence.start]
    # `Nobody at Yarrow, where Mara lived`: the relative clause is not denied.
    where = re.search(r",\s+(?:where|in\s+which)\s", tie)
    told = tie[where.start() :] if where else before + tie
    if _SUPPOSED.search(told):
        return True
    return _NEVER.search(told) is not None and not _BUT.search(sentence.text)


def _birth(binder: Binder, number: int, owner: Mention, place: Place) -> tuple[int, int] | None:
    """`a Cork man`, `Cork-born`, `the Cork of her birth`."""
    sentence, told = binder.prose.sentences[number], binder.prose.told
    folk = _FOLK_AFTER.match(told, place.end, sentence.end)
    if folk is not None and ("b" in folk.group()[:2] or _IS_ONE.search(told, sentence.start, place.start)):
        return place.start, folk.end()
    before = _FOLK_BEFORE.search(told, sentence.start, place.start)
    if before is not None and before.group().strip() != "of":
        return before.start(), place.end
    found = _BORN_THERE.search(told, sentence.start, sentence.end)
    if found is None or _JOURNEY.search(sentence.text) or (owner.is_possessive and "bor" in found.group()):
        return None
    return found.span()


def _home(binder: Binder, number: int, owner: Mention, place: Place) -> tuple[int, int] | None:
    sentence, told = binder.prose.sentences[number], binder.prose.told
    there = _LIVES_THERE.search(told, place.end, sentence.end)
    if there is not None and not LET_OUT.search(sentence.text):
        return place.start, there.end()
    once = _ONCE.search(re.split(r";|,\s+(?!to\b)", told[place.end : sentence.end])[0])
    once = once or _ONCE.search(told, sentence.start, place.start)
    if once or NEVER_THERE.match(told, place.end) or LET_OUT.search(sentence.text):
        return None
    if owner.end <= place.start and _OF_HERE.fullmatch(told, owner.end, place.start) and owner.start >= sentence.start:
        return owner.start, place.end
    there = _HOUSE_THERE.match(told, place.end, sentence.end)
    if there is not None and (
        _COMES_HOME.search(sentence.text) or re.search(r"(?:\b(?:his|her)|'s|s')\s+\Z", told[: place.start][-12:])
    ):
        return place.start, there.end()
    if _BACK_TO.search(told, sentence.start, place.start) and (own := _HIS_DOOR.search(told, place.end, sentence.end)):
        return place.start, own.end()
    found = _LIVES.search(told, sentence.start, sentence.end) or _HIS_HOUSE.search(told, sentence.start, sentence.end)
    return found.span() if found is not None and _is_tied(told, found.span(), place) else None


def _is_tied(told: str, cue: tuple[int, int], place: Place) -> bool:
    """Whether cue and place stand in one clause: `lived there in a house at Yarrow`, `At Yarrow … lived`."""
    between = told[cue[1] : place.start] if cue[1] <= place.start else told[place.end : cue[0]]
    if cue[0] < place.start < cue[1]:
        return True
    between = re.sub(r"\A\s+to\b|\b(?:nowhere|anywhere)(?:\s+else)?\s+but\b", "", between)
    return len(between) < _NEAR and not re.search(r"[;:—]|\b(?:and|but|while|when|to|went|go|came)\b", between)


_NEAR = 60
