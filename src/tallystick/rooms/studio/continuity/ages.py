"""How old somebody is, as the narration gives it: a range, since `about forty` and `in her thirties` are ages too."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import holder, possessor
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import (
    COUNTED,
    COUNTED_OFF,
    NUMBER,
    ORDINAL,
    TENS,
    number_of,
    ordinal_of,
)

OLDEST = 120
_ABOUT = (
    r"(?P<about>about|around|nearly|almost|some|roughly|perhaps|close on|close to|over|past|under|more than|"
    r"less than|not yet|not quite)?"
)
_PERSON = (
    r"(?:girl|boy|man|woman|lad|lady|creature|gentleman|youth|child|widow|widower|maid|lass|fellow|person|"
    r"bachelor|spinster)"
)
_IS = re.compile(
    r"\b(?P<verb>was|is|turned|had turned|had just turned|has turned|has just turned|reached|had reached|became)\s+"
    r"(?:(?:now|then|still|just|only|barely|but|already|exactly|well|the\s+age\s+of|at\s+least|herself|himself|"
    r"at\s+th(?:is|at|e)\s+time|at\s+this\s+point|by\s+(?:now|then)|in\s+fact|this\s+year|that\s+year),?\s+)*"
    rf"{_ABOUT}\s*(?P<number>{NUMBER})(?P<years>\s+years?(?:\s+(?:old|of\s+age))?)?"
    r"(?=\s*(?:[.,;:!?)—]|\Z|\s(?:years\s+old\b|and\s+(?!(?:a\s+)?half\b)|but\b|that\s+(?:day|week|month|year|"
    r"spring|summer|autumn|"
    r"winter|morning|night)|this\s|last\s|now\b|or\s+so|in\s+(?:the\s+)?(?:spring|summer|autumn|winter|year|"
    r"January|February|March|April|"
    r"May|June|July|August|September|October|November|December|1[0-9]{3}|20[0-9]{2})|at\s+the\s+time)))"
)
_BIRTHDAY = re.compile(rf"\b(?P<number>{ORDINAL})\s+birthday\b")
_YEAR_OF = re.compile(rf"\bin\s+(?:his|her)\s+(?P<number>{ORDINAL})\s+year\b")
_DECADE = re.compile(
    rf"(?:\b(?:was|is)|,)\s+(?:now\s+|still\s+|already\s+|well\s+)?in\s+(?:his|her)\s+(?P<part>early|mid|middle|"
    rf"late)?[- ]?"
    rf"(?P<decade>{'|'.join(ten[:-1] + 'ies' for ten in TENS)})\b"
)
_YEARS_OLD_NAME = re.compile(rf"\b(?P<number>{NUMBER})[- ]years?[- ]old\b", re.IGNORECASE)
_AGED = re.compile(
    rf"(?:,\s+(?:who\s+was\s+)?(?:then\s+|now\s+)?aged?\s+{_ABOUT}\s*(?P<a>{NUMBER})\b|,\s+(?:now\s+|then\s+|"
    rf"only\s+|just\s+)?(?P<b>{NUMBER})(?:\s+years\s+(?:old|of\s+age))?,"
    rf"|\s+\((?:aged\s+)?(?P<c>{NUMBER})\)|,\s+at\s+(?P<d>{NUMBER}),)"
)
_OF = re.compile(
    rf"\b{_PERSON}\s+of\s+(?:(?:only|just|barely|but|perhaps)\s+)?{_ABOUT}\s*(?P<number>{NUMBER})(?:\s+(?:years|"
    rf"summers|winters)\b)?(?=\s*[.,;:!?—)]|\s+(?:who|with|and|when|at|in|or)\b|\Z)"
)
_AT = re.compile(
    rf"\b(?:[Aa]t|[Tt]hough|[Aa]lthough|[Oo]nly|[Ss]till|[Bb]arely|[Jj]ust)\s+(?:the\s+age\s+of\s+|only\s+|just\s+|"
    rf"barely\s+|still\s+|but\s+|not\s+yet\s+)?(?P<number>{NUMBER})(?:\s+years\s+of\s+age)?,?\s+(?=[A-Z])"
)
_AGE_WAS = re.compile(
    rf"\b(?:age|years)\s+(?:was|were|numbered|as|at|to\s+be)\s+(?:now\s+)?{_ABOUT}\s*(?P<number>{NUMBER})\b"
)
_TURNS = re.compile(
    rf"\b(?:would|will)\s+(?:turn|be)\s+(?P<number>{NUMBER})(?=\s+(?:in|on|next|that|this|before|come)\b|\s*[.,;])"
)
_SUMMERS = re.compile(
    rf"\b(?:had|has)\s+(?:now\s+)?(?:seen|lived)\s+(?:only\s+|but\s+)?(?P<number>{NUMBER})\s+(?:summers|winters|"
    rf"springs|years)\b"
)
_BACK_THEN = re.compile(
    r"\b(?:when|since|until|till|before|after|while|by the time|from the time|ever since|because)\s+\Z", re.IGNORECASE
)
_WHEN = re.compile(
    r"(?:\s+years?(?:\s+(?:old|of\s+age))?)?\s*,?\s*(?:when|before|at the time of|the (?:day|year|summer|"
    r"winter) (?:that|when|of))\b"
)
_IN_YEAR = re.compile(r"\b[Ii]n\s+(?:the\s+(?:spring|summer|autumn|winter|year)\s+of\s+)?(1[0-9]{3}|20[0-9]{2})\b")
_BEFORE_BIRTHDAY = re.compile(
    r"\b(?:since|before|until|till|after|towards?|approach\w*|near\w*|for|of)\s+(?:[\w']+\s+){0,3}\Z"
)


def ages(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every age that the file gives somebody."""
    prose = narration.prose
    for pattern, triggers, read in _READERS:
        for number, found in prose.matches(pattern, triggers):
            if not narration.is_real(number):
                continue
            read_age = read(narration, binder, number, found)
            if read_age is None:
                continue
            owner, low, high = read_age
            if low < 1 or high > OLDEST or (owner.is_possessive and pattern in {_IS, _OF}):
                continue
            span = (
                min(owner.start, found.start()) if owner.start >= prose.sentences[number].start else found.start(),
                found.end(),
            )
            year = _IN_YEAR.search(prose.sentences[number].text)
            details = (year.group(1),) if year else ()
            yield fact_at(prose, number, span, owner, "age", (low, high), _words(found), details=details)


def _words(found: re.Match[str]) -> str:
    """The age as it is written."""
    groups = found.groupdict()
    said = next((groups[name] for name in ("number", "a", "b", "c", "d") if groups.get(name)), None)
    about = groups.get("about")
    return f"{about} {said}" if said and about else said or found.group().strip(" ,")


def _is(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    short = found.group("about") in {"not yet", "not quite"}
    said = found.end("about") if short else found.start()
    if _WHEN.match(narration.prose.told, found.end()) or (
        not short and not narration.asserts(number, said, found.end())
    ):
        return None
    owner = holder(binder, number, found.start())
    if owner is None or _is_back_then(narration, number, owner):
        return None
    return _ranged(owner, found)


def _birthday(
    narration: Narration, binder: Binder, number: int, found: re.Match[str]
) -> tuple[Mention, int, int] | None:
    sentence = narration.prose.sentences[number]
    value = ordinal_of(found.group("number"))
    if value is None or _BEFORE_BIRTHDAY.search(sentence.text[: found.start() - sentence.start].rstrip()):
        return None
    owner = possessor(binder, number, found.start())
    return (owner, value, value) if owner else None


def _year_of(
    narration: Narration, binder: Binder, number: int, found: re.Match[str]
) -> tuple[Mention, int, int] | None:
    value = ordinal_of(found.group("number"))
    owner = binder.subject(number, found.start())
    if value is None or owner is None or not narration.asserts(number, found.start(), found.end()):
        return None
    return owner, value - 1, value


def _decade(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    start = found.start()
    owner = binder.named_before(number, start) if found.group().startswith(",") else holder(binder, number, start)
    if owner is None or not narration.asserts(number, found.start(), found.end()):
        return None
    low = 10 * (2 + [ten[:-1] + "ies" for ten in TENS].index(found.group("decade")))
    first, last = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (6, 9)}.get(
        found.group("part") or "", (0, 9)
    )
    return owner, low + first, low + last


def _years_old(
    narration: Narration, binder: Binder, number: int, found: re.Match[str]
) -> tuple[Mention, int, int] | None:
    value = number_of(found.group("number"))
    owner = binder.named_from(number, found.end())
    if owner is None:
        before = narration.prose.told[narration.prose.sentences[number].start : found.start()]
        beside = re.search(r"(?:,|\s+(?:was|is))\s+an?\s+(?:\w+\s+)?\Z", before)
        place = narration.prose.sentences[number].start + beside.start() if beside else -1
        owner = binder.named_before(number, place) if beside else None
        if owner is not None and not narration.asserts(number, place, found.end()):
            return None
    return None if owner is None or value is None or owner.is_possessive else (owner, value, value)


def _aged(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    owner = binder.named_before(number, found.start())
    value = number_of(found.group("a") or found.group("b") or found.group("c") or found.group("d"))
    if owner is None or value is None or owner.is_possessive or not binder.cast.is_person(owner.key):
        return None
    if re.match(
        r",\s+(?:and|or)\s|\s+(?:miles|men|times|pounds)", narration.prose.told[found.end() - 1 : found.end() + 10]
    ):
        return None
    return (owner, value - 2, value + 2) if found.group("about") else (owner, value, value)


def _of(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    before = narration.prose.told[narration.prose.sentences[number].start : found.start()]
    beside = re.search(
        r"(?:,|\s+(?:was|is))\s+(?:now\s+|only\s+|still\s+|then\s+|at\s+(?:this|that)\s+time\s+)?(?:an?|"
        r"the)\s+(?:[\w'-]+,?\s+(?:and\s+)?){0,4}\Z",
        before,
    )
    if beside is None:
        return None
    place = narration.prose.sentences[number].start + beside.start()
    owner = holder(binder, number, place)
    if owner is None or not narration.asserts(number, place, found.end()):
        return None
    return _ranged(owner, found)


def _at(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    owner = binder.named_from(number, found.end())
    if (
        owner is None
        or owner.is_possessive
        or re.match(r"\s+(?:had|has)\b", narration.prose.told[owner.end : owner.end + 8])
    ):
        return None
    value = number_of(found.group("number"))
    is_present = re.match(r"\s+(?:was|is|still)\b", narration.prose.told[owner.end : owner.end + 9])
    is_said = is_present or not found.group().lower().startswith("at")
    return (owner, value, value) if value and is_said else None


def _age_was(
    narration: Narration, binder: Binder, number: int, found: re.Match[str]
) -> tuple[Mention, int, int] | None:
    owner = possessor(binder, number, found.start())
    return _ranged(owner, found) if owner and narration.asserts(number, found.start(), found.end()) else None


def _turns(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    """`would turn nineteen in the autumn` is eighteen, or nineteen soon."""
    owner = holder(binder, number, found.start())
    value = number_of(found.group("number"))
    if owner is None or value is None or narration.is_denied(number, found.start(), found.end()):
        return None
    return owner, value - 1, value


def _summers(
    narration: Narration, binder: Binder, number: int, found: re.Match[str]
) -> tuple[Mention, int, int] | None:
    if narration.is_denied(number, found.start(), found.end()):
        return None
    owner = holder(binder, number, found.start())
    value = number_of(found.group("number"))
    return (owner, value, value) if owner and value else None


def _ranged(owner: Mention, found: re.Match[str]) -> tuple[Mention, int, int] | None:
    value = number_of(found.group("number"))
    if value is None:
        return None
    about = found.group("about")
    if about in {"over", "past", "more than"}:
        return owner, value, value + 9
    if about in {"not yet", "not quite"}:
        return owner, max(value - 2, 1), value
    if about in {"under", "less than"}:
        return owner, max(value - 9, 1), value - 1
    return (owner, max(value - 3, 1), value + 3) if about else (owner, value, value)


def _is_back_then(narration: Narration, number: int, owner: Mention) -> bool:
    """`when Mara was nine` looks back."""
    sentence = narration.prose.sentences[number]
    return owner.start >= sentence.start and bool(_BACK_THEN.search(sentence.text[: owner.start - sentence.start]))


_READERS = (
    (_IS, COUNTED, _is), (_BIRTHDAY, {"birthday"}, _birthday), (_YEAR_OF, COUNTED_OFF, _year_of),
    (_DECADE, {ten[:-1] + "ies" for ten in TENS}, _decade), (_YEARS_OLD_NAME, {"old"}, _years_old),
    (_AGED, COUNTED, _aged), (_OF, COUNTED, _of), (_AT, COUNTED, _at), (_AGE_WAS, {"age", "years"}, _age_was),
    (_TURNS, COUNTED, _turns), (_SUMMERS, {"summers", "winters", "springs", "years"}, _summers),
)  # fmt: skip
