"""Who does it: the subject of a verb in a sentence that names one person, among all whom the sentence speaks of.

Somebody without a name is the subject where he opens a clause or stands directly before the verb; whoever is only dealt
with (`quarrelled with the porter, and was away to Leeds`) is not. A pronoun is whoever was the subject before it.
"""

import re
from collections.abc import Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.cleft import is_anothers_by_cleft
from tallystick.rooms.studio.continuity.focus import BOUND, HIMSELF, KIN, OTHERS, OWN, bearer, clause_at, is_in_relative
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import MEN, WOMEN

_DETERMINERS = (
    r"(?:the|an?|his|her|their|its|some|every|each|all|no|one|two|three|four|many|few|most|several|this|that|those|"
    r"these|another|of\s+the|[a-z]+'s)"
)
_OPENS = re.compile(
    r"(?:\A|[,;:—¤(]|\b(?:and|but|or|when|while|whilst|as|that|because|where|if|though|although|until|till|since|was|"
    r"were|is|so|then|nor|than)\b)\W*"
    rf"(?:(?:{_DETERMINERS}\s+)+(?:[a-z-]+\s+){{0,2}}|(?:[a-z-]+\s+)?)\Z",
    re.IGNORECASE,
)
"""What stands before a subject."""
_AT_THE_VERB = re.compile(r"(?:\s+(?:had|was|were|is|has|would|could|did|not|now|then|also|once|[a-z]+ly))*\s+\Z")
_WHO = re.compile(r"(?:'s)?,?\s+(?:who|that|whom)\b")
_PRONOUN = re.compile(
    r"\b(?:(?P<he>he)|(?P<she>she)|(?P<others>they|we|I|you|(?:one|two|three|four|some|others|several|most|none|both)"
    r"(?=\s+(?:of\s+(?:them|whom)\s+)?(?:was|were|had|lay|slept|came|went|did)\b)))\b",
    re.IGNORECASE,
)
_OF_HIS = re.compile(r"'s?\s+(?:[a-z-]+\s+){0,2}?(?P<thing>[a-z-]+)\b")
_SEEN = re.compile(
    r"\b(?:saw|see|seen|seeing|watch|watched|watching|heard|hear|hearing|found|finding|let|letting|made|beheld|helped|"
    r"bade|caught|catch)\s+\Z"
)
_DOING = re.compile(r"\s+(?!and\b|but\b|or\b|nor\b|had\b|was\b|who\b)[a-z]")
"""`They watched Mara set out`: she is seen, and goes."""
_MANY = "many"
"""Of several: no `he` or `she` takes them up."""
_NOT_HE = re.compile(r"\b(?:not|unlike|instead\s+of|rather\s+than|without)\s+\Z")
_MAN = re.compile(rf"(?:{'|'.join(MEN)})s?\Z")
_WOMAN = re.compile(rf"(?:{'|'.join(WOMEN)})s?\Z")


@record
class _Token:
    """Somebody whom a sentence speaks of, and whether it can be what he does."""

    start: int
    end: int
    own: bool
    leads: bool
    gender: str = ""
    said: bool = False
    """A pronoun: it may take up another."""


def doer(binder: Binder, number: int, at: int, *, leads: bool = False) -> Mention | None:
    """The named person who is the subject of a verb at an offset, where asked only if his name opens the clause."""
    people = named_people(binder, number)
    if len({one.key for one in people}) != 1:
        return None if leads else bearer(binder, number, at, leads=True)
    if leads:
        sentence = binder.prose.sentences[number]
        start, _ = clause_at(sentence.text, at - sentence.start)
        before = [one for one in people if sentence.start + start <= one.start < at and not one.is_possessive]
        if not before or BOUND.search(sentence.text, 0, before[-1].start - sentence.start):
            return None
    return people[0] if _decided(binder, number, people, at) else None


def is_by_another(binder: Binder, number: int, at: int) -> bool:
    """Whether somebody else is plainly the subject of a verb at an offset."""
    people = named_people(binder, number)
    return len({one.key for one in people}) == 1 and _decided(binder, number, people, at) is False


def _decided(binder: Binder, number: int, people: list[Mention], at: int) -> bool | None:
    """Whether it is he who does it; None where nothing says so."""
    sentence = binder.prose.sentences[number]
    text, place = sentence.text, at - sentence.start
    tokens = list(_resolved(sorted(_tokens(binder, number, people), key=lambda token: token.start)))
    if _is_of_a_thing(text, place) or is_in_relative(text, people[0].start - sentence.start, place):
        return False
    spans = [(one.start - sentence.start, one.end - sentence.start) for one in people]
    if all(is_anothers_by_cleft(text, place, span) for span in spans):
        return False
    for token in reversed([token for token in tokens if token.start < place]):
        who = _WHO.match(text, token.end)
        beside = token.end <= place and _AT_THE_VERB.fullmatch(text, token.end, place)
        if token.leads or beside or (who is not None and who.end() <= place):
            return token.own
    for token in tokens:
        if token.start >= place:
            near = len(text[place : token.start].split()) <= _OBJECT
            return True if token.own and (token.leads or near) else None
    return True if all(token.own for token in tokens) else None


def _is_of_a_thing(text: str, at: int) -> bool:
    """`The organist started`, `a plague of frogs came`: a noun of its own stands directly before the verb."""
    word = re.match(r"[\w-]+", text[at:])
    thing = _THING.search(text, 0, at)
    if thing is not None and thing.group("whose"):
        # `The bishop's coach set out`: it is his.
        return True
    return thing is not None and thing.group("noun") not in OWN and not (word and word.group().lower() in OWN)


_SMALL = (
    r"(?!(?:and|but|or|that|who|whom|which|as|to|of|in|on|at|for|from|with|by|he|she|it|they|when|where|then|had|was|"
    r"were|is|than|upon|into)\b)"
)
_THING = re.compile(
    rf"(?<!for )(?<!of )(?<!in )(?<!on )(?<!at )(?<!with )\b(?:[Tt]he|[Aa]n?|[Ee]very|[Ss]ome|[Oo]ne)\s+"
    rf"(?P<whose>{_SMALL}[a-z-]+'s\s+)?"
    rf"(?:{_SMALL}[a-z-]+\s+){{0,2}}?{_SMALL}(?P<noun>[a-z-]+)(?:\s+of\s+[a-z-]+)?"
    r"(?:\s+(?:had|was|were|is|has|did|not|never|also|once|[a-z]+ly))*\s+\Z"
)
_OBJECT = 3
"""Words between a verb and whom it takes: `the year that brought Mara`."""


def _tokens(binder: Binder, number: int, people: list[Mention]) -> Iterator[_Token]:
    sentence = binder.prose.sentences[number]
    text = sentence.text
    gender = binder.cast.gender(people[0].key) or ""
    for one in people:
        start, end = one.start - sentence.start, one.end - sentence.start
        thing = _OF_HIS.match(text, end) if one.is_possessive else None
        own = (thing is None or thing.group("thing") in OWN) and not _NOT_HE.search(text, 0, start)
        # `a drover whom Mara met had been …`: what follows is the drover's.
        bound = BOUND.search(text, 0, start) is not None or re.search(r"\bwhom\s+\Z", text[:start]) is not None
        bound = bound and not (_SEEN.search(text, 0, start) and _DOING.match(text, end))
        yield _Token(start=start, end=end, own=own, leads=not bound if thing is None else own, gender=gender)
    for found in _PRONOUN.finditer(text):
        sex = "m" if found.group("he") else "f" if found.group("she") else ""
        own = bool(sex) and gender in {sex, ""}
        yield _Token(start=found.start(), end=found.end(), own=own, leads=True, gender=sex, said=True)
    himself = [found.span() for found in HIMSELF.finditer(text)]
    # `Lady Lucas left`, `Aunt Polly`: neither the lady nor the aunt is another person.
    himself += [(one.start - sentence.start, one.end - sentence.start) for one in people]
    for pattern in (OTHERS, KIN):
        for found in pattern.finditer(text[:1].lower() + text[1:]):
            if any(first <= found.start() < last for first, last in himself):
                continue
            word = found.group().split()[-1]
            sex = "m" if _MAN.match(word) else "f" if _WOMAN.match(word) else _MANY if word.endswith("s") else ""
            # `Mara kissed her aunt, and started`: she is only dealt with.
            dealt_with = pattern is KIN and BOUND.search(text, 0, found.start())
            opens = _OPENS.search(text, 0, found.start()) is not None or (pattern is KIN and not dealt_with)
            yield _Token(start=found.start(), end=found.end(), own=False, leads=opens, gender=sex)


def _resolved(tokens: list[_Token]) -> Iterator[_Token]:
    """Each pronoun as whoever led before it."""
    last: _Token | None = None
    for token in tokens:
        taken = token.said and last is not None and not last.own and last.gender in {token.gender, ""} and token.gender
        now = _Token(start=token.start, end=token.end, own=False, leads=True, gender=token.gender) if taken else token
        if now.leads and (now.gender or not now.said):
            last = now
        yield now
