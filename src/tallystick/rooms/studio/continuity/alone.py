"""The only one whom a sentence can be about, wherever in it the name stands.

`Tears stood in the grey eyes, and Mara turned away`: nothing ties the eyes to Mara but that nobody else is there. So
this binds only where one person is named, nobody without a name is spoken of, and no pronoun is another's.
"""

import re

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.gazetteer import is_city, is_listed
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import ANYONE, FEMALE_NAMES, MALE_NAMES, MEN, TITLES, WOMEN

_SELF = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|you|your)\b")
_HE = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
_SHE = re.compile(r"\b(?:she|her|hers|herself)\b", re.IGNORECASE)
_PEOPLE = "|".join((*ANYONE, *MEN, *WOMEN))
_RIVAL = re.compile(rf"\b(?:{_PEOPLE})\b(?!'s)")
_BY_THE_WAY = re.compile(
    r"\b(?:of\s+)?an?\s+(?:man|woman|person|gentleman|lady)\s+of\s+(?=[a-z]+(?:-|\s+(?:does|should|may|has|is)))|"
    rf"\b(?:from|by|to|on|of|like)\s+(?:his|her)\s+(?:\w+\s+)?(?:{_PEOPLE})\b|\b(?:was|is|been|for|as|being|with|among|"
    rf"by|or)\s+(?:only\s+|but\s+|still\s+)?(?:an?|the)\s+(?:[\w-]+,?\s+){{0,2}}(?:{_PEOPLE})\b|\A\W*(?:the|"
    rf"an?)\s+(?:[\w-]+\s+){{0,2}}(?:{_PEOPLE})(?:\s+(?:of|by|from|born)\s+[^,;]{{2,40}})?,\s|\bby\s+(?:birth|origin|"
    rf"blood|trade)\s+an?\s+(?:[\w-]+\s+){{0,2}}(?:{_PEOPLE})\b|\blike\s+an?\s+(?:[\w-]+\s+)?(?:{_PEOPLE})\b|"
    rf"\bnothing\s+but\s+an?\s+(?:[\w-]+\s+)?(?:{_PEOPLE})\b|\bwas\s+(?:the\s+)?(?:mistress|master)\s+of\b|\b(?:the|"
    rf"an?)\s+(?:[\w-]+\s+)?(?:{_PEOPLE})\s+of\s+(?:an?|the)\s+(?:[\w-]+\s+)?(?:\w+er|\w+man|parson|clerk|smith)\b|"
    rf",\s+(?:an?|the)\s+(?:[\w-]+,?\s+){{0,3}}(?:{_PEOPLE})\b|\b(?:an?|the)\s+[\w-]*old\s+(?:{_PEOPLE})\b|"
    rf"\b(?:in|into|out\s+of|through|past)\s+the\s+(?:{_PEOPLE})\b",
    re.IGNORECASE,
)
"""People who are spoken of and cannot own what is told: `from her father Mara had the black hair`."""


_COLOUR_NAMES = frozenset({"hazel", "amber", "violet", "ginger", "jet", "sandy", "auburn", "olive"})
_TINTED = re.compile(r"\s+(?:eyes?|hair|and|were|was|irises|locks|curls)\b|,")
_STREET = re.compile(
    r"'s?\s+(?:Row|Lane|Alley|Court|Street|Yard|Rents|Buildings|Place|Terrace|Hill|Green|End|Inn|Wharf|Corner|Square|"
    r"Walk|Mews)\b"
)
"""`Tanner's Row` names nobody."""
_ADDRESS = re.compile(
    r"\b(?:Street|Row|Lane|Court|Square|Terrace|Alley|Place|Gardens|Crescent|Road|Avenue|Mews|Parade|Buildings|Wharf|"
    r"Quay)\Z"
)
"""`In Castle Terrace lived Mara`: the end of a street's name, where no title makes it a surname."""
_FEAST = re.compile(r"\b(?:Eve|Day|Night)\Z")
_TOWARDS = re.compile(r"\b(?:for|to|in|at|from|of|near|left|reached|through)\s+\Z")


def alone(binder: Binder, number: int) -> Mention | None:
    """The one person that a sentence names, if it can be about nobody else."""
    found = _only_one(binder, number)
    if found is None or not _fits(binder, number, found):
        return None
    return found


def named_people(binder: Binder, number: int) -> list[Mention]:
    """The people whom a sentence names; towns and feasts are none."""
    return [
        one
        for one in binder.mentions(number)
        if binder.cast.is_person(one.key)
        and not (
            _is_place(binder, one)
            or _is_office(binder, one)
            or _is_colour(binder, one)
            or _STREET.match(binder.prose.told, one.end)
        )
    ]


_OFFICES = frozenset(
    {"Dean", "Major", "Earl", "Duke", "Bishop", "Rector", "Vicar", "Squire", "Baron", "Judge", "Canon"}
)


def _is_office(binder: Binder, one: Mention) -> bool:
    """`the Dean`: somebody without a name, though Dean is one."""
    return one.name in _OFFICES and re.search(r"\b[Tt]he\s+\Z", binder.prose.told[: one.start][-5:]) is not None


def _is_colour(binder: Binder, one: Mention) -> bool:
    """`Hazel eyes under black brows`."""
    return _TINTED.match(binder.prose.told, one.end) is not None and one.name.lower() in _COLOUR_NAMES


def _only_one(binder: Binder, number: int) -> Mention | None:
    people = named_people(binder, number)
    return people[0] if len({one.key for one in people}) == 1 else None


def _is_place(binder: Binder, one: Mention) -> bool:
    """`his departure for Trieste`: a town, or what somebody goes to and nobody has heard speak."""
    if is_listed(one.name.lower()) or _FEAST.search(one.name):
        return True
    if _ADDRESS.search(one.name) and one.key.partition(" ")[0] not in TITLES:
        return True
    if is_city(one.name.lower()) and not binder.cast.is_known(one.key):
        # `Leeds had first received her in 1791`.
        return True
    told = binder.prose.told
    towards = _TOWARDS.search(told, max(0, one.start - 12), one.start)
    if one.name.lower() in MALE_NAMES or one.name.lower() in FEMALE_NAMES:
        # `the departure of Tobias`.
        return False
    return towards is not None and " " not in one.name and not binder.cast.is_known(one.key)


def _fits(binder: Binder, number: int, found: Mention) -> bool:
    text = binder.prose.sentences[number].text
    if _SELF.search(text) or _RIVAL.search(_BY_THE_WAY.sub(" ", text)):
        return False
    gender = binder.cast.gender(found.key)
    men, women = _HE.search(text) is not None, _SHE.search(text) is not None
    return not (men and women) and not (men and gender == "f") and not (women and gender == "m")
