"""Whose eyes or hair somebody without a name is shown: whoever is looked at has them, and whoever lifts them."""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.focus import KIN, OTHERS, clause_at
from tallystick.rooms.studio.continuity.owners import PRONOUNS, Thing
from tallystick.rooms.studio.continuity.people import Mention

_SAW = (
    r"(?:saw|noticed|beheld|recognised|recognized|watched|spotted|glimpsed|caught\s+sight\s+of|made\s+out|"
    r"looked\s+(?:up\s+|down\s+|across\s+|back\s+)?at|found)"
)
_SAW_HIM = re.compile(rf"(?:\s+[^,;:—]{{1,40}})?\s+{_SAW}\s+(?:(?:old|poor|young|only)\s+)?\Z")
_LISTED = re.compile(
    r"[^;:—]{0,60}[,:—]\s+(?:[^;:—]{2,60},\s+(?:and\s+)?)?(?:the|those|two|a|an)?\s*(?:[a-z-]+,?\s+){0,3}\Z"
)
"""`saw Mara plainly, the mud, the torn sleeve, the black eyes`."""
_CAME_IN = re.compile(
    rf"\W*(?:When|As|Once|After|The\s+moment)\s[^;:—]*?,?\s+(?:the|an?|his|her)\s+(?:[a-z-]+\s+)?(?P<who>[a-z-]+)"
    rf"(?:\s+(?:at|in|by|on|behind|with)\s+(?:the|his|her|"
    rf"an?)\s+[a-z-]+)?\s+(?:\w+ly\s+)?{_SAW}\s+(?:[a-z-]+,?\s+){{1,3}}\Z"
)
"""`When Mara pushed back the hood, the girl at the desk saw black eyes`."""
_LIFTS = re.compile(
    r"\b(?:(?:rais|lift|turn|fix|lower|direct|level|open|clos|roll|dropp?|narrow)(?:ed|ing)|bent|bending|cast|casting)"
    r"\s+(?:(?:up\s?on|on|to|at|towards?)\s+(?:the|his|her|this|that|an?)\s+(?:[a-z-]+\s+){1,2}?)?(?:(?:an?|two|the|"
    r"those)\s+(?:[a-z-]+\s+)?pair\s+)?\Z"
)
"""`raising to the stranger two brown eyes`: whoever lifts them has them."""
_PRONOUN = re.compile(r"\b(?:he|she|they|it|I|we)\b")


def shown(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """The one person named, where he is looked at or does the looking himself."""
    people = named_people(binder, number)
    if len({one.key for one in people}) != 1 or thing.cue.lower() in PRONOUNS or thing.cue.endswith(("'s", "s'")):
        return None
    sentence, owner = binder.prose.sentences[number], people[0]
    text, at, cue = sentence.text, thing.start - sentence.start, thing.cue_start - sentence.start
    first, last = owner.start - sentence.start, owner.end - sentence.start
    if owner.is_possessive or last > at or KIN.search(text, 0, at):
        return None
    looked_at = any(_SAW_HIM.fullmatch(text, one.end(), first) for one in OTHERS.finditer(text, 0, first))
    if looked_at and _LISTED.fullmatch(text, last, at) and not OTHERS.search(text, last, at):
        return owner
    seen = _CAME_IN.fullmatch(text, 0, at)
    if seen and last < seen.start("who") and OTHERS.match(seen.group("who")):
        return None if OTHERS.search(text, 0, seen.start("who")) else owner
    lifts = _LIFTS.search(text, last, cue)
    start, _ = clause_at(text, first)
    between = text[last : lifts.start()] if lifts else ""
    own = lifts and not (OTHERS.search(between) or _PRONOUN.search(between) or OTHERS.search(text, start, first))
    return owner if own else None
