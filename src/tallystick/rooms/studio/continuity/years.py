"""How old somebody is, by any number that can only be an age, in a sentence that names one person.

A number counts something or it is an age. So this reads every number that no noun follows and that stands where an age
may stand (`at forty`, `to be forty`, `his age … forty`), and every count of years that is a whole life
(`her forty years`, `forty harvests since her birth`), and then leaves out what looks back, looks like or looks ahead.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.age_phrases import AGE, range_of
from tallystick.rooms.studio.continuity.ages import OLDEST
from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import KIN, OTHERS, about, bearer
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.unreal import CONFIRMED
from tallystick.rooms.studio.continuity.vocabulary import COUNTED, COUNTED_OFF, NUMBER, ORDINAL, number_of, ordinal_of

_NUMBER = re.compile(rf"(?<![\w-]){AGE}(?!\w)(?!-(?!years?-old\b))(?!\s+and\s+a\s+half)", re.IGNORECASE)
_NO_NOUN = re.compile(  # what follows a number that counts nothing
    r"\s*(?:[.,;:!?)—]|\Z)|\s+(?:and|but|or|that|this|now|then|when|with|without|in|on|to\s+(?:the\s+day|whom)|whom|"
    r"whose|yet|though|who|one|was|is|had|has|have|he|she|instead|already|again|if|by|does|should|may|can|cannot|"
    r"could|ought|will|must|as|"
    r"for|come|last|at|since|until|years?\s+(?:old|of\s+age)|an?\s+(?:few|week|day|month|fortnight|year|couple)|"
    r"the\s+(?:day|week|month))\b|\s+[A-Z]"
)
_STANDS = re.compile(
    r"\b(?:[Aa]t|[Bb]eing|be|was|is|were|turned|turning|turn|reached|reaching|attained|[Aa]ged|age\s+of|as\s+old\s+as|"
    r"only|but|now|just|become|became|stood\s+at|of\s+being|passed|entered|past|been|reckoned,|(?:owned|own|admitted|"
    r"confessed|lived|got|come|close|near)\s+(?:up\s+)?to|(?:well|enough|old|young|hale|strong|fit|good)\s+for|"
    r"made\s+(?:him|her|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)|(?:was|is|,)\s+an?\s+(?:[a-z-]+\s+){0,1}[a-z-]+|(?:widow|widower|"
    r"bachelor|spinster|single)\s+and|down\s+(?:[\w\s]{1,20}\s)?as|made\s+(?:them|it))\s+\Z"
)
_SET_APART = re.compile(
    r"\s+and\s+(?:an?|still|un\w+|single|married|never|not)\b|"
    r",\s+(?:[a-z-]+(?:\s+and\s+[a-z-]+)?,\s+)?(?=[A-Z][\w.]+\s+[\w']+)"
)
_SETS_APART = re.compile(r"(?:\A\W*(?:(?:Though|Although|Only|Still|Barely|Just|Being)\s+)?|,\s+)\Z")
"""`Tobias, forty and a bachelor,`; `Forty and never been to sea`."""
_LIVED = re.compile(r"\b(?:counted|lived|numbered|seen|carried|completed)\s+(?:for\s+|but\s+|only\s+)?\Z|\bwhat\s+\Z")
_WHICH_HE_WAS = re.compile(  # `did not look forty, but he was`
    r",?\s+(?:but|though|and|which)\s+(?:he|she)\s+was\b(?=\s*[.,;])|"
    r",\s+as\s+(?:he|she|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:now\s+)?(?:was|is)\b(?=\s*[.,;])"
)
_TAUGHT = re.compile(  # `Forty years had taught Mara to wait`: they are hers
    r"\s+(?:years|summers|winters|springs)\s+(?:had|have)\s+(?!(?:passed|gone\s+by|elapsed|rolled|"
    r"slipped)\b(?!\s+over))(?:\w+\s+){1,8}?(?=[A-Z]|him\b|her\b|his\b)"
)
_ONE_OF = re.compile(
    r"\b(?:man|woman|person|somebody|someone|girl|boy|lady|gentleman|fellow|creature|widow|widower|bachelor|spinster|"
    r"lad|youth|people|persons|men|women|body|soul)\s+(?:of|who\s+(?:was|is))\s+\Z"
)
_FEW = re.compile(
    r"\b(?:not\s+many|few|no|an?|every|scarcely\s+an?|hardly\s+an?|not\s+every)\s+(?:people|persons?|men|women|man|"
    r"woman)\s+of\s+"
    rf"{NUMBER}\s+(?:does|do|has|have|should|may|can|cannot|could|ought|is|are|will|must)\b",
    re.IGNORECASE,
)
"""`Few men of forty could have done what Mara did`: she is of that age."""
_FACE_OF = re.compile(
    r"\b(?:face|figure|hands?|look|voice|step|heart|eyes|mind|body|legs|vigour|energy|head|shoulders|strength|"
    r"air)\s+of\s+(?:an?\s+(?:\w+\s+)?\w+\s+of\s+)?\Z"
)
_OLD = re.compile(r"\s*(?:-years?-old\b|\s+years?\s+old\b|\s+years\s+of\s+age\b|-year-old\b)")
_COUNT = re.compile(r"\s+(?:years|summers|winters|springs|autumns|harvests|Christmases|birthdays|candles|rings)\b")
_LATER = re.compile(
    r"\s+\w+\s+(?:later|afterwards?|after|since|hence|in\s+(?!which|the\s+world|this\s+world|all)|at\s+(?!the\s+back)|"
    r"with|together|there|abroad|away|before(?!\s+(?:it|she|he)\b)|earlier|ago|of\s+(?:service|marriage|work|peace|war|"
    r"age)|under|among|as|younger|older|senior|his\s+senior|between)\b"
)
_HIS = re.compile(r"(?:\b(?:[Hh]is|[Hh]er)|'s)\s+(?:(?:own|long|short|full|whole|[a-z]+)\s+)?\Z")
_LIFE = re.compile(
    r"\b(?:birth|[Bb]orn|birthdays?|birth-?day|c[ao]me\s+(?:\w+\s+)?into\s+(?:the|this)\s+world|in\s+(?:the|"
    r"this)\s+world|on\s+(?:this\s+)?earth|alive|candles|cake|font|christen\w+|cradle|dr(?:ew|awn?)\s+(?:(?:his|"
    r"her)\s+first\s+)?breath|his\s+age|her\s+age|the\s+age|'s\s+age|for\s+age|"
    r"years?\s+of\s+(?:[\w.]+\s+){0,2}[\w.]+\s+(?:life|age)|(?:his|her|'s)\s+life|first\s+breath|over\s+(?:the\s+head|"
    r"his|her|[\w.\s]{3,24}'s\s+head)|(?:on|upon)\s+(?:his|her|[\w.\s]{3,24}'s)\s+(?:head|back|shoulders)|"
    r"behind\s+(?:him|her)|to\s+(?:his|her)\s+name|in\s+(?:his|her)\s+bones|to\s+look\s+back|years\s+of\s+life)\b|"
    r"\A\W*(?:Life|The\s+world|Time|Fate|Fortune|Providence|Heaven)\b"
)
"""That years are a whole life."""
_WROTE = re.compile(r"\b(?:age|how\s+old|years\s+(?:of|were|old|numbered))\b")
_OTHERWISE = re.compile(
    r"\b(?:pounds?|guineas?|shillings?|pence|francs?|dollars?|miles?|yards?|feet|inches|acres?|pages?|votes?|"
    r"o'clock|minutes?|hours?|degrees|tons?|sheep|"
    r"soldiers|page|number|No|chapter|train|points?|price|cost|worth|bid|per|cent)\b"
)
_BACK = re.compile(
    r"\b(?:when(?!\s+(?:our|this|the)\s+(?:story|tale|history))|until|till|before|ere|while|by\s+the\s+time|"
    r"the\s+(?:year|summer|winter|spring|day)\s+(?:that|when)|"
    r"(?<!\bday )(?<!\bdays )(?<!\btwo )(?<!\bweek )(?<!\bmonth )since)\s+"
    r"(?:[\w.']+\s+){1,4}\Z",
    re.IGNORECASE,
)
_LONG_GONE = re.compile(
    r"\b(?:(?:years|long)\s+ago(?!\s+(?:that|this|to))|at\s+last|dragged\s+on|recollections?|all\s+that\s+time|"
    r"(?<!for )(?<!at )(?<!not )(?<!without )(?<!never )once|formerly|an?\s+old\s+story|"
    r"[Ll]ong\s+after(?:wards)?|[Ii]n\s+(?:after|later)\s+(?:years|life)|in\s+(?:his|her)\s+(?:youth|day)|by\s+then|"
    r"[Bb]y\s+the\s+time|"
    r"by\s+that\s+time|years\s+(?:later|afterwards|went|passed|rolled|had\s+(?:gone|passed))|many\s+years|"
    r"lived\s+to\s+(?!be)|(?<!had\s)(?<!has\s)lived\s+to\s+be|lived\s+till|one\s+day\s+be|would\s+be|will\s+be|"
    r"next\s+(?:birthday|year)|no\s+longer(?!\s+(?:[a-z]+ed|slept|thought|felt|went|came|knew)\b)|"
    r"not\s+\w+\s+any|any\s+(?:longer|more)|(?:be|of)\s+(?:only\s+)?[\w-]+\s+again)\b"
)
_LOOKS = re.compile(
    r"\b(?:look\w*|seem\w*|felt|feel|appear\w*|pass(?:ed|es)?\s+for|tak(?:e|en)\s+(?:\w+\s+){0,2}for|put\s+(?:him|"
    r"her)\s+down\s+(?:for|as)|might\s+be|could\s+be|guess\w*|gave\s+(?:his|her)\s+age|day\s+over|say|said|called|"
    r"might|could|would(?!\s+(?:not|never)))\b"
)
_CAME_AT = re.compile(
    r"\bhad\s+(?!reached|turned|attained|completed|learned|learnt|now|just|lately|but|come\s+to\s+be|"
    r"been\s+\w+ing)[a-z]+\b[^,;]*\bat\s+\Z|\b(?:married|died|widowed|enlisted|retired|wedded|(?:left|ran|"
    r"went|came|moved|entered|joined|began)\s+[\w\s]{2,16})\s+at\s+\Z"
)
"""`Mara had come to the town at thirty`."""
_WHEN = re.compile(
    r"(?:\s+years?(?:\s+old|\s+of\s+age)?)?,?\s+(?:(?:was|is)\s+the\s+age\s+(?:at\s+which|when)|when(?!\s+(?:most|"
    r"other|many|men|women|people|one|some)\b)|before|"
    r"at\s+the\s+time\s+of)\b"
)
_AT_HAD = re.compile(
    r",?\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w*\s+had\s+(?!(?:no|not|never|a|an|the|his|her|all|outlived|learn\w+|seen|buried|"
    r"given|grown|ceased|come|acquired|reached|become|survived|already|still|more|few)\b)"
)
_AT_DID = re.compile(
    r",?\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w*\s+(?:had\s+)?(?:run|ran|left|gone|went|married|entered|joined|sailed|enlisted|"
    r"fled|fought|inherited|emigrated|eloped|won|published|wanted|hoped|dreamed)\b"
)
_BIRTHDAY = re.compile(
    rf"(?<![\w-])(?P<number>{ORDINAL})\s+(?P<what>birthday|year)\b(?!\s+(?:of\s+(?![A-Z]|(?:his|her|"
    rf"[A-Z][\w.\s]*'s)\s+(?:life|age))|as))"
)
_NOT_YET = re.compile(
    r"\b(?:before|until|till|towards?|approach\w*|near\w*|for|since(?!\s+(?:his|her)))\s+(?:[\w'.]+\s+){0,3}\Z"
)
_THING_IS = re.compile(
    r"\W*(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er)\s+(?:[a-z-]+\s+)?(?P<noun>[a-z-]+)\s+(?:(?:in|on|at|from)\s+which|which|that|"
    r"where)\s"
    r"[^,;]{2,40}\s(?:was|is)\s+(?:[a-z]+\s+){0,2}\Z"
)
"""`The house in which Mara lodged was thirty years old`."""
_KNOWN = re.compile(r"\b(?:old|young)\s+at\s+\Z")
"""`thought Mara too old at forty`: that she is forty nobody doubts."""
_CONFIRMED = re.compile(CONFIRMED)
_THERE_WERE = re.compile(
    r"\b[Tt]here\s+(?:was|were|are|is|had\s+been|must\s+be|must\s+have\s+been)\s+(?:\w+\s+){0,2}\Z"
)
"""`There were eighteen`: things that somebody counted."""
_NEAR = 24
"""Characters around a number in which what it counts would stand."""
_BETWEEN = re.compile(
    rf"\b(?:nearer|half-?\s?way\s+between)\s+(?P<number>{NUMBER})\s+(?:than|and)\s+(?P<other>{NUMBER})\b"
)
_YOUNGEST = 13
"""Smaller bare numbers count too much else; they are ages only with `years old`."""
_GROWN = 28
"""`At forty Mara had learned …` is now; `At nine Mara had learned …` looks back."""


def years(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such age that the file tells."""
    prose = narration.prose
    for number, found in prose.matches(_NUMBER, COUNTED):
        value = range_of(found)
        if value is None or not 1 < value[0] <= value[1] <= OLDEST:
            continue
        if not _is_age(prose.sentences[number], found) or _is_past(prose.sentences[number], found):
            continue
        yield from _told(narration, binder, number, found, value)
    for number, found in prose.matches(_BIRTHDAY, COUNTED_OFF):
        value = _of_birthday(prose.sentences[number], found)
        if value is not None:
            yield from _told(narration, binder, number, found, value)
    for number, found in prose.matches(_BETWEEN, COUNTED):
        first, second = number_of(found.group("number")) or 0, number_of(found.group("other")) or 0
        middle = (first + second) // 2
        between = (min(middle, first), max(middle, first)) if "than" in found.group() else (middle - 2, middle + 2)
        yield from _told(narration, binder, number, found, between)


def _is_age(sentence: Sentence, found: re.Match[str]) -> bool:
    text, start, end = sentence.text, found.start() - sentence.start, found.end() - sentence.start
    if _OLD.match(text, end):
        return True
    value = range_of(found)
    if value is None or value[1] < _YOUNGEST or _OTHERWISE.search(text, max(0, start - _NEAR), end + _NEAR):
        return False
    if _COUNT.match(text, end):
        return _is_life(text, start, end)
    return _THERE_WERE.search(text[:start]) is None and _is_bare_age(text, start, end, found)


def _is_life(text: str, start: int, end: int) -> bool:
    """Whether counted years are all the years of a life."""
    before = text[:start]
    if re.match(r"\s+\w+\s+of\s+(?:service|marriage|work|peace|war|practice|toil)\b", text[end:]):
        return False
    own = re.search(r"\b[Bb]orn\b", before) or _HIS.search(before)
    if _LATER.match(text, end) and not (own or _LIFE.search(text, end, end + 4 * _NEAR)):
        return False
    if _LIVED.search(before):
        return True
    if _HIS.search(before) or (re.search(r"(?:\A|[;:—]|\band)\W*\Z", before) and _TAUGHT.match(text, end)):
        return True
    return _LIFE.search(text) is not None and not re.search(r"\b[Aa]fter\s+\Z", before)


def _is_bare_age(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    """Whether a number that counts nothing stands where an age stands."""
    before, said = text[:start], text[: start + found.start("number") - found.start()]
    if _WHICH_HE_WAS.match(text, end):
        return True
    if _KNOWN.search(before):
        return True
    if not _NO_NOUN.match(text, end) or _FACE_OF.search(before):
        return False
    apart = _SET_APART.match(text, end) and (_SETS_APART.search(before) or _SETS_APART.search(said))
    stands = _STANDS.search(before) or _STANDS.search(said)
    return bool(apart or stands or _ONE_OF.search(before) or _WROTE.search(text))


def _is_past(sentence: Sentence, found: re.Match[str]) -> bool:
    """Whether the age was or will be another time's, or is only what somebody looks like."""
    text, start, end = sentence.text, found.start() - sentence.start, found.end() - sentence.start
    value = range_of(found)
    if _WHICH_HE_WAS.match(text, end):
        return False
    if (
        re.search(r"\b[Aa]t\s+\Z", text[:start])
        and value is not None
        and (_AT_DID.match(text, end) or (value[0] < _GROWN and _AT_HAD.match(text, end)))
    ):
        return True
    if _COUNT.match(text, end) and (_HIS.search(text[:start]) or re.search(r"\b[Bb]orn\b", text[:start])):
        # `She looked younger than her thirty years`.
        return False
    if _CONFIRMED.search(text, 0, start):
        return False
    clause = re.split(r"[;:—]|\b(?:and|but)\b", text[:start])[-1]
    if re.search(r"\b(?:this|now)\b[^,;]{0,20},\s+when\s+(?:[\w.]+\s+){1,4}\Z", text[:start]):
        return False
    gone = _LONG_GONE.search(text) and not (_COUNT.match(text, end) and _LIFE.search(text))
    return bool(
        gone or _BACK.search(text[:start]) or _LOOKS.search(clause) or _CAME_AT.search(clause) or _WHEN.match(text, end)
    )


def _of_birthday(sentence: Sentence, found: re.Match[str]) -> tuple[int, int] | None:
    value = ordinal_of(found.group("number"))
    before = sentence.text[: found.start() - sentence.start]
    if value is None or value <= 1 or _NOT_YET.search(before.rstrip() + " ") or _LONG_GONE.search(before):
        return None
    if found.group("what") == "birthday":
        return value, value
    return (value - 1, value) if _HIS.search(before) or re.search(r"\bthe\s+\Z", before) else None


def _told(
    narration: Narration, binder: Binder, number: int, found: re.Match[str], value: tuple[int, int]
) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    few = any(one.end() > found.start() >= one.start() for one in _FEW.finditer(narration.prose.told, sentence.start))
    few = few or _WHICH_HE_WAS.match(narration.prose.told, found.end()) is not None
    known = _KNOWN.search(sentence.text, 0, found.start() - sentence.start) is not None
    owner = (
        about(binder, number) if few or known else bearer(binder, number, found.start()) or _whose_age(binder, number)
    )
    own = (
        "number" in found.groupdict()
        and _HIS.search(sentence.text[: found.start("number") - sentence.start]) is not None
    )
    if owner is None or not is_claimed(
        narration, number, (found.start("number"), found.end()), granted=True, likened=not own, owned=known
    ):
        return
    at = found.start() - sentence.start
    thing = _THING_IS.match(sentence.text, 0, at)
    if (thing and not OTHERS.search(thing.group("noun"))) or (
        owner.is_possessive and _OLD.match(sentence.text, found.end() - sentence.start)
    ):
        # `Mara's house was thirty years old.`
        return
    yield fact_at(narration.prose, number, found.span(), owner, "age", value, found.group())


def _whose_age(binder: Binder, number: int) -> Mention | None:
    """`The clerk asked Mara her age and wrote forty`: whoever writes, it is hers."""
    text = binder.prose.sentences[number].text
    people = named_people(binder, number)
    if (
        len({one.key for one in people}) != 1
        or KIN.search(text)
        or not re.search(r"\b(?:his|her|the|for)\s+age\b|'s\s+age\b|\bdown\s+as\b", text)
    ):
        return None
    return people[0]
