"""`It was the curate who was born there`: what English puts first is whom the rest is about.

The name may stand in such a sentence as the one who is left out (`not Mara but the curate`), as the owner of him
(`Mara's father`), or later, as somebody beside the point.
"""

import re

_CLEFT = re.compile(
    r"\b[Ii]t\s+(?:was|is|had\s+been)\s+(?P<who>(?:not\s+|only\s+)?(?:the|an?|his|her|their|another|one\s+of|[A-Z])"
    r"(?:(?!\b(?:who|whom|whose|that|which|when|where)\b)[^;:—]){1,90}?),?\s+(?P<link>who|whose|whom|that)\b"
)
_BEING = re.compile(
    r"\b(?:dog|horse|cat|mare|pony|parrot|donkey|mule|goat|cow|doll|coach|mail|letter|parcel|trunk|luggage|baggage|"
    r"cart|"
    r"waggon|wagon|mother|father|brother|sister|aunt|uncle|cousin|son|daughter|wife|husband|[a-z]+(?:er|or|man|ist))\b"
)
_LEFT_OUT = re.compile(r"\b(?:not|than|instead\s+of|unlike)\s+(?:(?:poor|old|young)\s+)?\Z")
_ENDS = re.compile(r";|,\s+(?:and|but)\s+(?=[A-Z])")


def is_anothers_by_cleft(text: str, at: int, named: tuple[int, int]) -> bool:
    """Whether a place stands in what is said of somebody else, whom `It was …` has put first.

    Args:
        text: The sentence.
        at: The place.
        named: Where the one name of the sentence begins and ends.
    """
    found = _CLEFT.search(text, 0, at)
    if found is None or _ENDS.search(text, found.end(), at):
        return False
    if found.group("link") == "that" and not _BEING.search(found.group("who")):
        # `It was the winter that brought Mara`.
        return False
    if not found.start("who") <= named[0] < found.end("who"):
        # A name within what is told of him may own it again: `who saw that Mara's eyes …`.
        return not found.end() <= named[0] < at
    return _LEFT_OUT.search(text, 0, named[0]) is not None or text.startswith("'s ", named[1])
