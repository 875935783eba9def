"""Somebody who is first shown without a name, and then given one: `a red-haired man rose, and it was Mara`."""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.people import Mention

_IT_WAS = re.compile(
    r"\b(?:(?:[Ii]t|[Tt]his|[Tt]hat|[Ss]uch|he|she|who|which)\s+(?:was|is|had\s+been|proved\s+to\s+be|"
    r"turned\s+out\s+to\s+be|could\s+(?:only\s+)?be|must\s+be|they\s+(?:all\s+)?(?:called|knew\s+(?:as|for)))|"
    r"whom?\s+(?:[\w']+\s+){1,4}?(?:as|"
    r"called|named|by\s+the\s+name\s+of)|(?:recognised|recognized|recognising|knew\s+(?:him|her)\s+(?:for|as)|"
    r"answered\s+to\s+the\s+name\s+of|known\s+(?:to\s+\w+\s+)?as|by\s+name|called|named|none|"
    r"no)(?:\s+other\s+than)?)\s+"
    r"(?:(?:none|no)\s+other\s+than\s+|of\s+course\s+|indeed\s+|only\s+|old\s+|poor\s+|our\s+friend\s+)?\Z"
)
_WHO_DID = re.compile(r",?\s+(?:who|that|whom|whose)\b|'")
"""`it was Mara who met her`: another."""
_AS_FOR = re.compile(r"\W*(?:As\s+for|Of|Such\s+was|Such,\s+in\s+\w+,\s+was)\s+\Z")


def identified(binder: Binder, number: int, at: int) -> Mention | None:
    """The one whom a sentence names in the end as the person it has shown at an offset."""
    sentence, told = binder.prose.sentences[number], binder.prose.told
    people = named_people(binder, number)
    if len({one.key for one in people}) != 1:
        return None
    for one in people:
        if one.start < at:
            if _AS_FOR.fullmatch(told, sentence.start, one.start):
                return one
        elif _IT_WAS.search(told, at, one.start) and not _WHO_DID.match(told, one.end):
            return one
    return None
