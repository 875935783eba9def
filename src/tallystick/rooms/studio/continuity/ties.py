"""What ties one person to one place: born there, at home there, on the way there, come there to live, there on a night.

A sentence that names one person and one place, and has a word for the tie in it, is taken to tie the two, however
English puts it; unless the tie is another's (`Mara's mother was born at Yarrow`), is denied, is of another time or
comes about every week.
"""

import re
from collections.abc import Callable, Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.dates import DATE_WORDS, WEEKDAY, WEEKDAYS, YEAR, Moment
from tallystick.rooms.studio.continuity.facts import Fact, Value, fact_at
from tallystick.rooms.studio.continuity.focus import about, bearer, clause_at, is_anothers_doing
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import ADDRESS, Place, only_place, places_in
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, ORDINAL, number_of, ordinal_of, words

_BORN = re.compile(
    r"(?<![-\w])(?<!\ba )[Bb]orn\b|(?<!gave )(?<!given )(?<!giving )\b[Bb]irth(?:place)?\b(?!-|\s+to\b)|"
    r"\bgave\s+birth\s+to\s+(?:him|her|[A-Z])|\bgiven\s+birth\s+to\b|\bborne\s+(?:him|her)\b|"
    r"\b(?:drew|drawn|draw)\s+(?:(?:his|her)\s+first\s+)?breath\b|\b(?:saw|seen)\s+(?:the\s+)?(?:first\s+)?light\b|"
    r"\b(?:came|come|brought|arrived|entered)\s+(?:[\w.]+\s+){0,3}?into\s+(?:the|this)\s+world\b|"
    r"\b[Ll]ife\s+(?:had\s+)?beg[au]n\b|\b(?:a|the|A)\s+native\b|(?:[Hh]is|[Hh]er|'s)\s+native\b|\b(?:his|"
    r"her)\s+cradle\b|\bcradle\b|\bdelivered\s+(?=[A-Z]|of\s+(?:him|her))|-born\b|\b(?:given|"
    r"gave)\s+(?:[\w.]+\s+){1,3}to\s+the\s+world\b|\A\W*(?:A|The)\s+(?:true\s+)?(?:child|son|"
    r"daughter)\s+of\s+(?=[A-Z])"
)
_NOT_BORN = re.compile(
    r"\b(?:before|since|when|ere|after|until|till|year|day|night|time|if)\s+(?:that\s+)?(?:he|she|"
    r"(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:was|were|had\s+been)\s+born\b|"
    r"(?:'s|\bhis|\bher)\s+(?:\w+\s+)?(?:mother|father|parents|wife|husband|son|daughter|sister|brother|uncle|aunt|"
    r"cousin|stepmother|grand\w+|friend|servant|cook|nurse|children)\s+(?:was|were|had\s+been|came|hailed)\s+"
    r"(?:from|born|a\s+native)|\b(?:horse|dog|mare|cat|parrot)\b|\b(?:met|saw|knew|heard|passed|watched|"
    r"by)\s+(?:an?|the|every|some)\s+native\b"
)
_HOME = re.compile(
    r"\b(?:liv(?:ed|es?|ing)|dwel(?:t|ls?|ling)|resid(?:ed|es?|ing|ent)|lodg(?:ed|es?|ing|ings)|inhabit\w*|tenant|"
    r"householders?|neighbours?|neighbors?|landlady|landlord|home|homes|address|household|"
    r"latch-?key|key|hung\s+(?:up\s+)?(?:his|her)\s+hat|let\s+(?:himself|herself)\s+in\w*|(?:(?:his|her|"
    r"'s)\s+(?:own\s+|front\s+|back\s+|little\s+|two\s+|[\w-]+\s+)?|(?:had|kept|rented|occupied|took|taken|shared|"
    r"inherited|owned|called)\s+(?:[\w-]+\s+){1,3})"
    r"(?:house|cottage|rooms?|door|doorstep|step|bed|bedroom|window|windows|roof|hearth|fireside|quarters|flat|"
    r"chambers|garret|attic|garden|parlour|kitchen|plate|walls)|(?:occupied|rented|paid|had|owned|kept|slept|"
    r"furnished|shared)\b[^.;]{0,60}?\b(?:house|rooms?|floor|door|bed|number|flat|lodgings?)|"
    r"[Nn]umber\s+[\w-]+(?=,)|(?:slept|sleeps)(?=\s+(?:badly|well|in|every))|"
    r"(?<='s)\s+was\s+the\s+(?:\w+\s+){0,2}(?:house|door|window)|(?:[Hh]is|[Hh]er|(?<='s))\s+(?:\w+\s+)?(?:cat|dog|"
    r"fire|lamp|supper)|house\b[^,;]{0,30}\bwas\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s)\b"
)
_WHERE = re.compile(r",?\s+(?:where|in\s+which)\b")
_HIS_OWN = re.compile(r"(?:'s|\b[Hh]is|\b[Hh]er)\s+(?:landlady|landlord|neighbours?|cat|dog|lamp|fire|key|cradle)\Z")
_SUBJECT = re.compile(
    r"\b(?:he|she)\s+(?:(?:was|had|is|has|been|once|first|still|now|also|\w+ly)\s+)*\Z|\A\s+(?:(?:was|had|is|has|"
    r"been|once|first|still|now|also|\w+ly)\s+)*\Z"
)
_NEAR = 16
_VISITS = re.compile(
    r"\b(?:call(?:ed|ing)\s+(?:at|on|upon)|visit\w*|stay(?:ed|ing)?\s+(?:with|a|for|some|two|three)|friends?|guest|"
    r"drank\s+tea|house\s+of|inquired|knocked\s+at\s+an?|surgery|opposite|once|formerly|as\s+a\s+(?:child|boy|"
    r"girl)|until|till(?!\s+(?:late|morning))|(?<!was )(?<!be )(?<!got )used\s+to|"
    r"moved|gave\s+up|removed|sold|left\s+(?:his|her)|bought|to\s+let|empty\s+house|imagin\w+|wished|longed|"
    r"thought(?!\s+with)|would|might|could\s+have\s+lived|holiday\w*|for\s+the\s+(?:summer|winter|season|night)|"
    r"afterwards|pulled\s+down|"
    r"passed\s+(?:through|by)|suspect|heard\s+of|on\s+the\s+(?:way|road))\b|\b(?:had|has|kept)\s+(?:his|her|their|"
    r"a)\s+(?:surgery|shop|office)\b"
)
_NO = re.compile(r"\b(?:not|never|nor|neither|hardly|nobody)\b|n't\b")
_LEAVES = re.compile(
    r"\b(?:set(?:ting)?\s+(?:out|off|forth)|depart\w*|start\w*|left|leav\w+|going|gone|go|went|carried|borne|bore|"
    r"drove|driv\w+|rode|sail\w*|embark\w*|journey|road|way|bound|made\s+for|head(?:ed|ing)|turned|coach|train|"
    r"climbed|took|taken|waved|quitted|begun|began|off)\b",
    re.IGNORECASE,
)
_TOWARDS = re.compile(r"\b(?:to|for|towards?|toward)\s+\Z|\b[Ff]or\s+\Z")
_CUSTOM = re.compile(
    r"\b(?:[Ee]very\s+(?:\w+day|week)|each\s+(?:\w+day|week)|always|usual(?:ly)?|as\s+a\s+rule|often|again|"
    r"a\s+second|second\s+time|returned|came\s+(?:home|back)|(?<!his )(?<!her )back\s+(?:to|from|in|home)|trunks|"
    r"luggage|market\s+at|some\s+days\s+in|[Bb]y\s+the\s+\w+day|next|before\s+anyone)\b"
)
_DAYS = re.compile(
    rf"\bon\s+the\s+(?P<nth>{ORDINAL})\s+day\b|(?<![\w-])(?P<count>{NUMBER})(?:\s+(?:whole|full|long|weary|"
    rf"entire)\s+|\s+|-)(?P<unit>days|nights|weeks|day(?=['\s-]+(?:journey|ride|walk|voyage|passage|"
    rf"travel\w*)))(?:'|\b)",
    re.IGNORECASE,
)
_TRAVELS = re.compile(
    r"\b(?:road|roads|way|journey\w*|travel\w*|voyage|passage|rid(?:e|ing)|rode|driv(?:e|ing)|coach\w*|reach\w*|"
    r"get|getting|got|march\w*|walk\w*|crossing|crossed|sail\w*|trip|took|taken|take|need\w*|required|cost|"
    r"distance|set(?:ting)?\s+(?:out|off)|start\w*|"
    r"lay\s+between|between|made|came|come|coming|arriv\w*|bring|brought|climbed|stepped|spent|used\s+up|lasted|"
    r"did|leav\w+|left|mud|snow)\b",
    re.IGNORECASE,
)
_NOT_THE_WAY = re.compile(
    r"\b(?:stay(?:ed|ing)?|return\w*|home\s+from|after\s+(?:reaching|arriv\w+|(?:his|her)\s+arrival)|"
    r"before\s+(?:he|she)\s+(?:started|set\s+out|left)|allowed|reckoned|supposing|luggage|letter|messenger|trunks|"
    r"grand\w+'s\s+time|in\s+\w+'s\s+time|for\s+food|would(?:\s+not)?\s+(?:be|have\s+(?:been|taken))|"
    r"might|if|must\s+have|slept\s+badly|ago|later\s+(?:he|she)|next)\b"
)
_COMES = re.compile(
    r"\b(?:came|come|coming|comes|arriv\w*|settle\w*|first|moved|moving|removed|set\s+(?:foot|eyes)|appear\w*|"
    r"newcomer|stranger|resid\w*|abode|known|brought|sight|reached|entered|made\s+(?:his|her)\s+home|make\s+(?:his|"
    r"her)\s+home|turned\s+up|life\s+in|dated|newly|until|took\s+(?:him|her)\s+in|walked|lived\s+in|drove|"
    r"heard\s+of|took|taken|set\s+up|removal|home|been\s+in|been\s+at|since)\b"
)
_NOT_COMING = re.compile(
    r"\b(?:came\s+back|come\s+back|returned|again|sold|left|familiar|married|died|born|bore\s+over|railway|brewery|"
    r"no\s+part|across\s+|[Bb]y\s+1\d{3}|[Bb]y\s+20\d\d|lying\s+ill|had\s+finished|every|would|as\s+early)\b|(?:'s|"
    r"\bhis|\bher)\s+(?:neighbours?|landlord|landlady|cousin|uncle|brother|sister|friend)\b"
)
_YEARS = re.compile(rf"(?<![\w-])(?P<year>{YEAR})(?![\w-])")
_WEEKDAYS = re.compile(rf"\b(?P<day>{WEEKDAY})\b")


@record
class Tie:
    """What a sentence says: the words for it, the attribute and the value."""

    span: tuple[int, int]
    attribute: str
    value: Value
    words: str
    details: tuple[str, ...] = ()


def ties(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such tie that the file tells."""
    prose = narration.prose
    for number in prose.with_words(_WORDS):
        sentence = prose.sentences[number]
        for pattern, read in _READERS:
            for found in pattern.finditer(prose.told, sentence.start, sentence.end):
                fact = _tied(narration, binder, number, found, read)
                if fact is not None:
                    yield fact
                    break


def _tied(narration: Narration, binder: Binder, number: int, found: re.Match[str], read: "Reader") -> Fact | None:
    owner = bearer(binder, number, found.start(), leads=True)
    if owner is None and _HIS_OWN.search(found.string[max(0, found.start() - _NEAR) : found.end()]):
        owner = about(binder, number)
    place = (
        _place(binder, number, owner, found.start()) if owner is not None and binder.cast.is_person(owner.key) else None
    )
    if owner is None or place is None or not _is_his(binder, number, found, owner, place):
        return None
    sentence = binder.prose.sentences[number]
    named = [one.start - sentence.start for one in binder.mentions(number) if one.key == owner.key]
    if not re.match(r"\W*(?:his|her)\b", found.group()) and _is_done_by_another(sentence, found, owner, place, named):
        return None
    tie = read(binder, number, found, owner, place)
    if tie is None or not is_claimed(narration, number, tie.span, granted=True, memory=True):
        return None
    hard = tie.attribute != "home"
    return fact_at(
        narration.prose, number, tie.span, owner, tie.attribute, tie.value, tie.words, hard=hard, details=tie.details
    )


def _is_done_by_another(
    sentence: Sentence, found: re.Match[str], owner: Mention, place: Place, named: list[int]
) -> bool:
    """Whether the clause of the tie has another subject, or else that of the place where the name is in neither."""
    at = found.start() - sentence.start
    if is_anothers_doing(sentence.text, at, named):
        return True
    start, end = clause_at(sentence.text, at)
    here = start <= owner.start - sentence.start < end
    return not here and is_anothers_doing(sentence.text, place.start - sentence.start, named)


def _is_his(binder: Binder, number: int, found: re.Match[str], owner: Mention, place: Place) -> bool:
    """Whether the place is his as well: he is the subject, or nobody else stands in its clause."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    between = (
        told[owner.end : found.start()]
        if sentence.start <= owner.start < found.start()
        else told[sentence.start : found.start()]
    )
    subject = _SUBJECT.search(between)
    if (subject and (not owner.is_possessive or subject.group().lstrip().startswith(("he", "she")))) or _HIS_OWN.search(
        told[max(0, found.start() - _NEAR) : found.end()]
    ):
        return True
    return bearer(binder, number, place.start, leads=True) is not None or _WHERE.match(told, place.end) is not None


def _place(binder: Binder, number: int, owner: Mention, at: int) -> Place | None:
    """The one place of the sentence, or of the clause in which the tie stands."""
    only = only_place(binder, number, owner)
    if only is not None:
        return only
    sentence = binder.prose.sentences[number]
    start, end = clause_at(sentence.text, at - sentence.start)
    here = [one for one in places_in(binder, number, owner) if start <= one.start - sentence.start < end]
    return here[0] if len({one.value for one in here}) == 1 else None


def _born(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    if _NOT_BORN.search(sentence.text) or _is_denied(sentence.text, found.start() - sentence.start):
        return None
    span = (min(found.start(), place.start), max(found.end(), place.end))
    return Tie(span=span, attribute="birthplace", value=(place.value,), words=place.name)


def _home(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    if (
        not ADDRESS.search(place.value)
        or _VISITS.search(sentence.text)
        or _is_denied(sentence.text, found.start() - sentence.start)
    ):
        return None
    span = (min(found.start(), place.start), max(found.end(), place.end))
    return Tie(span=span, attribute="home", value=(place.value,), words=place.name)


def _leaving(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    days = {one.group("day") for one in _WEEKDAYS.finditer(sentence.text)}
    towards = _TOWARDS.search(binder.prose.told, max(sentence.start, place.start - 10), place.start)
    if len(days) != 1 or towards is None or not _LEAVES.search(sentence.text) or _CUSTOM.search(sentence.text):
        return None
    (day,) = days
    value = Moment(weekday=WEEKDAYS.index(day.lower())).as_value()
    return Tie(span=found.span(), attribute=f"left for {place.value}", value=value, words=day)


def _length(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    if (
        len(list(_DAYS.finditer(sentence.text))) != 1
        or not _TRAVELS.search(sentence.text)
        or _NOT_THE_WAY.search(sentence.text)
    ):
        return None
    count = ordinal_of(found.group("nth")) if found.group("nth") else number_of(found.group("count"))
    if count is None:
        return None
    days = count * 7 if found.group("unit") == "weeks" else count
    return Tie(span=found.span(), attribute=f"days to {place.value}", value=(days,), words=found.group())


def _coming(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    """The year in which somebody first came to a town."""
    text = binder.prose.sentences[number].text
    if len(list(_YEARS.finditer(text))) != 1 or not _COMES.search(text) or _NOT_COMING.search(text):
        return None
    value = Moment(year=int(found.group("year"))).as_value()
    return Tie(span=found.span(), attribute=f"came to {place.value}", value=value, words=found.group("year"))


def _is_denied(text: str, at: int) -> bool:
    before = re.split(r"[;:,—]|\b(?:that|where|and|but)\b", text[:at])[-1]
    return re.search(rf"{_NO.pattern}|\b(?:might|would|could|should|may|perhaps)\b", before) is not None


Reader = Callable[[Binder, int, re.Match[str], Mention, Place], Tie | None]
_READERS = (
    (_BORN, _born), (_HOME, _home), (_WEEKDAYS, _leaving), (_DAYS, _length), (_YEARS, _coming),
)  # fmt: skip
_WORDS = DATE_WORDS | frozenset(
    words("""
    born birth birthplace borne breath light world life native cradle delivered live lived lives living dwelt
    dwells dwelling resided resides residing resident lodged lodges lodging lodgings inhabited tenant
    householder householders neighbour neighbours landlady landlord home homes address household latchkey key
    hat child son daughter let house cottage room rooms door doorstep step bed bedroom window windows roof
    hearth fireside quarters floor slept sleeps number supper cat dog fire lamp flat chambers garret attic
    garden parlour kitchen plate walls days nights weeks day latch
    """)
)
