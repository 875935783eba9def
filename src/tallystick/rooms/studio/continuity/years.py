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
from tallystick.rooms.studio.continuity.identity import identified
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.past_ages import COUNT, HIS, LIFE, LONG_GONE, WHICH_HE_WAS, is_past
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import COUNTED, COUNTED_OFF, NUMBER, ORDINAL, number_of, ordinal_of

_NUMBER = re.compile(rf"(?<![\w-]){AGE}(?!\w)(?!-(?!years?-old\b))(?!\s+and\s+a\s+half)", re.IGNORECASE)
_NO_NOUN = re.compile(  # what follows a number that counts nothing
    r"\s*(?:[.,;:!?)—]|\Z)|\s+(?:and|but|or|that|this|now|then|when|with|without|in|on|to\s+(?:the\s+day|whom)|whom|"
    r"whose|yet|though|who|one|was|is|had|has|have|he|she|instead|already|again|if|by|does|should|may|can|cannot|"
    r"could|ought|will|must|as|"
    r"for|come|last|at|since|until|years?\s+(?:old|of\s+age)|an?\s+(?:few|week|day|month|fortnight|year|couple)|"
    r"the\s+(?:day|week|month|(?:\w+\s+)?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day))\b|\s+[A-Z]"
)
_STANDS = re.compile(
    r"\b(?:[Aa]t|[Bb]eing|be|was|is|were|turned|turning|turn|reached|reaching|attained|[Aa]ged|age\s+of|as\s+old\s+as|"
    r"only|but|now|just|become|became|stood\s+at|of\s+being|passed|entered|past|been|reckoned,|(?:owned|own|admitted|"
    r"confessed|lived|got|come|close|near)\s+(?:up\s+)?to|(?:well|enough|old|young|hale|strong|fit|good)\s+for|"
    r"made\s+(?:him|her|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)|(?:was|is|,)\s+an?\s+(?:[a-z-]+\s+){0,1}[a-z-]+|(?:widow|widower|"
    r"bachelor|spinster|single)\s+and|down\s+(?:[\w\s]{1,20}\s)?as|made\s+(?:them|it)|"
    r"(?:brought|carried|taken|borne)\s+(?:him|her|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:up\s+|on\s+)?to)\s+\Z"
)
_SET_APART = re.compile(
    r"\s+(?:that|this|last|next|come)\s+(?:very\s+|same\s+)?[\w-]+,\s+(?=[A-Z])|"
    r"\s+and\s+(?:an?|still|un\w+|single|married|never|not)\b|"
    r"(?:\s+(?:now|already|today))?,\s+(?:[a-z-]+(?:\s+and\s+[a-z-]+)?,\s+)?(?=[A-Z][\w.]+\s+[\w']+)"
)
_AND_MORE = re.compile(r"\s+and\s+(?:[a-z-]+\s+){0,4}[a-z-]+,")
"""`Tobias, forty-five and newly bald, …`."""
_SETS_APART = re.compile(r"(?:\A\W*(?:(?:Though|Although|Only|Still|Barely|Just|Being)\s+)?|,\s+)\Z")
"""`Tobias, forty and a bachelor,`; `Forty and never been to sea`."""
_LIVED = re.compile(r"\b(?:counted|lived|numbered|seen|carried|completed)\s+(?:for\s+|but\s+|only\s+)?\Z|\bwhat\s+\Z")
_TAUGHT = re.compile(  # `Forty years had taught Mara to wait`: they are hers
    r"\s+(?:years|summers|winters|springs)\s+(?:had|have)\s+(?!(?:passed|gone\s+by|elapsed|rolled|"
    r"slipped)\b(?!\s+over))(?:\w+\s+){1,8}?(?=[A-Z]|him\b|her\b|his\b)"
)
_ONE_OF = re.compile(
    r"\b(?:man|woman|person|somebody|someone|girl|boy|lady|gentleman|fellow|creature|widow|widower|bachelor|spinster|"
    r"lad|youth|people|persons|men|women|body|soul)\s+(?:of|who\s+(?:was|is))\s+\Z"
)
_FEW = re.compile(
    r"\b(?:not\s+many|few|no|an?|any|every|scarcely\s+an?|hardly\s+an?|not\s+every)\s+(?:people|persons?|men|women|man|"
    r"woman)\s+of\s+"
    rf"{NUMBER}\s+(?:does|do|has|have|should|may|can|cannot|could|ought|is|are|will|must)\b",
    re.IGNORECASE,
)
"""`Few men of forty could have done what Mara did`: she is of that age."""
_ANY_OF = re.compile(
    r"\b(?:is|are|does|do|becomes?|befits?|suits?|ought|cannot|can|should|must|will|may)\b[^,;.]{0,50}\b(?:an?|any)\s+"
    r"(?:\w+\s+)?(?:man|woman|person|body|creature|soul|lady|gentleman|bachelor|spinster|widow|widower|girl|"
    r"fellow)\s+of\s+"
    rf"{NUMBER}\b(?=[^.]*?(?:,\s+(?:and|but|yet|as|so)|;(?:\s+(?:and|but|yet))?)\s+[A-Z])"
)
"""`There is no law against a woman of forty sliding down a haystack, and Mara did it`: she is of that age."""
_FACE_OF = re.compile(
    r"\b(?:face|figure|hands?|look|voice|step|heart|eyes|mind|body|legs|vigour|energy|head|shoulders|strength|"
    r"air)\s+of\s+(?:an?\s+(?:\w+\s+)?\w+\s+of\s+)?\Z"
)
_OLD = re.compile(r"\s*(?:-years?-old\b|\s+years?\s+old\b|\s+years\s+of\s+age\b|-year-old\b)")
_LATER = re.compile(
    r"\s+\w+\s+(?:later|afterwards?|after|since|hence|in\s+(?!which|the\s+(?:belief|faith|conviction|persuasion|"
    r"hope|dark)\b|the\s+world|this\s+world|all)|at\s+(?!the\s+back)|"
    r"with|together|there|abroad|away|before(?!\s+(?:it|she|he)\b)|earlier|ago|of\s+(?:service|marriage|work|peace|war|"
    r"age)|under|among|as|younger|older|senior|his\s+senior|between)\b"
)
_WROTE = re.compile(r"\b(?:ages?|how\s+old|years\s+(?:of|were|old|numbered))\b")
_OTHERWISE = re.compile(
    r"\b(?:pounds?|guineas?|shillings?|pence|francs?|dollars?|miles?|yards?|feet|inches|acres?|pages?|votes?|"
    r"o'clock|minutes?|hours?|degrees|tons?|sheep|"
    r"soldiers|page|number|No\.|chapter|train|points?|price|cost|worth|bid|per|cent)\b"
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
_THING_WAS = re.compile(
    r"(?:\A\W*|[;,]\s+(?:and\s+|but\s+)?)(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]his|"
    r"[Tt]hat)\s+(?:[a-z-]+\s+)?(?P<noun>[a-z-]+)\s+"
    r"(?:was|is)\s+(?:[a-z]+\s+){0,2}\Z"
)
"""`The wine was forty years old, and Mara drank it`."""
_KNOWN = re.compile(r"\b(?:old|young)\s+at\s+\Z")
"""`thought Mara too old at forty`: that she is forty nobody doubts."""
_THERE_WERE = re.compile(
    r"\b[Tt]here\s+(?:was|were|are|is|had\s+been|must\s+be|must\s+have\s+been)\s+(?:\w+\s+){0,2}\Z"
)
"""`There were eighteen`: things that somebody counted."""
_COUNTED_THINGS = re.compile(
    r"\bcount(?:ed|ing)\s+(?:up\s+|over\s+)?(?:all\s+)?(?:the|his|her|their|these|those)\s+"
    r"(?!years|birthdays|candles|fingers|summers|winters|springs|rings)[a-z]+\b"
)
"""`counted the steps and made it forty`."""
_NEAR = 24
"""Characters around a number in which what it counts would stand."""
_BETWEEN = re.compile(
    rf"\b(?:nearer|half-?\s?way\s+between)\s+(?P<number>{NUMBER})\s+(?:than|and)\s+(?P<other>{NUMBER})\b"
)
_ONE_OF_THEM = re.compile(
    r"\b(?:man|woman|person|gentleman|lady|girl|boy|youth|figure|creature|fellow|somebody|someone|traveller|stranger|"
    r"soul|widow|widower|bachelor|spinster),?\s+(?:of\s+|aged\s+|who\s+was\s+)?\Z"
)
_WHO_WAS = re.compile(
    r",\s+(?:who\s+(?:was|is)|whose\s+(?:age|years)\s+(?:was|were|is)|being|aged)\s+(?:now\s+|then\s+)?\Z"
)
_WITH_HIS = re.compile(r",\s+(?:with|for|despite|in\s+spite\s+of|at)\s+(?:all\s+)?(?:his|her)\s+\Z")
_HIS_AGE = re.compile(
    r"\b(?:his|her|the|for)\s+age\b|'s\s+age\b|\bdown\s+as\b|\bagainst\s+(?:the\s+name\s+of\s+[A-Z]|(?:[A-Z][\w.]*\s+)*"
    r"[A-Z]\w+'s\s+name)|\b(?:entered|registered|recorded|described|returned|enrolled|listed|booked)\s+"
    r"(?:[A-Z][\w.]*\s+)+as\b"
)
_YOUNGEST = 13
"""Smaller bare numbers count too much else; they are ages only with `years old`."""


def years(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such age that the file tells."""
    prose = narration.prose
    for number, found in prose.matches(_NUMBER, COUNTED):
        value = range_of(found)
        if value is None or not 1 < value[0] <= value[1] <= OLDEST:
            continue
        if not _is_age(prose.sentences[number], found) or is_past(prose.sentences[number], found):
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
    first = max(0, start - _NEAR, *(text.rfind(sign, 0, start) for sign in ",;:"))
    own = COUNT.match(text, end) and HIS.search(text[:start])
    if value is None or value[1] < _YOUNGEST or (not own and _OTHERWISE.search(text, first, end + _NEAR)):
        return False
    if _COUNTED_THINGS.search(text, 0, start):
        return False
    if COUNT.match(text, end):
        return _is_life(text, start, end)
    return _THERE_WERE.search(text[:start]) is None and _is_bare_age(text, start, end, found)


def _is_life(text: str, start: int, end: int) -> bool:
    """Whether counted years are all the years of a life."""
    before = text[:start]
    if re.match(r"\s+\w+\s+of\s+(?:service|marriage|work|peace|war|practice|toil)\b", text[end:]):
        return False
    if re.search(r"\bbefore\b[^,;]*\b(?:born|birth)\b", text[end:]):
        # `Thirty years the feud had run before Mara was born`.
        return False
    own = re.search(r"\b[Bb]orn\b", before) or HIS.search(before)
    if _LATER.match(text, end) and not (own or LIFE.search(text, end, end + 4 * _NEAR)):
        return False
    if _LIVED.search(before):
        return True
    if HIS.search(before) or (re.search(r"(?:\A|[;:—]|\band)\W*\Z", before) and _TAUGHT.match(text, end)):
        return True
    return LIFE.search(text) is not None and not re.search(r"\b[Aa]fter\s+\Z", before)


def _is_bare_age(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    """Whether a number that counts nothing stands where an age stands."""
    before, said = text[:start], text[: start + found.start("number") - found.start()]
    if WHICH_HE_WAS.match(text, end):
        return True
    if _KNOWN.search(before):
        return True
    if _FACE_OF.search(before):
        return False
    if not _NO_NOUN.match(text, end):
        return any(one.end() > start >= one.start() for one in _of_all(text))
    apart = _SET_APART.match(text, end) and (_SETS_APART.search(before) or _SETS_APART.search(said))
    apart = apart or (_AND_MORE.match(text, end) and re.search(r"[A-Z][\w.]*,\s+\Z", before))
    stands = _STANDS.search(before) or _STANDS.search(said)
    return bool(apart or stands or _ONE_OF.search(before) or _WROTE.search(text))


def _of_all(text: str) -> list[re.Match[str]]:
    """What is said of everybody of an age."""
    return [*_FEW.finditer(text), *_ANY_OF.finditer(text)]


def _of_birthday(sentence: Sentence, found: re.Match[str]) -> tuple[int, int] | None:
    value = ordinal_of(found.group("number"))
    before = sentence.text[: found.start() - sentence.start]
    if value is None or value <= 1 or _NOT_YET.search(before.rstrip() + " ") or LONG_GONE.search(before):
        return None
    if found.group("what") == "birthday":
        return value, value
    return (value - 1, value) if HIS.search(before) or re.search(r"\bthe\s+\Z", before) else None


def _told(
    narration: Narration, binder: Binder, number: int, found: re.Match[str], value: tuple[int, int]
) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    few = any(one.end() > found.start() - sentence.start >= one.start() for one in _of_all(sentence.text))
    few = few or WHICH_HE_WAS.match(narration.prose.told, found.end(), sentence.end) is not None
    known = _KNOWN.search(sentence.text, 0, found.start() - sentence.start) is not None
    owner = about(binder, number) if few or known else _owner(binder, number, found)
    own = (
        "number" in found.groupdict()
        and HIS.search(sentence.text[: found.start("number") - sentence.start]) is not None
    )
    if owner is None or not is_claimed(
        narration, number, (found.start(), found.end()), granted=True, likened=not own, owned=known
    ):
        return
    at = found.start() - sentence.start
    old = _OLD.match(sentence.text, found.end() - sentence.start) and not few
    thing = _THING_IS.match(sentence.text, 0, at) or (_THING_WAS.search(sentence.text, 0, at) if old else None)
    if (thing and not OTHERS.search(thing.group("noun"))) or (owner.is_possessive and old):
        # `Mara's house was thirty years old.`
        return
    yield fact_at(narration.prose, number, found.span(), owner, "age", value, found.group())


def _owner(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    """Whose age it is: by the company, by the words beside it, or as who is named in the end."""
    at = found.start()
    return (
        bearer(binder, number, at)
        or _beside(binder, number, found)
        or _whose_age(binder, number)
        or _teller(binder, number, at)
        or binder.fronted(number, at)
        or (identified(binder, number, at) if _ONE_OF_THEM.search(binder.prose.told, max(0, at - _NEAR), at) else None)
    )


def _beside(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    """`Mara, whose age was forty`, `Mara, with her forty years`."""
    sentence = binder.prose.sentences[number]
    before = sentence.text[: found.start() - sentence.start]
    if said := _WHO_WAS.search(before):
        return binder.named_before(number, sentence.start + said.start())
    if before.endswith(", ") and _OLD.match(sentence.text, found.end() - sentence.start):
        # `It was Mara, forty years old and stiff in the knees`.
        return binder.named_before(number, found.start() - 2)
    own = _WITH_HIS.search(before) if COUNT.match(binder.prose.told, found.end()) else None
    return binder.named_before(number, sentence.start + own.start()) if own else None


_TOLD = re.compile(
    r"\b(?:told|gave|answered|assured|informed|let)\s+(?:him|her|them|the\s+[a-z]+)\s+(?:know\s+)?(?:it|"
    r"the\s+(?:\w+\s+)?(?:truth|figure|number)|truthfully)\b[^;]{0,30}\Z"
)


def _teller(binder: Binder, number: int, at: int) -> Mention | None:
    """`the doctor asked, and Mara told her the truth, which was forty`: whoever tells it tells his own."""
    sentence = binder.prose.sentences[number]
    told = _TOLD.search(sentence.text, 0, at - sentence.start)
    return binder.named_before(number, sentence.start + told.start()) if told else None


def _whose_age(binder: Binder, number: int) -> Mention | None:
    """`The clerk asked Mara her age and wrote forty`: whoever writes, it is hers."""
    text = binder.prose.sentences[number].text
    people = named_people(binder, number)
    if len({one.key for one in people}) != 1 or KIN.search(text) or not _HIS_AGE.search(text):
        return None
    return people[0]
