"""Ages of another time, and what somebody only looks like: what takes an age back, or vouches for it."""

import re

from tallystick.rooms.studio.continuity.age_phrases import range_of
from tallystick.rooms.studio.continuity.focus import clause_at
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.unreal import CONFIRMED

WHICH_HE_WAS = re.compile(  # `did not look forty, but he was`
    r",?\s+(?:but|though|and|which)\s+(?:he|she)\s+was\b(?=\s*[.,;])|"
    r",\s+which\s+(?:it|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:was|did)\b(?=\s*[.,;])|"
    r",\s+as\s+(?:he|she|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:now\s+|then\s+)?(?:was|is|had(?:\s+done)?|"
    r"did)\b(?=\s*[.,;])|"
    r",\s+which\s+(?:was|is)\s+(?:exactly\s+|now\s+|just\s+)?(?:his|her|(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?)\s+"
    r"(?:own\s+|exact\s+)?age\b|(?:\s+years\s+old)?,\s+(?:the\s+(?:very\s+)?same(?:\s+age)?|just\s+as\s+old|"
    r"exactly\s+as\s+old)\s+"
    r"as\s+(?:he|she|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\b(?!\s+had)|[^.]*\b(?:stayed|stood|went|did|sat|lay|ran|came|"
    r"kept)\b[^,;.]*\bat\s+that\s+(?:very\s+|same\s+)?age\b|[^.]*\b(?:was|being|is)\s+(?:himself\s+|"
    r"herself\s+)?(?:exactly\s+|just\s+|now\s+|precisely\s+)?"
    r"(?:of\s+)?that\s+(?:very\s+|same\s+)?age\b"
)
COUNT = re.compile(r"\s+(?:years|summers|winters|springs|autumns|harvests|Christmases|birthdays|candles|rings)\b")
HIS = re.compile(r"(?:\b(?:[Hh]is|[Hh]er)|'s)\s+(?:(?:own|long|short|full|whole|[a-z]+)\s+)?\Z")
LIFE = re.compile(
    r"\b(?:birth|[Bb]orn|birthdays?|birth-?day|c[ao]me\s+(?:\w+\s+)?into\s+(?:the|this)\s+world|in\s+(?:the|"
    r"this)\s+world|on\s+(?:this\s+)?earth|alive|candles|cake|font|christen\w+|cradle|dr(?:ew|awn?)\s+(?:(?:his|"
    r"her)\s+first\s+)?breath|his\s+age|her\s+age|the\s+age|'s\s+age|for\s+age|"
    r"years?\s+of\s+(?:[\w.]+\s+){0,2}[\w.]+\s+(?:life|age)|(?:his|her|'s)\s+life|first\s+breath|over\s+(?:the\s+head|"
    r"his|her|[\w.\s]{3,24}'s\s+head)|(?:on|upon)\s+(?:his|her|[\w.\s]{3,24}'s)\s+(?:head|back|shoulders)|"
    r"behind\s+(?:him|her)|to\s+(?:his|her)\s+(?:name|account|credit|count|score)|midwife|nursery|swaddl\w+|baptis\w+|"
    r"in\s+(?:his|her)\s+bones|to\s+look\s+back|years\s+of\s+life)\b|"
    r"\A\W*(?:Life|The\s+world|Time|Fate|Fortune|Providence|Heaven)\b"
)
"""That years are a whole life."""
_BACK = re.compile(
    r"\b(?:when(?!\s+(?:our|this|the)\s+(?:story|tale|history))|until|till|before|ere|while|by\s+the\s+time|"
    r"the\s+(?:year|summer|winter|spring|day)\s+(?:that|when)|"
    r"(?<!\bday )(?<!\bdays )(?<!\btwo )(?<!\bweek )(?<!\bmonth )since)\s+"
    r"(?:[\w.']+\s+){1,4}\Z",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\W*(?:Since|As)\s(?!.*\b(?:had|has|have|ever\s+since)\b)", re.DOTALL)
"""`Since Mara was forty, nobody asked`: a reason, where nothing has been so since."""
LONG_GONE = re.compile(
    r"\b(?:(?:years|long)\s+ago(?!\s+(?:that|this|to))|long\s+before|dragged\s+on|recollections?|all\s+that\s+time|"
    r"an?\s+old\s+story|"
    r"[Ll]ong\s+after(?:wards)?|[Ii]n\s+(?:after|later)\s+(?:years|life)|in\s+(?:his|her)\s+(?:youth|day)|"
    r"[Bb]y\s+the\s+time|by\s+that\s+time|years\s+(?:later|afterwards|went|passed|rolled|had\s+(?:gone|passed))|"
    r"many\s+years|lived\s+to\s+(?!be)|(?<!had\s)(?<!has\s)lived\s+to\s+be|lived\s+till|one\s+day\s+be|"
    r"next\s+(?:birthday|year)|not\s+\w+\s+any|any\s+(?:longer|more)|(?:be|of)\s+(?:only\s+)?[\w-]+\s+again)\b"
)
"""That the sentence tells of another time."""
_NOT_NOW = re.compile(
    r"\b(?:at\s+last|(?<!for )(?<!at )(?<!not )(?<!without )(?<!never )once|formerly|by\s+then|would\s+be|will\s+be|"
    r"no\s+longer(?!\s+(?:[a-z]+ed|slept|thought|felt|went|came|knew|ran|took|ate|drank|read|"
    r"wrote|rode|wore|kept|sat|stood|spoke|saw|made|had|did|could|believed)\b))\b"
)
"""That the clause does."""
_LOOKS = re.compile(
    r"\b(?:look\w*(?!\s+(?:\w+ly\s+)?(?:at|over|up|down|into|out|back|on|upon|after|through|round|towards?|away)\b)|"
    r"seem\w*|felt|feel|appear\w*|pass(?:ed|es)?\s+for|tak(?:e|en)\s+(?:\w+\s+){0,2}for|put\s+(?:him|"
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
    r"other|many|men|women|people|one|some)\b)|before|at\s+the\s+time\s+of)\b"
)
_AT_HAD = re.compile(
    r",?\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w*\s+had\s+(?!(?:no|not|never|a|an|the|his|her|all|outlived|learn\w+|seen|buried|"
    r"given|grown|ceased|come|acquired|reached|become|survived|already|still|more|few)\b)"
)
_AT_DID = re.compile(
    r",?\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w*\s+(?:had\s+)?(?:run|ran|left|gone|went|married|entered|joined|sailed|enlisted|"
    r"fled|fought|inherited|emigrated|eloped|won|published|wanted|hoped|dreamed)\b"
)
_CONFIRMED = re.compile(CONFIRMED)
_GROWN = 28
"""`At forty Mara had learned …` is now; `At nine Mara had learned …` looks back."""


def is_past(sentence: Sentence, found: re.Match[str]) -> bool:
    """Whether the age was or will be another time's, or is only what somebody looks like."""
    text, start, end = sentence.text, found.start() - sentence.start, found.end() - sentence.start
    value = range_of(found)
    if WHICH_HE_WAS.match(text, end):
        return False
    if (
        re.search(r"\b[Aa]t\s+\Z", text[:start])
        and value is not None
        and (_AT_DID.match(text, end) or (value[0] < _GROWN and _AT_HAD.match(text, end)))
    ):
        return True
    if COUNT.match(text, end) and (HIS.search(text[:start]) or re.search(r"\b[Bb]orn\b", text[:start])):
        # `She looked younger than her thirty years`.
        return False
    if _CONFIRMED.search(text, 0, start) or _SINCE.match(text):
        return False
    clause = re.split(r"[;:—]|\b(?:and|but)\b|,\s+who(?=\s+(?:was|is|had)\b)", text[:start])[-1]
    if re.search(r"\b(?:this|now)\b[^,;]{0,20},\s+when\s+(?:[\w.]+\s+){1,4}\Z", text[:start]):
        return False
    long_gone = LONG_GONE.search(text) or _NOT_NOW.search(text, *clause_at(text, start))
    gone = long_gone and not (COUNT.match(text, end) and LIFE.search(text))
    return bool(
        gone or _BACK.search(text[:start]) or _LOOKS.search(clause) or _CAME_AT.search(clause) or _WHEN.match(text, end)
    )
