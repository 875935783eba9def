"""On which day of the year somebody was born, in any sentence that gives one date and speaks of one birth."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.cleft import is_anothers_by_cleft
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, Moment, moment_of
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import HIMSELF, KIN, OTHERS, about, bearer
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention

_DATED = re.compile(DATE)
_BIRTH = re.compile(
    r"\b(?:(?<!second )(?<!\bother )[Bb]irthdays?(?!\s+(?:present|gift|parcel|card|letter|cheque)s?\b)|natal\s+day|"
    r"(?<!people )(?<!those )"
    r"(?<!persons )(?<!anybody )"
    r"(?<!children )(?<!men )(?<!women )(?<!all )[Bb]orn\b|"
    r"birth\b(?!\s+to)|c[ao]me\s+into\s+the\s+world|(?:a|one|another)\s+year\s+"
    r"older|nativity|g[ai]ven?\s+(?=[A-Z])(?:[\w.]+\s+){1,3}to\s+(?:the|an?)\s+(?:\w+\s+)?(?:world|family|mother|"
    r"parents)|(?:first\s+)?s(?:aw|een)\s+the\s+light|happy\s+returns|(?:year|twelvemonth|one)\s+(?:was\s+|"
    r"had\s+been\s+)?"
    r"(?:added\s+)?to\s+(?:the\s+age|his\s+age|her\s+age|(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s\s+age)|(?:was|were|"
    r"been)\s+(?:\w+ly\s+)?delivered|brought\s+(?:him|her|(?:[A-Z][\w.]*\s+)*[A-Z]\w+)\s+into\s+the\s+world|"
    r"borne\s+(?:him|her)|dr(?:ew|awn)\s+(?:(?:his|her)\s+(?:very\s+)?first\s+)?breath|newborn|"
    r"child\s+of\s+(?=the\s)|(?:himself|herself)\s+an?\s+birthday\s+\w+|,\s+an?\s+birthday\s+present\s+from|(?:had|"
    r"received|got|opened|unwrapped|found|given)\s+(?:(?:his|her|an?|two|three|four|five|six|some|several|"
    r"no)\s+){0,2}birthday\s+"
    r"(?:presents?|gifts?|cards?|letters?|parcels?)(?!\s+(?:for|to)\b))\b"
)
_ANOTHERS = re.compile(r"(?P<whose>[\w.-]+)(?:'s|s')\s+(?:(?:own|last|next|[a-z]+th)\s+)?\Z")
_OWN = re.compile(r"\b(?:[Hh]is|[Hh]er)\s+(?:(?:own|last|next|[a-z]+th)\s+)?\Z")
_OF_HIM = re.compile(r"\s+of\s+(?=[A-Z])")
_OF_ANOTHER = re.compile(r"\s+of\s+(?:(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?\s+[a-z]|(?:the|an?|his|her)\s)")
_IS_THE_DAY = re.compile(
    r"birthday\s+(?:itself\s+)?(?:(?:was|is|being|fell|falls|came|comes|had\s+been|stood|happened|occurred)\s+)"
    r"(?:always\s+|to\s+be\s+|to\s+fall\s+)?(?:up)?(?:on\s+)?(?:the\s+)?\Z|(?:\bhis|\bher|'s)\s+(?:own\s+)?birthday,\s+"
    r"(?:the\s+)?\Z"
)
_THE_DAY_IS = re.compile(
    r"(?:,\s+(?:and\s+)?(?:which\s+(?:was|is)\s+|being\s+)?|\s+(?:was|is|being)\s+)(?:(?:also|always|now|indeed|in\s+"
    r"fact)\s+)?(?:(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s?|his|her)\s+(?:own\s+)?(?:birthday|natal)|"
    r",\s+the\s+(?:day|anniversary|date)\s+of\s+(?:his|her)\s+birth|"
    r"[^;]*?\b(?:should|might|would|to|and)\s+(?:fall|fell|coincide)\s+(?:up)?(?:on|with)\s+(?:(?:[A-Z][\w.]*\s+)*"
    r"[A-Z]\w+'s?|his|her)\s+(?:own\s+)?birthday"
)
"""`her birthday being the 3rd of May`, `the 3rd of May, her birthday`: so plain that nothing beside it matters."""
_OTHER_DAY = re.compile(
    r"\b(?:before|after|since|until|till|from|between|not|never|[Bb]y|(?<!fixed )(?<!set )for)\s+(?:the\s+)?\Z|"
    r"\b(?:had|was|being)\s+(?:come\s+and\s+gone|over|past)\b|\b(?:rent|bill|interest|debt)\s+(?:fell|was|came)\b|"
    r"\bless\s+than\b"
)
_LATE = re.compile(
    r"\b(?:come\s+and\s+gone|less\s+than|(?:not|no|than|meant\s+for|intended\s+for|bought\s+for|"
    r"kept\s+for)\s+(?:[\w'.]+\s+){0,3}?birthday|(?:as|than)\s+it\s+had\s+been|nowhere\s+near|the\s+(?:right|true|"
    r"real)\s+day|on\s+another\s+day|called\s+(?:it|this|that)|"
    r"(?:not|never)\s+(?:been\s+)?(?:born|come\s+into)|(?:was|is|fell)\s+(?:not|never)\s+(?:up)?(?:on\s+)?(?:the|his|"
    r"her|[A-Z])|[A-Z]\w+'s\s+(?:mare|horse|pony|dog|cat|parrot|cow|ship|boat|hound|doll)\b|"
    r"birthday\s+being\s+(?:over|past|gone)|"
    r"gave\b[^;,]*\b[A-Z]\w+\s+(?:for|as)\s+(?:his|her)\s+birthday|did\s+not\s+get|held\s+over|had\s+passed|put\s+off|"
    r"(?:days?|weeks?|months?|fortnight)\s+(?:before|after|to\s+wait|short|(?<!the day )off)|"
    r"for\s+the\s+(?:following|next)\s+\w+|born\s+again|(?:rather|sooner|liked\s+to|wished\s+to|"
    r"preferred\s+to)\s+(?:have\s+been|be)\s+born|"
    r"(?:somebody|someone|some\s+one|another\s+\w+)(?:\s+else)?'s\s+(?:file|name|card|papers|birthday|letter)|"
    r"birth(?:day)?\s+(?:itself\s+)?(?:was|lay|had\s+been|had\s+gone)\s+(?:\w+\s+){0,3}(?:past|over|behind|gone|by)|"
    r"belated|"
    r"(?:not|never|n't)\s+(?:been\s+)?born|name-?day|would\s+have\s+been|married|set\s+down\s+as|without\s+(?:him|"
    r"her)|forgot\s+to)\b"
)
_MANY = re.compile(r"(?:s|children|men|people|folk)\Z")
"""Those whose birthday is neither `his` nor `her` birthday."""
_MOTHERS_DOING = re.compile(r"brought\s|borne\s|(?:was|were|been)\s+(?:\w+ly\s+)?delivered")
_MOTHER = re.compile(r"\b(?:[Mm]other|[Mm]idwife|[Nn]urse|[Dd]octor|[Ss]urgeon)\b")
"""What a mother does on that day is done to the one who has a name."""
_CUT = re.compile(r"\b(?:because|since|which|while|so|but)\b|[;:—]")
_IT_WAS = re.compile(
    r"\W*(?:(?:It|This|That|To-?day|The\s+day)\s+(?:was|"
    r"happened\s+to\s+be)\s+)?(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s?\s+birthday\W*\Z"
)
"""The whole of a sentence; the one beside it may give the date."""
_ON_HIS_BIRTHDAY = re.compile(
    r"[^;:¤]*?\bon\s+(?:the\s+(?:\w+\s+)?(?:morning|evening|night|afternoon|day)\s+of\s+)?(?:his|her|"
    r"(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s?)\s+(?:own\s+)?birthday\b"
)
_TODAY = re.compile(r"\W*(?:(?:It|The\s+date|The\s+day|To-?day)\s+was\s+)?(?:(?:on|now)\s+)?\Z")
"""`It was the 3rd of May. Mara came down on the morning of her birthday …`."""
_NOT_HIS = re.compile(r"\s+(?:before\s|(?:was|is|being)\s+(?:the|an?)\s+(?:[a-z]+\s+)?\w+'s\b)")
_IS_HIS = re.compile(
    r"\s+(?:was|is|being)\s+(?:(?:his|her)\s+own|(?P<name>(?:[A-Z][\w.]*\s+)*[A-Z]\w+)'s?)(?=\s*[,.;]|\s+(?:and|but|"
    r"too|as)\b)"
)
"""`Of all the birthdays in the house the 3rd of May was Mara's`."""


def birthdays(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such day that the file tells."""
    prose = narration.prose
    for number in prose.with_words(DATE_WORDS):
        sentence = prose.sentences[number]
        dates = list(_DATED.finditer(prose.told, sentence.start, sentence.end))
        if len({moment_of(one).as_value()[1:3] for one in dates}) != 1:
            continue
        cues = list(_BIRTH.finditer(prose.told, sentence.start, sentence.end))
        told = (_told(narration, binder, number, cue, dates[0]) for cue in cues)
        fact = next((one for one in told if one is not None), None)
        if not cues:
            fact = _beside(narration, binder, number, dates[0])
        if fact is not None:
            yield fact


def _told(narration: Narration, binder: Binder, number: int, cue: re.Match[str], dated: re.Match[str]) -> Fact | None:
    prose, sentence = narration.prose, narration.prose.sentences[number]
    plain = _IS_THE_DAY.search(prose.told, sentence.start, dated.start()) or _THE_DAY_IS.match(
        prose.told, dated.end(), sentence.end
    )
    away = _LATE.search(sentence.text) or _OTHER_DAY.search(prose.told, sentence.start, dated.start())
    if (away and not plain) or _NOT_HIS.match(prose.told, dated.end(), sentence.end):
        return None
    owner = _as_his(binder, number, cue, dated) or _whose(binder, number, cue)
    if owner is None or not is_claimed(narration, number, dated.span(), granted=True, memory=True):
        return None
    return _fact(narration, number, owner, dated, with_year="birthday" not in cue.group())


def _fact(narration: Narration, number: int, owner: Mention, dated: re.Match[str], *, with_year: bool) -> Fact:
    moment = moment_of(dated)
    value = Moment(month=moment.month, day=moment.day, year=moment.year if with_year else 0).as_value()
    return fact_at(narration.prose, number, dated.span(), owner, "born", value, dated.group())


def _beside(narration: Narration, binder: Binder, number: int, dated: re.Match[str]) -> Fact | None:
    """Read `It was Mara's birthday. The almanac showed the 3rd of May`: two sentences for one."""
    sentences = narration.prose.sentences
    for near in (number - 1, number + 1):
        if not 0 <= near < len(sentences) or sentences[near].paragraph != sentences[number].paragraph:
            continue
        today = near > number and _is_today(narration, number, dated) and _ON_HIS_BIRTHDAY.match(sentences[near].text)
        owner = about(binder, near) if today or _IT_WAS.match(sentences[near].text) else None
        if owner is not None and is_claimed(narration, number, dated.span(), memory=True):
            return _fact(narration, number, owner, dated, with_year=False)
    return None


def _is_today(narration: Narration, number: int, dated: re.Match[str]) -> bool:
    """Whether the date is all that a sentence gives."""
    sentence = narration.prose.sentences[number]
    after = sentence.text[dated.end() - sentence.start :].strip(" .,;!\n")
    return _TODAY.match(sentence.text[: dated.start() - sentence.start]) is not None and not after


def _as_his(binder: Binder, number: int, cue: re.Match[str], dated: re.Match[str]) -> Mention | None:
    """`the 3rd of May was Mara's`, where birthdays are spoken of before."""
    his = _IS_HIS.match(binder.prose.told, dated.end(), binder.prose.sentences[number].end)
    if his is None or "birthday" not in cue.group().lower() or cue.start() > dated.start():
        return None
    return binder.named_from(number, his.start("name")) if his.group("name") else about(binder, number)


def _whose(binder: Binder, number: int, cue: re.Match[str]) -> Mention | None:
    """The one whose birth it is: the possessive before it says so, or the company."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    owned = _ANOTHERS.search(told, sentence.start, cue.start())
    if owned is not None:
        return next(
            (one for one in binder.mentions(number) if one.is_possessive and one.end == owned.end("whose")), None
        )
    spans = [(one.start - sentence.start, one.end - sentence.start) for one in named_people(binder, number)]
    cleft = spans and all(is_anothers_by_cleft(sentence.text, cue.start() - sentence.start, span) for span in spans)
    if cleft or _OF_ANOTHER.match(told, cue.end()):
        return None
    if _MOTHERS_DOING.match(cue.group()) and _MOTHER.search(told, sentence.start, cue.start()):
        return about(binder, number)
    if of_him := _OF_HIM.match(told, cue.end()):
        return binder.named_from(number, of_him.end())
    return _by_company(binder, number, cue)


def _by_company(binder: Binder, number: int, cue: re.Match[str]) -> Mention | None:
    """Where no word beside it says so."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    own = _OWN.search(told, sentence.start, cue.start()) is not None
    others = [one for one in OTHERS.finditer(HIMSELF.sub(" ", sentence.text)) if not (own and _MANY.search(one[0]))]
    if not others and not KIN.search(sentence.text):
        # Nobody else is there; whoever is `he` is the one who has a name.
        return about(binder, number) if _agrees(binder, number) else None
    if own and (owner := doer(binder, number, cue.start())):
        return owner
    return _as_subject(binder, number, cue)


def _agrees(binder: Binder, number: int) -> bool:
    """Whether `his` and `her` can be the one who is named."""
    owner, text = about(binder, number), binder.prose.sentences[number].text
    men, women = re.search(r"\b(?:he|his|him)\b", text), re.search(r"\b(?:she|her)\b", text)
    gender = binder.cast.gender(owner.key) if owner is not None else None
    return not (men and women) and not (men and gender == "f") and not (women and gender == "m")


def _as_subject(binder: Binder, number: int, cue: re.Match[str]) -> Mention | None:
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    owner = bearer(binder, number, cue.start())
    before = told[sentence.start : cue.start()]
    kin = KIN.search(before)
    if re.match(r"[Bb]orn|c[ao]me", cue.group()) and doer(binder, number, cue.start()) is None:
        return None
    if owner is None or (kin is not None and not _CUT.search(before[kin.end() :]) and "mother" not in kin.group()):
        return None
    return owner
