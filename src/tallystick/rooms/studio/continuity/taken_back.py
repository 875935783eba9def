"""What takes a value back though no `not` stands before it: another time, another thing, what was only to have been.

Each is bound to the words around the value, so that what stands elsewhere in a sentence takes nothing back.
"""

import re

from tallystick.rooms.studio.continuity.vocabulary import NUMBER

_SEASON = r"(?:year|spring|summer|autumn|winter|week|month|season|Christmas|time)"
_CLEFT = re.compile(
    r"\b[Ii]t\s+(?:was|is|had\s+been)\s+(?:not|never)\s+(?!an?\s+(?:\w+\s+){0,2}\w+,|until\b|till\b|only\b|merely\b|"
    r"before\b|without\b|for\s+nothing\b|long\b)(?:(?!\b(?:that|who|but)\b)[^;:—]){0,40}\Z"
)
"""`It was not on the Saturday that he left`; but `not until the Saturday` gives the day."""
_OTHER_TIME = re.compile(
    rf"(?:\A\W*|[,;:—]\s+)(?:(?:and|but)\s+)?(?:(?:[Tt]he|[Ii]n\s+the|[Oo]n\s+the)\s+(?:{_SEASON}|time)\s+before(?=,|"
    rf"\s+[A-Zh])"
    rf"(?!\s+(?:he|her\b|his\b))|"
    rf"(?:[Ii]n\s+|[Tt]hat\s+)?(?:[Aa]nother|[Tt]he\s+(?:previous|preceding|following|next))\s+(?:year|spring|summer|"
    rf"autumn|winter)(?!\s+(?:was|had\s+been|is)\s+added|\s+older|\s+to\s)|(?:[Aa]|{NUMBER}|[Ss]ome|[Mm]any|"
    rf"[Ss]everal)\s+(?:years?|months?)\s+(?:later|earlier|after(?:wards)?|before))\b"
    r"[^;:—]*\Z",
    re.IGNORECASE,
)
"""`The year before, she had left on a Thursday`: that was another journey."""
_UNDONE = re.compile(
    r"\b(?:(?:was|were|is)\s+to\s+have\s+(?:been\b|\w+)|(?:seem|appear)\w*\s+to\s+(?:have|last|be)\b|"
    r"ought\s+to\s+have|as\s+good\s+"
    r"as|all\s+but|should\s+have\s+been)[^,;:—]{0,60}\Z"
)
_TO_HAVE_BEEN = re.compile(r"\W*To\s+(?:have\s+been|be)\b[^;]*\bwould\b")
_ELSEWHERE_IN_MIND = re.compile(
    r"(?:'s|\b[Hh]is|\b[Hh]er)\s+(?:\w+\s+)?(?:thoughts?|mind|heart|dreams?|fancy|imagination|memory|hopes?)\s+(?:was|"
    r"were|had|flew|went|lay|ran|strayed|wandered|turned)\b[^,;:—]*\Z"
)
_CHILD_OF = re.compile(
    r"\bborn\b[^;]*?\b(?:an?|two|three)\s+(?:[a-z]+\s+){0,2}(?:boy|girl|son|daughter|child|baby|twins|lamb|foal|calf)\b"
)
_EXISTS = re.compile(
    r"\b[Tt]here\s+(?:was|were|had\s+been)\s+(?:\w+\s+)?\Z|\b[Tt]here\s+(?:was|were|had\s+been)\s+(?:\w+\s+)?born\b"
)
_YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")
_VINTAGE = re.compile(
    r"\b(?:bottle|style|fashion|edition|coin|vintage|wine|port|claret|brandy|print|map|almanac|bible|issue|copy|model|"
    r"date|dated|"
    r"was|were|some|manner|taste)\s+(?:of\s+(?:the\s+)?|date\s+(?:of\s+)?)\Z|\b(?:bore|bearing|stamped|marked|"
    r"inscribed|carved|with)\s+(?:with\s+)?(?:the\s+)?(?:date\s+|year\s+|figures\s+)(?:of\s+)?\Z|\b(?:the|an?)\s+\Z"
)
_ANOTHERS = re.compile(
    r"\b(?:people|persons|anybody|everybody|anyone|saints?|dolls?|angels?|cats?|dogs?|prints?|gods?|goddess|princess|"
    r"hero|heroine|(?:the|some|that|any)\s+(?:[a-z]+\s+)?(?:man|woman|girl|boy|child|lady|gentleman|stranger|fellow))"
    r"(?:\s+or\s+other)?,?\s+(?:with|who\s+had|having)\s+(?:[a-z-]+,?\s+){0,3}\Z"
)
_NOT_HIS_YET = re.compile(
    r"\blooked\s+(?:at|over)\s+(?:an?|the|some|two)\b[^,;:—]*\Z|\bha[ds]\s+an?\s+(?:\w+\s+)?(?:aunt|uncle|cousin|"
    r"brother|sister|friend|nephew|niece|grandmother|godmother|godfather)\s+(?:in|at|of)\s+\Z|"
    r"\b[Bb]efore\s+(?:it|that|then),?\s+(?:\w+\s+){1,3}had\s+been\s+(?:\w+\s+)?\Z"
)
"""What somebody only looks at, what is another's there, what somebody had as a child."""
_AT_BIRTH = re.compile(r"\bborn\s+with\s+(?:[a-z]+\s+){0,2}\Z")
_NOT_FOR_LONG = re.compile(r"\b(?:lost|like\s+(?:many|most|all)|fell\s+out|darken\w*|turned|changed)\b")
_ONLY_WRITTEN = re.compile(
    r"(?:had\s+)?looked\s+(?:at|over)\b|[A-Z][\w' ]+?\s+(?:up)?on\s+(?:the|an?|his|her)\s+(?:envelope|label|parcel|"
    r"trunk|letter)\b"
)
_THING_BORN = re.compile(
    r"\W*(?:The|A|An)\s+(?:[a-z-]+\s+){0,2}[a-z-]+\s+(?:(?:for|to|in|at|over|on|by|of|with|from)\s+which|which|"
    r"that)\s+[A-Z][^,;]*?"
    r"\s+[a-z]+\s+(?:had\s+been|was)\s+\Z"
)
"""`The newspaper for which Mara wrote was born there`."""
_OF_A_THING = re.compile(r"\bcounted\b[^;]*\bmade\s+(?:it|them)\s+\Z")
_DAYS = re.compile(r"\b(?:days?|weeks?|nights?)\b")
_OF_LEAVE = re.compile(r"'?\s+(?:leave|holiday|grace|worth|wages|pay|rest|notice|provisions?)\b")
_AFTER = re.compile(r"\b(?:[Aa]fter|[Rr]emained|[Rr]emain|[Ll]ingered|stopped|spent)\s+(?:\w+\s+)?\Z")
_AT_REST = re.compile(
    r"\s+(?:at|in|there)\b(?!\s+(?:(?:a|the)\s+(?:saddle|coach|train|boat|carriage|cart)|(?:actually\s+|merely\s+|"
    r"simply\s+)?"
    r"(?:getting|going|coming|travelling|traveling|reaching|making|crossing|riding|driving|walking|journeying|arriving|"
    r"sailing|[a-z]+ing\s+(?:\w+\s+){0,3}?(?:to|towards?))\b))"
)
"""`spent six days in getting to Leeds` is the way, `in Leeds` and `in nursing her` is not."""

_THAT_IT_SHOULD = re.compile(
    r"\W*That\s+(?:[A-Z]|his|her|the)[^,;]*?\bshould\s+have\s+been\b[^;]*\b(?:was|is|had|seemed|struck)\b"
)
"""`That Mara should have been born in May was a great pity`: so she was."""
_BEFORE_IT = (_CLEFT, _UNDONE, _ELSEWHERE_IN_MIND, _ANOTHERS, _NOT_HIS_YET, _OF_A_THING)


def is_taken_back(text: str, first: int, last: int) -> bool:
    """Whether what stands between two places is said of another time or thing, or only of what was to be."""
    first = max(first, 0)
    value, before = text[first:last], text[:first]
    if any(pattern.search(before) for pattern in _BEFORE_IT) and not _THAT_IT_SHOULD.match(text):
        return True
    if _is_of_another_birth(text, before, value, last) or _ONLY_WRITTEN.match(value):
        return True
    if _YEAR.search(value):
        return _VINTAGE.search(before) is not None
    if _DAYS.search(value) and (_OF_LEAVE.match(text, last) or (_AFTER.search(before) and _AT_REST.match(text, last))):
        return True
    return _OTHER_TIME.search(before) is not None


def _is_of_another_birth(text: str, before: str, value: str, last: int) -> bool:
    """Whether it is a wish, the birth of another child or of a thing, or what somebody had at birth and lost."""
    if _TO_HAVE_BEEN.match(text) or (_EXISTS.search(text, 0, last) and _CHILD_OF.search(text)):
        return True
    if value.startswith("born") and _THING_BORN.fullmatch(before):
        return True
    return _AT_BIRTH.search(before) is not None and _NOT_FOR_LONG.search(text, last) is not None
