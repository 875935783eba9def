"""How old somebody is, as the narration gives it: a range, since `about forty` and `in her thirties` are ages too."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.age_phrases import AFTER, AGE, PERSON, range_of, said
from tallystick.rooms.studio.continuity.alone import alone
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import holder, possessor
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.unreal import CONFIRMED
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
_IS = re.compile(
    r"\b(?P<verb>was|is|turned|(?:had|has)\s+(?:just\s+|lately\s+|recently\s+|now\s+|already\s+|"
    r"not\s+long\s+)?(?:turned|reached|passed|attained|come\s+to|arrived\s+at|entered\s+upon)|"
    r"(?P<not_yet>had\s+not\s+(?:yet\s+)?(?:turned|reached|attained|passed))|reached|became|stood|"
    r"(?P<never>would\s+never\s+see))\s+"
    rf"{AGE}(?P<years>\s+years?(?:\s+(?:old|of\s+age))?)?(?(never)\s+again)(?:\s+if\s+(?:he|"
    rf"she)\s+was\s+a\s+day)?{AFTER}"
)
_BIRTHDAY = re.compile(rf"\b(?P<number>{ORDINAL})\s+birthday\b")
_YEAR_OF = re.compile(rf"\bin\s+(?:his|her)\s+(?P<number>{ORDINAL})\s+year\b")
_DECADE = re.compile(
    rf"(?:\b(?:was|is)|,)\s+(?:(?:now|still|already|well|on|far)\s+){{0,3}}in(?:to)?\s+(?:his|her|"
    rf"the)\s+(?P<part>early|mid|middle|late)?[- ]?(?P<decade>{'|'.join(ten[:-1] + 'ies' for ten in TENS)})\b"
)
_YEARS_OLD_NAME = re.compile(rf"\b(?P<number>{NUMBER})[- ]years?[- ]old\b", re.IGNORECASE)
_AGED = re.compile(
    r"(?:,\s+(?:though\s+|although\s+|who\s+(?:was|is)\s+|being\s+|at\s+|(?:now\s+|then\s+)?aged?\s+|"
    r"who\s+had\s+(?:\w+\s+)?"
    rf"turned\s+)*{AGE}(?:\s+years\s+(?:old|of\s+age))?(?=,|\s+(?:last|this|that|next|in|on|to)\s+\w+(?:\s+\w+)?[,.;]|"
    rf"\s+and\s+[a-z]+,)"
    rf"|\s*—{AGE.replace('?P<', '?P<dash_')}(?=,)|\s+\((?:aged\s+)?(?P<bracket>{NUMBER})\)|\s+at\s+(?P<bare>{NUMBER})"
    r"(?=\s+(?:was|is|had)\b))"
)
_OF = re.compile(
    rf"\b{PERSON},?\s+(?:of\s+(?:perhaps\s+)?|aged\s+|(?=[\w-]+\s+years\s+(?:old|"
    rf"of\s+age)\b)){AGE}(?:\s+(?:years(?:\s+old|\s+of\s+age)?|summers|winters)\b)?"
    r"(?=\s*[.,;:!?—)]|\s+(?:who|whom|whose|to\s+whom|with|and|when|at|in|or|now|then)\b|\Z)"
)
_AT = re.compile(
    rf"(?:\A|(?<=[.,;¤\s]))(?:(?P<at>[Aa]t)|[Tt]hough|[Aa]lthough|[Oo]nly|[Ss]till|[Bb]arely|[Jj]ust|[Nn]ot\s+yet|"
    rf"[Bb]eing|[Nn]ow|[Aa]ged|[Ss]carcely)\s+{AGE}(?:\s+years\s+(?:of\s+age|old))?,?\s+(?=[A-Z])"
)
_AGE_WAS = re.compile(
    rf"\b(?:age(?::|\s+was|\s+is|\s+as|\s+at|\s+to\s+be)|years\s+(?:were|numbered|as|at|to\s+be))\s+{AGE}\b"
)
_TURNS = re.compile(
    rf"\b(?:would|will)\s+(?:turn|be)\s+(?P<number>{NUMBER})(?=\s+(?:in|on|next|that|this|before(?=\s+(?:[A-Z]|"
    rf"the\s+(?:year|winter|summer|spring|autumn)))|come|at|years\s+old)\b|\s*[.,;])"
)
_SUMMERS = re.compile(
    rf"\b(?:had|has)\s+(?:now\s+)?(?:seen|lived)\s+(?:only\s+|but\s+)?(?P<number>{NUMBER})\s+(?:summers|winters|"
    rf"springs|years)\b"
)
_GAVE_IT = re.compile(r"\b(?:gave|given|giving|stated|declared|put\s+down|owned\s+to)\s+(?:his|her)\s+\Z")
"""What somebody gives out as his age."""
_CONFIRMED = re.compile(CONFIRMED)
_BACK_THEN = re.compile(
    r"\b(?:when|since|until|till|before|after|while|by the time|from the time|ever since)\s+\Z", re.IGNORECASE
)
_WHEN = re.compile(
    r"(?:\s+years?(?:\s+(?:old|of\s+age))?)?\s*,?\s*(?:when|before|at the time of|the (?:day|year|summer|"
    r"winter) (?:that|when|of))\b"
)
_IN_YEAR = re.compile(r"\b[Ii]n\s+(?:the\s+(?:spring|summer|autumn|winter|year)\s+of\s+)?(1[0-9]{3}|20[0-9]{2})\b")
_BEFORE_BIRTHDAY = re.compile(
    r"\b(?:since|before|until|till|after|towards?|approach\w*|near\w*|for|of)\s+(?:[\w']+\s+){0,3}\Z"
)


Read = tuple[Mention, int, int] | None
_PAST_IT = 9
"""Years past a birthday that somebody will never see again."""
_LATER_ON = re.compile(
    rf"\b[Ii]n\s+(?:{NUMBER}|a\s+few|some|another\s+\w+)\s+(?:more\s+)?(?:years|decades)\b(?!\s+of)|"
    r"\b(?:at\s+last|[Bb]y\s+the\s+time|[Ll]ong\s+after(?:wards)?|[Ii]n\s+(?:after|later)\s+(?:years|life))\b"
)
_SHE = re.compile(r"\b(?:he|she|his|her)\s+\Z", re.IGNORECASE)
_ONLY_TRUE = {"granted": True, "likened": False}
"""Here only what is said or dreamt is asked for; what is denied, each reader asks by itself."""


def ages(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every age that the file gives somebody."""
    prose = narration.prose
    for pattern, triggers, read in _READERS:
        for number, found in prose.matches(pattern, triggers):
            text = prose.sentences[number].text
            real = narration.is_real(number) or _CONFIRMED.search(text)
            if not real or _LATER_ON.search(text) or not is_claimed(narration, number, found.span(), **_ONLY_TRUE):
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
            yield fact_at(
                prose,
                number,
                span,
                owner,
                "age",
                (low, high),
                said(found) if "number" in found.groupdict() and found.group("number") else found.group().strip(" ,"),
                details=details,
            )


def _is(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    if _WHEN.match(narration.prose.told, found.end()):
        return None
    start = found.start() if found.group("not_yet") or found.group("never") else found.end("verb")
    # What the age says of itself denies nothing; what follows it denies something else.
    apart = (start, narration.prose.sentences[number].end)
    if not narration.asserts(number, found.start(), found.end(), apart=apart):
        return None
    owner = holder(binder, number, found.start()) or _named_after(binder, number, found.start())
    value = range_of(found)
    if owner is None or value is None or _is_back_then(narration, number, owner, found.start()):
        return None
    low, high = value
    if found.group("not_yet"):
        return owner, max(low - 3, 1), high
    return (owner, low + 1, high + _PAST_IT) if found.group("never") else (owner, low, high)


def _named_after(binder: Binder, number: int, at: int) -> Mention | None:
    """`Though she was thirty, Helen …`: the one name of the sentence follows its pronoun."""
    sentence = binder.prose.sentences[number]
    return alone(binder, number) if _SHE.search(sentence.text[: at - sentence.start]) else None


def _birthday(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    sentence = narration.prose.sentences[number]
    value = ordinal_of(found.group("number"))
    if value is None or _BEFORE_BIRTHDAY.search(sentence.text[: found.start() - sentence.start].rstrip()):
        return None
    owner = possessor(binder, number, found.start()) or _named_after(binder, number, found.start())
    return (owner, value, value) if owner else None


def _year_of(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    value = ordinal_of(found.group("number"))
    owner = binder.subject(number, found.start())
    if value is None or owner is None or not narration.asserts(number, found.start(), found.end()):
        return None
    return owner, value - 1, value


def _decade(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    start = found.start()
    owner = binder.named_before(number, start) if found.group().startswith(",") else holder(binder, number, start)
    if owner is None or not narration.asserts(number, found.start(), found.end()):
        return None
    low = 10 * (2 + [ten[:-1] + "ies" for ten in TENS].index(found.group("decade")))
    first, last = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (6, 9)}.get(
        found.group("part") or "", (0, 9)
    )
    return owner, low + first, low + last


def _years_old(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
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


def _aged(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    owner = binder.named_before(number, found.start())
    value = _aged_range(found)
    if owner is None or value is None or owner.is_possessive or not binder.cast.is_person(owner.key):
        return None
    after = narration.prose.told[found.end() : found.end() + 10]
    if re.match(r",\s+(?:and|or)\s|\s+(?:miles|men|times|pounds)", after):
        return None
    return owner, *value


def _aged_range(found: re.Match[str]) -> tuple[int, int] | None:
    alone_standing = number_of(found.group("bracket") or found.group("bare") or found.group("dash_number") or "")
    return (alone_standing, alone_standing) if alone_standing else range_of(found)


def _of(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    prose = narration.prose
    before = prose.told[prose.sentences[number].start : found.start()]
    value = range_of(found)
    if value is not None and re.fullmatch(r"\W*An?\s+(?:[\w'-]+,?\s+){0,3}", before):
        # `A woman of thirty, Helen knew better.`
        ahead = binder.named_from(number, found.end() + 1) if prose.told[found.end()] == "," else None
        return (ahead, *value) if ahead is not None and not ahead.is_possessive else None
    beside = re.search(
        r"(?:,|\s+(?:was|is))\s+(?:now\s+|only\s+|still\s+|then\s+|at\s+(?:this|that)\s+time\s+)?(?:an?|"
        r"the)\s+(?:[\w'-]+,?\s+(?:and\s+)?){0,4}\Z",
        before,
    )
    if beside is None or value is None:
        return None
    place = prose.sentences[number].start + beside.start()
    owner = holder(binder, number, place)
    apart = (found.start(), found.end("number"))
    if owner is None or not narration.asserts(number, place, found.end(), apart=apart):
        return None
    return owner, *value


def _at(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    owner = binder.named_from(number, found.end())
    value = range_of(found)
    if owner is None or value is None or owner.is_possessive:
        return None
    if not found.group("at"):
        return owner, *value
    # `At nine Mara broke her arm` looks back; `At nine Mara was …` need not.
    is_present = re.match(
        r"\s+(?:was|is|still|had\s+(?:his|her|an?|no|the)\b)", narration.prose.told[owner.end : owner.end + 9]
    )
    return (owner, *value) if is_present else None


def _age_was(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    sentence = narration.prose.sentences[number]
    if _GAVE_IT.search(sentence.text, 0, found.start() - sentence.start) and not _CONFIRMED.search(sentence.text):
        return None
    owner = possessor(binder, number, found.start())
    return _ranged(owner, found) if owner and narration.asserts(number, found.start(), found.end()) else None


def _turns(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    """`would turn nineteen in the autumn` is eighteen, or nineteen soon."""
    owner = holder(binder, number, found.start())
    value = number_of(found.group("number"))
    if owner is None or value is None or narration.is_denied(number, found.start(), found.end()):
        return None
    return owner, value - 1, value


def _summers(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Read:
    if narration.is_denied(number, found.start(), found.end()):
        return None
    owner = holder(binder, number, found.start())
    value = number_of(found.group("number"))
    return (owner, value, value) if owner and value else None


def _ranged(owner: Mention, found: re.Match[str]) -> Read:
    value = range_of(found)
    return None if value is None else (owner, *value)


def _is_back_then(narration: Narration, number: int, owner: Mention, at: int) -> bool:
    """`when Mara was nine`, `when she was nine` look back."""
    sentence = narration.prose.sentences[number]
    if _BACK_THEN.search(re.sub(r"\b(?:he|she)\s*\Z", "", sentence.text[: at - sentence.start])):
        return True
    return owner.start >= sentence.start and bool(_BACK_THEN.search(sentence.text[: owner.start - sentence.start]))


_READERS = (
    (_IS, COUNTED, _is), (_BIRTHDAY, {"birthday"}, _birthday), (_YEAR_OF, COUNTED_OFF, _year_of),
    (_DECADE, {ten[:-1] + "ies" for ten in TENS}, _decade), (_YEARS_OLD_NAME, {"old"}, _years_old),
    (_AGED, COUNTED, _aged), (_OF, COUNTED, _of), (_AT, COUNTED, _at), (_AGE_WAS, {"age", "years"}, _age_was),
    (_TURNS, COUNTED, _turns), (_SUMMERS, {"summers", "winters", "springs", "years"}, _summers),
)  # fmt: skip
