"""Whether the clause of a value has a subject of its own: another person, or a thing that goes its own way."""

import re
from collections.abc import Sequence

from tallystick.rooms.studio.continuity.focus import HIMSELF, OTHERS, OWN, SENT, SUBORDINATE, clause_at
from tallystick.rooms.studio.continuity.vocabulary import words

_VERB = re.compile(
    r"\b(?:lives|dwelt|was|were|is|had|has|set|left|came|come|went|took|kept|made|lay|did|brought|ran|got|stood|sat|"
    r"slept|spent|cost|would|could|[a-z]{3,}ed)\b"
)
_SUBJECT = re.compile(
    r"\W*(?:(?:and|but|so|that|when|while|where|which|as|for|since|because)\s+)?(?:(?:[Oo]n|[Ii]n|[Aa]t|[Uu]pon|"
    r"[Dd]uring)\s+(?:[a-z-]+\s+){0,8}?(?:[A-Z]\w+|\d{4}),?\s+)?(?:[Aa]n?|[Tt]he|[Ee]very|[Ss]ome|[Oo]ne|"
    r"(?P<whose>[Hh]is|[Hh]er|"
    r"(?:[A-Z][\w.]+\s+)*[A-Z]\w+'s?))\s+(?:[a-z'-]+\s+){0,2}?(?P<noun>[a-z-]+)(?P<more>\s+(?:who|"
    r"that|which|of|at|in|from|with|to|for|between|on|upon|by)\b[^,;]*)?(?:,[^,;]{2,60},)?\s*"
)
_POSTPONED = re.compile(
    r"\b(?:lived|dwelt|lodged|resided|came|arrived|appeared|settled|stood|sat)\s+(?:(?:to|at|in|from)\s+[A-Z]\w+\s+)?"
    r"(?=(?:the|an?|another|one|two|some)\s)(?:(?:the|another|one|two|some|an?(?!\s+[a-z]+\s+of))\s+(?:[a-z-]+\s+)??)?"
)
"""`In Fish Street lived the apothecary`: the subject follows."""
_IT_TOOK = re.compile(
    r"\b[Ii]t\s+(?:had\s+)?(?:took|taken|cost|was\s+granted)\s+(?P<whom>(?:the|an?|his|her)\s+[a-z-]+|him|her|them)\s"
)
"""`It took the surveyor six days`: they are his."""
_RELATIVE = re.compile(r"\b(?:who|whom|which|that)\b")
_OF_WHOM = re.compile(r"\W*(?:who|whose)\b")
_WHICH = re.compile(r"\W*which\b")
_NOUN_BEFORE = re.compile(
    r"\b(?:the|an?|some|another|his|her)\s+(?:[a-z-]+\s+){0,2}(?!one\b|only\b)[a-z-]+"
    r"(?:\s+(?:in|at|near|from)\s+(?-i:(?:[A-Z][\w'-]*\s*){1,3}))?,?\s*\Z",
    re.IGNORECASE,
)
_CARRIERS = frozenset(words("coach train boat ship mail packet carriage cab post"))
_ABOARD = re.compile(r"\b(?:aboard|on\s+board|inside|in\s+it|with\s+(?:him|her)|passengers?|seats?)\b")


def is_of_a_thing_sent(text: str, at: int) -> bool:
    """`The letter that Mara had sent was six days on the road`."""
    start, end = clause_at(text, at)
    verb = _VERB.search(text, start, end)
    subject = _SUBJECT.fullmatch(text, start, verb.start()) if verb else None
    return subject is not None and subject.group("noun").lower() in SENT


def is_anothers_doing(text: str, at: int, named: Sequence[int]) -> bool:
    """Whether the clause at a place has a subject of its own that is neither the name nor a thing of his.

    `A dentist lived there, and Mara feared him`, `Mara's goose was six days on the road`.
    """
    start, end = clause_at(text, at)
    led = any(start <= place < at and SUBORDINATE.search(text, 0, place) for place in named)
    if not led and _OF_WHOM.match(text, start) and _NOUN_BEFORE.search(HIMSELF.sub("", text[:start])):
        return True
    if _is_put_elsewhere(text, at, start, end):
        return True
    verb = _VERB.search(text, start, end)
    before = text[start : verb.start()] if verb else ""
    subject = _SUBJECT.fullmatch(before) if before.strip() else None
    if subject is None or subject.group("noun").lower() in {"he", "she"}:
        # `the six days he had been in coming`: he is the subject, not the days.
        return False
    if subject.group("noun").lower() in SENT:
        return True
    carried = subject.group("noun").lower() in _CARRIERS and not any(start <= place < end for place in named)
    if subject.group("noun").lower() in OWN:
        # `The mail took six days, and Mara had no letter`: nothing says that it carried her.
        return carried and not _ABOARD.search(text)
    # `The newspaper for which Mara wrote`: the name only helps to say which.
    within = _RELATIVE.search(before, subject.start("more")) if subject.group("more") else None
    length = within.start() if within else len(before)
    return subject.group("whose") is not None or not any(start <= place < start + length for place in named)


def _is_put_elsewhere(text: str, at: int, start: int, end: int) -> bool:
    """Whether somebody or something else is the subject, but not in front of the verb."""
    sent = _NOUN_BEFORE.search(text, 0, start) if _WHICH.match(text, start) else None
    if sent is not None and SENT & set(sent.group().rstrip(", ").split()):
        # `The baggage, which came by the lower road, was six days in coming`.
        return True
    if any(OTHERS.match(text, late.end()) for late in _POSTPONED.finditer(text, start, end)):
        return True
    took = _IT_TOOK.search(text, start, at)
    return took is not None and OTHERS.search(took.group("whom")) is not None
