"""On which day of the year somebody was born, in any sentence that gives one date and speaks of one birth."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.dates import DATE, DATE_WORDS, Moment, moment_of
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import KIN, bearer
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention

_DATED = re.compile(DATE)
_BIRTH = re.compile(
    r"\b(?:(?<!second )(?<!\bother )birthdays?(?!\s+(?:presents?|gifts?|cards?|parcels?|letters?)\b)|natal\s+day|"
    r"[Bb]orn\b|birth\b(?!\s+to)|c[ao]me\s+into\s+the\s+world|a\s+year\s+older|nativity|"
    r"g[ai]ven?\s+(?=[A-Z])(?:[\w.]+\s+){1,3}to\s+(?:the|an?)\s+(?:\w+\s+)?(?:world|family|mother|parents)|"
    r"(?:first\s+)?s(?:aw|een)\s+the\s+light|happy\s+returns|(?:year|one)\s+(?:was\s+)?(?:added\s+)?to\s+(?:the|his|"
    r"her)\s+age|(?:was|were|been)\s+(?:\w+ly\s+)?delivered)\b"
)
_ANOTHERS = re.compile(r"(?P<whose>[\w.-]+)(?:'s|s')\s+(?:own\s+|last\s+|next\s+)?\Z")
_OF_ANOTHER = re.compile(r"\s+of\s+(?:(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?\s+[a-z]|(?:the|an?|his|her)\s)")
_OTHER_DAY = re.compile(
    r"\b(?:before|after|since|until|till|from|between|not|never|[Bb]y|(?<!fixed )(?<!set )for)\s+(?:the\s+)?\Z|"
    r"\b(?:had|"
    r"was)\s+(?:come\s+and\s+gone|over|past)\b|\b(?:rent|bill|interest|debt)\s+(?:fell|was|came)\b|\bless\s+than\b"
)
_LATE = re.compile(
    r"\b(?:come\s+and\s+gone|less\s+than|(?:not|no|than|meant\s+for|intended\s+for|bought\s+for|"
    r"kept\s+for)\s+(?:[\w'.]+\s+){0,3}?birthday|(?:as|than)\s+it\s+had\s+been|nowhere\s+near|the\s+(?:right|true|"
    r"real)\s+day|"
    r"gave\b[^;,]*\b[A-Z]\w+\s+(?:for|as)\s+(?:his|her)\s+birthday|did\s+not\s+get|held\s+over|had\s+passed|put\s+off|"
    r"(?:days?|weeks?|months?|fortnight)\s+(?:before|after|to\s+wait|short|off)|"
    r"birth(?:day)?\s+(?:itself\s+)?(?:was|lay|had\s+been|had\s+gone)\s+(?:\w+\s+){0,3}(?:past|over|behind|gone|by)|"
    r"belated|"
    r"(?:not|never|n't)\s+(?:been\s+)?born|name-?day|would\s+have\s+been|married|set\s+down\s+as|without\s+(?:him|"
    r"her)|forgot\s+to)\b"
)
_CUT = re.compile(r"\b(?:because|since|which|while|so|but)\b|[;:—]")


def birthdays(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such day that the file tells."""
    prose = narration.prose
    for number in prose.with_words(DATE_WORDS):
        sentence = prose.sentences[number]
        dates = list(_DATED.finditer(prose.told, sentence.start, sentence.end))
        if len(dates) != 1 or _LATE.search(sentence.text):
            continue
        for cue in _BIRTH.finditer(prose.told, sentence.start, sentence.end):
            owner = _whose(binder, number, cue)
            if (
                owner is None
                or _OTHER_DAY.search(prose.told, sentence.start, dates[0].start())
                or prose.told.startswith(" before ", dates[0].end())
            ):
                continue
            if is_claimed(narration, number, dates[0].span(), granted=True, memory=True):
                moment = moment_of(dates[0])
                year = moment.year if "birthday" not in cue.group() else 0
                value = Moment(month=moment.month, day=moment.day, year=year).as_value()
                yield fact_at(prose, number, dates[0].span(), owner, "born", value, dates[0].group())
                break


def _whose(binder: Binder, number: int, cue: re.Match[str]) -> Mention | None:
    """The one whose birth it is: the possessive before it says so, or the company."""
    told, sentence = binder.prose.told, binder.prose.sentences[number]
    owned = _ANOTHERS.search(told, sentence.start, cue.start())
    if owned is not None:
        return next(
            (one for one in binder.mentions(number) if one.is_possessive and one.end == owned.end("whose")), None
        )
    if _OF_ANOTHER.match(told, cue.end()):
        return None
    owner = bearer(binder, number, cue.start())
    before = told[sentence.start : cue.start()]
    kin = KIN.search(before)
    if re.match(r"[Bb]orn|c[ao]me", cue.group()) and doer(binder, number, cue.start()) is None:
        return None
    if owner is None or (kin is not None and not _CUT.search(before[kin.end() :]) and "mother" not in kin.group()):
        return None
    return owner
