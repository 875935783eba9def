"""How old, in words: a number with whatever stands before it, and the years that it leaves open.

`close on forty`, `two years short of forty`, `on the wrong side of forty` are one family: a mark, and which side of it.
"""

import re

from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of

Range = tuple[int, int]

_SHORT = (
    r"not\s+(?:yet|quite)|nearly|almost|all\s+but|close\s+(?:up)?on|close\s+to|near(?:ly)?|near\s+(?:up)?on|nigh\s+on|"
    r"hard\s+on|getting\s+on\s+for|going\s+on(?:\s+for)?|coming\s+up\s+to|pushing|rising|nearing|approaching|"
    r"verging\s+on|touching|bordering\s+on|on\s+the\s+(?:verge|threshold|edge|brink)\s+of|just\s+(?:under|short\s+of)|"
    r"a\s+little\s+(?:under|short\s+of)|not\s+far\s+(?:off|from|short\s+of)|well\s+on\s+(?:the\s+way\s+)?to(?:wards?)?"
)
_BELOW = (
    r"under|less\s+than|fewer\s+than|below|on\s+the\s+right\s+side\s+of|(?:on\s+)?this\s+side\s+of|no\s+more\s+than|"
    r"not\s+(?:above|more\s+than)|at\s+(?:the\s+)?most|not\s+over"
)
_ONLY = r"no\s+more\s+than|not\s+more\s+than"
"""`had no more than thirty years`: thirty, and that is little."""
_JUST_OVER = (
    r"just\s+(?:past|over|turned)|a\s+little\s+(?:over|past|more\s+than)|little\s+more\s+than|newly\s+turned|"
    r"turned(?:\s+of)?|gone"
)
_OVER = (
    r"over|past|above|beyond|more\s+than|upwards?\s+of|at\s+least|no\s+less\s+than|(?:on\s+)?the\s+(?:wrong|far|"
    r"other)\s+side\s+of|well\s+(?:past|over|above|beyond|into)|long\s+past"
)
_ABOUT = (
    r"about|around|some|roughly|perhaps|somewhere\s+(?:about|near|around)|something\s+like|"
    r"in\s+the\s+neighbourhood\s+of"
)
_PLAIN = (
    r"now|then|still|just|only|barely|scarcely|hardly|merely|but|already|exactly|well|fully|full|quite|all\s+of|"
    r"a\s+good|precisely|herself|himself|at\s+th(?:is|at|e)\s+time|at\s+this\s+point|by\s+(?:now|then|this\s+time|"
    r"that\s+time)|in\s+(?:fact|truth|reality)|really|actually|after\s+all|th(?:is|at)\s+year|the\s+age\s+of|"
    r"the\s+great\s+age\s+of|the\s+ripe\s+age\s+of|no\s+(?:longer|less)\s+than|to\s+be|today|that\s+day"
)
AGE = (
    rf"(?:(?:{_PLAIN}),?\s+){{0,4}}(?:(?P<by>{NUMBER}|an?|some|a\s+few|within\s+an?)\s+(?P<unit>year|month|week|"
    rf"day)s?\s+(?P<side>short\s+of|shy\s+of|off|from|under|of\s+being|past|over|above|beyond)\s+|"
    rf"(?P<about>{_JUST_OVER}|{_OVER}|{_SHORT}|{_BELOW}|{_ABOUT})\s+)?(?:(?:{_PLAIN})\s+){{0,4}}(?P<number>{NUMBER})"
)
"""An age as a phrase; `range_of` says which years it leaves open."""
PERSON = (
    r"(?:girl|boy|man|woman|lad|lady|creature|gentleman|youth|child|widow|widower|maid|lass|fellow|person|"
    r"bachelor|spinster|matron|infant|veteran|stripling|soul|urchin|beauty)"
)
AFTER = (
    r"(?=\s*(?:[.,;:!?)—]|\Z|\s(?:years\s+old\b|and\s+(?!(?:a\s+)?half\b)|but\b|that\s+(?:day|week|month|year|spring|"
    r"summer|autumn|winter|morning|night)|this\s|last\s|now\b|that\s+\w+day\b|come\s+[A-Z]|or\s+(?:so|thereabouts)|"
    r"in\s+(?:the\s+)?(?:spring|summer|autumn|winter|year|January|February|March|April|May|June|July|August|September|"
    r"October|November|December|1[0-9]{3}|20[0-9]{2})|at\s+(?:the\s+time|most|the\s+most)|to\s+the\s+day|on\s+(?:the|"
    r"that)\s+\w+day\b|without\s|with\s+(?:a|an|no|his|her)\s|on\s+(?:his|her)\s|(?:years\s+(?:old\s+)?)on\s+the\s+day|"
    r"when\s+(?:this|the)\s+(?:story|tale|book)|though\b|yet\b)))"
)
_SPREAD = 3
"""Years either way that `about forty` leaves open."""
_DECADE = 9


def range_of(found: re.Match[str]) -> Range | None:
    """The least and the most that a match of `AGE` says."""
    groups = found.groupdict()
    value = number_of(groups.get("number") or "")
    if value is None:
        return None
    if groups.get("side"):
        return _reckoned(value, groups)
    return _qualified(value, groups.get("about"))


def said(found: re.Match[str]) -> str:
    """The age as it is written."""
    groups = found.groupdict()
    start = next((found.start(name) for name in ("by", "about", "number") if groups.get(name)), found.start())
    return found.string[start : found.end("number")]


def _reckoned(value: int, groups: dict[str, str | None]) -> Range | None:
    """`two years short of forty`, `a month past forty`."""
    before = groups["side"] not in {"past", "over", "above", "beyond"}
    if groups["unit"] != "year":
        return (value - 1, value) if before else (value, value)
    by = 1 if groups["by"] in {"a", "an"} else number_of(groups["by"] or "")
    if by is None:
        return (value - _SPREAD, value) if before else (value, value + _SPREAD)
    return (value - by, value - by) if before else (value + by, value + by)


def _qualified(value: int, about: str | None) -> Range:
    if about is None:
        return value, value
    words = re.sub(r"\s+", " ", about.lower())
    below, above = next((by for pattern, by in _LEAVES_OPEN if re.fullmatch(pattern, words)), (_SPREAD, _SPREAD))
    return max(value - below, 1), value + above


_LEAVES_OPEN = (
    (_JUST_OVER, (0, 2)), (_OVER, (0, _DECADE)), (_SHORT, (2, 0)), (_ONLY, (2, 0)), (_BELOW, (_DECADE, 0)),
)  # fmt: skip
"""The years below and above the number that the words before it leave open."""
