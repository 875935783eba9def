"""Whom a clause is about, by the company: the one person named, wherever the name stands.

A rule that knows a value (a colour, an age, a town) and the thing it is said of needs no more than this to know whose
it is. People without a name are no hindrance unless they stand where the owner would stand: `the clerk who served Mara
had grey eyes`, `Mara sat by the curate, a person with grey eyes`.
"""

import re

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.cleft import is_anothers_by_cleft
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import ANYONE, MEN, TRADES, WOMEN, words

_PEOPLE = "|".join((*ANYONE, *MEN, *WOMEN, *TRADES, "children", "men", "women", "people", "folk", "parents", "twins?"))
_BAND = r"(?:family|company|party|troop|band|gang|crew|troupe)\s+of\s+[a-z]+s|families"
OTHERS = re.compile(
    rf"\b(?:(?:{_PEOPLE})(?:s|es)?|thieves|wives|gentlemen|[a-z]+(?:man|woman|maid|keeper|monger|wright|"
    rf"herd|leader|maker)s?)\b(?!-|'s)|\b(?:an?|the|two|three|some|other)\s+(?:[a-z]+\s+)?(?:{_BAND})\b|"
    r"(?<=¤ )(?:said|cried|asked|replied|answered|whispered|began|went\s+on)\s+(?:the|an?)\s+(?:[a-z]+\s+)?[a-z]+|"
    r"\b[Tt]he\s+(?:other\s+)?(?:Major|Captain|Colonel|Doctor|General|Admiral|Bishop|Dean|Rector|Vicar|Squire|"
    r"Inspector|Sergeant|Professor|Count|Countess|Duke|Duchess|Baron|Judge|Mayor|Lieutenant|Earl|Canon|Abbot|Curate|"
    r"Parson)\b(?!\s+[A-Z])"
)
"""Somebody without a name."""
HIMSELF = re.compile(
    rf"(?<![Ii]t )(?<!here )(?<!them )\b(?:was|is|been|as|being|such|so|become|became|remained|like|"
    rf"but)\s+(?:only\s+|but\s+|still\s+|now\s+|not\s+)?(?:an?|the|one|no)\s+(?:(?!when\b|who\b|that\b|where\b|"
    rf"the\b)[\w-]+,?\s+){{0,3}}(?:{_PEOPLE})\b|,\s+an?\s+(?:[\w-]+,?\s+){{0,3}}(?:{_PEOPLE})\s+(?:of|to|from|at|in|"
    rf"by)\b|"
    r"\b(?:was|is)\s+(?:mistress|master|owner|tenant)\s+of\b|"
    rf"\b(?:an?|the|some)\s+(?:[\w-]+,?\s+){{0,3}}(?:{_PEOPLE})\b(?=[^.;]{{0,90}}?\b(?:called|named|christened|"
    rf"by\s+name|"
    r"(?:proved|turned\s+out)\s+to\s+be|known\s+(?:[\w\s]{1,24}\s)?as|(?:gave|bore|had|under|by)\s+(?:the|his|"
    r"her)\s+name\s+of|(?:(?:this|that|it)\s+)?was(?!\s+(?-i:(?:[A-Z][\w.]*\s+)*[A-Z]\w*'))|no\s+other\s+than)\s+"
    r"(?-i:[A-Z]))|"
    rf"\A\W*(?:An?|The)\s+(?:[\w-]+,?\s+){{0,3}}(?:{_PEOPLE})\b(?!,\s+who\b)(?=[^;]*?,\s+(?-i:[A-Z]))|\b(?:of|among|"
    rf"like)\s+(?:all\s+|most\s+(?:of\s+)?|many\s+|nearly\s+all\s+)?(?:the\s+)?(?:other\s+|[a-z]+\s+)?(?:people|"
    rf"persons|folk|neighbours|"
    rf"householders|children|men|women|residents)\b|\bfor\s+an?\s+(?:man|woman|person|body|creature)\s+(?:of|who)\b|"
    rf"\b(?:from|after|like|by|to)\s+(?:his|her)\s+(?:own\s+)?(?:dead\s+|late\s+)?(?:mother|father|grandmother|"
    rf"grandfather|parents)\b|\bby\s+nature\b|"
    r"(?:\bhis|\bher|'s)\s+(?:mother|father|grandmother|grandfather|aunt|uncle)'s\s+(?:mouth|nose|eyes|hair|chin|"
    r"voice|hands|temper|smile|face|looks|side|colou?ring)\b",
    re.IGNORECASE,
)
"""A word for people that is said of the one who has a name: `was a tall man`, `A person of few words, Mara …`."""
KIN = re.compile(
    r"(?:'s|\bhis|\bher)\s+(?:own\s+|elder\s+|younger\s+|little\s+|old\s+|late\s+|dead\s+|poor\s+|[\w-]+\s+)?(?:twin|"
    r"twin's|namesake|(?:step|half|grand|god)?-?(?:brother|sister|mother|father|son|daughter|child)|eldest|youngest|"
    r"firstborn|husband|wife|uncle|"
    r"aunt|cousin|nephew|niece|people|parents|neighbou?rs?|servants?|clerk|maid|cook|groom|dog|horse|landlady|landlord|"
    r"luggage|trunks?|friends?|master|mistress|partner|guests?|visitors?|companions?|brother-in-law)(?:'s|s'|s)?\b"
)
"""Somebody who belongs to the one who has a name."""
_BOUNDARY = re.compile(
    r"[;:—¤]|,\s+(?:and|but|for|so|yet|nor|or|while|whereas|though|although|when|where|as|because|since|until|till|"
    r"before|after|who|whose|which|whom|than|that(?=\s+(?:he|she|it|they|his|her|there|[A-Z])))\b|"
    r"\s(?:and|but|while|whereas|though|although|because|when|until|till|who|whom|which|where|whose|than)\s"
)
_SELF = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our)\b")
_AS_WE_KNOW = re.compile(r"\b(?:as|so)\s+we\s+\w+|\bour\s+(?:story|tale|history|friend|hero\w*)\b")
_HE = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
_SHE = re.compile(r"\b(?:she|her|hers|herself)\b", re.IGNORECASE)
BOUND = re.compile(
    r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|at|in|into|after|before|near|beside|behind|opposite|between|"
    r"against|over|under|towards?|[a-z]{3,}ed|saw|met|told|gave|left|found|heard|held|brought|took)\s+\Z"
)
_LEADS = re.compile(r"\W*(?:(?:and|but|so|then|when|while|as|for|where|because|since)\s+)?")
_SO_DID = re.compile(r"\band\s+so\s+(?:did|had|was|were|has|is)\s+(?:he|she|[A-Z])")  # `and so did she`
_MANY = re.compile(
    r"(?:'s\s+|his\s+|her\s+)?(?:\w+\s+)?(?:people|folk|parents|neighbours|neighbors|children|men|women|friends|"
    r"guests|visitors|servants)\b"
)
_BEHOLDERS = re.compile(
    r"(?:people|folk|neighbours|neighbors|strangers|visitors|guests|others|men|women|children|friends|villagers|ladies|"
    r"servants)\s+(?:(?:who|that)\s+[^,;]{2,40}?\s+)?(?:\w+ly\s+|always\s+|first\s+|often\s+|had\s+|"
    r"all\s+){0,2}(?:notic|"
    r"saw\b|seen\b|see\b|remark|remember|observ|knew\b|know|forg[eo]t|said\b|say|look|thought|describ|recogni[sz]|"
    r"spoke|spok|agreed|turned|liked|pointed)"
)
"""Many who see or know something of one."""
_NOTICED = re.compile(
    r"\s+(?:\w+ly\s+|had\s+|ever\s+|first\s+|always\s+){0,2}(?:noticed|saw|remarked|observed|remembered|knew|"
    r"recalled|noted|liked|admired|said|thought|seen|known)\s+(?:[a-z]+\s+){0,2}?(?:about|in|of)\s+"
)
"""`all that the porter noticed about Mara`."""
_DESCRIBED = frozenset({*MEN, *WOMEN, *words("stranger person creature figure child baby infant twin namesake other")})
"""Those of whom more is often told, since nothing else is known of them."""
_WITH_THE = re.compile(
    r"\b(?:with|to|for|by|at|from|upon|on|beside|before|behind|after|among|towards?|against|near|opposite|past|"
    r"[a-z]{3,}ed|met|told|gave|found|left|bade|fought)\s+(?:the|his|her|their|this|that)\s+(?:[a-z-]+\s+)?\Z"
)
_MORE_OF_HIM = re.compile(r",?\s+(?:who|whose|whom|with|that|had|has|was|were|of|in|at|from)\b|-|'|,\s+an?\b")
_WHO = re.compile(r"\A\W*(?:who|whom|which|that|whose)\b")
SUBORDINATE = re.compile(r"\b(?<!so )(?:that|how|when|where|because)\s+(?:(?:old|poor)\s+)?\Z")
_APPOSED_TO = re.compile(
    r"(?<!\bhad )(?<!\bhas )(?<!\bwith )\b(?:the|an?|his|her|their)\s+(?:[a-z-]+\s+){0,2}(?P<noun>[a-z-]+),\s+(?:an?\s|"
    r"(?:himself|herself)\s|born\s)"
    r"[^,;:—]*\Z",
    re.IGNORECASE,
)


def clause_at(text: str, at: int) -> tuple[int, int]:
    """Where the clause begins and ends that a place of a text stands in."""
    start, end = 0, len(text)
    for found in _BOUNDARY.finditer(text):
        if found.end() <= at:
            start = found.start()
        elif found.start() >= at:
            end = found.start()
            break
    return start, end


def about(binder: Binder, number: int) -> Mention | None:
    """The one person whom a sentence, or the one beside it, names; whether a clause is about him, `bearer` says."""
    people = named_people(binder, number)
    if not people:
        return _neighbour(binder, number, binder.prose.sentences[number].end)
    return people[0] if len({one.key for one in people}) == 1 else None


def bearer(binder: Binder, number: int, at: int, *, leads: bool = False) -> Mention | None:
    """Whose something at an offset is, where no word beside it says so; None where it may be another's.

    Args:
        binder: The file's.
        number: The sentence.
        at: Where it stands.
        leads: Whether it belongs to the subject of its clause, whomever else the clause speaks of after that.
    """
    people = named_people(binder, number)
    if not people:
        return _neighbour(binder, number, at)
    sentence = binder.prose.sentences[number]
    place = at - sentence.start
    start, end = clause_at(sentence.text, place)
    if len({one.key for one in people}) > 1:
        people = [one for one in people if start <= one.start - sentence.start < min(place, end)]
        if len({one.key for one in people}) != 1 or BOUND.search(sentence.text, 0, people[0].start - sentence.start):
            return None
    owner = people[0]
    spans = [(one.start - sentence.start, one.end - sentence.start) for one in people]
    cleft = all(is_anothers_by_cleft(sentence.text, place, span) for span in spans)
    if cleft or is_in_relative(sentence.text, spans[0][0], place) or _is_apposed(sentence.text, place):
        return None
    if (
        leads
        and _LEADS.fullmatch(sentence.text, start, owner.start - sentence.start)
        and not owner.is_possessive
        and owner.start < at
    ):
        return owner
    if _SELF.search(_AS_WE_KNOW.sub("", sentence.text)) or not agrees(binder, owner, sentence.text[start:end]):
        return None
    return owner if _is_his(sentence.text, place, [one.start - sentence.start for one in people], start, end) else None


def _is_his(text: str, at: int, named: list[int], start: int, end: int) -> bool:
    """Whether nobody without a name stands where the owner would stand."""
    if named[0] > 0 and re.match(r"[A-Z]\w*\s+[a-z]", text):
        # `People in that village …`: the first word has its capital from the sentence.
        text = text[:1].lower() + text[1:]
    own = [found.span() for found in HIMSELF.finditer(text)]
    others = [
        found.start()
        for pattern in (OTHERS, KIN)
        for found in pattern.finditer(text)
        if not any(first <= found.start() < last for first, last in own)
        and not _stands_by(text, found)
        and not _BEHOLDERS.match(text, found.start())
        and not any(_NOTICED.fullmatch(text, found.end(), place) for place in named)
    ]
    if not others or _SO_DID.search(text):
        return True
    led = [place for place in named if place < at and SUBORDINATE.search(text, 0, place)]
    if led and not any(led[-1] < place < at for place in others):
        # `The aunt, who forgot everything, knew that Mara was born in March`.
        return True
    inside = [place for place in others if start <= place < at]
    here = [place for place in named if start <= place < end]
    if inside:
        # The name stands nearer, and is not what another does something to.
        before = [place for place in here if place < at]
        return bool(before) and max(inside) < before[-1] and not BOUND.search(text, 0, before[-1])
    if here and not _WHO.match(text[start:end]):
        return True
    he = _HE.search(text, start, end) or _SHE.search(text, start, end)
    crowd = all(_MANY.match(text, place) for place in others if place < start)
    if he and (crowd or re.match(r"\W*where\b", text[start:end])):
        # `to the inn at Yarrow, where she was born`: the name's own clause; many are not `she`.
        return True
    return (bool(he) and not any(place < start for place in others)) or min(others) > max(at, named[0])


def _is_apposed(text: str, at: int) -> bool:
    """`The bootmaker, a Truro man by birth,`: said of the noun before the comma."""
    found = _APPOSED_TO.search(text, 0, at)
    return found is not None and found.group("noun").lower() not in OWN and not re.match(r"[^,;]*,\s+[A-Z]", text[at:])


def _stands_by(text: str, other: re.Match[str]) -> bool:
    """`quarrelled with the porter`, `waited on the bishop`: somebody known by what he is, and only dealt with."""
    return (
        other.group() not in _DESCRIBED
        and _WITH_THE.search(text, 0, other.start()) is not None
        and _MORE_OF_HIM.match(text, other.end()) is None
    )


def agrees(binder: Binder, owner: Mention, clause: str) -> bool:
    """Whether no pronoun of a clause is of another gender than its owner."""
    gender = binder.cast.gender(owner.key)
    men, women = _HE.search(clause) is not None, _SHE.search(clause) is not None
    return not (men and women) and not (men and gender == "f") and not (women and gender == "m")


def _neighbour(binder: Binder, number: int, at: int) -> Mention | None:
    """Whom the sentence before or after names first, in the same paragraph, where this one names nobody."""
    sentences = binder.prose.sentences
    text = sentences[number].text[: at - sentences[number].start]
    if OTHERS.search(HIMSELF.sub(" ", text)) or KIN.search(text) or _SELF.search(text):
        return None
    for near in (number - 1, number + 1):
        if not 0 <= near < len(sentences) or sentences[near].paragraph != sentences[number].paragraph:
            continue
        people = named_people(binder, near)
        if not people:
            continue
        found = people[0]
        leads = near < number or found.start - sentences[near].start < _OPENING
        alone = len({one.key for one in people}) == 1 and not OTHERS.search(HIMSELF.sub(" ", sentences[near].text))
        return found if leads and (alone or near > number) and agrees(binder, found, sentences[number].text) else None
    return None


_OPENING = 24
"""Characters of a sentence within which its subject stands."""


OWN = frozenset(
    words("""
    journey voyage road way passage distance ride drive walk trip house home room rooms lodging lodgings door
    window windows coach train boat ship mail packet carriage cab year day night evening morning winter summer
    spring autumn week month birthday birth birthplace date bed bill register town street village city place
    lamp rain snow fire chimney key cradle clock bell bells light post ticket roads life family
    cottage address people arrival coming going departure setting start residence stay first last days years
    whole cat dog step cry breath doorstep garden supper riding travelling travel landlady neighbours neighbors
    plate walls one thing removal name native house-door mother parish boots hat
    """)
)


_IN_RELATIVE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Oo]ne|[Ee]very)\s+(?:[a-z-]+\s+){0,2}?(?!(?:on|in|at|of|by|to|for|from|with|"
    r"upon)\s)(?P<noun>[a-z-]+),?\s+(?:who|that|which)\s+(?!(?:he|"
    r"she|it|they)\b)(?:(?!carr|brought|bring|took|take|bore|borne|convey|dr[oi]v)[a-z]+\s+){1,8}\Z"
)
SENT = frozenset(words("letter note parcel message news luggage baggage trunk box horse dog doll cart waggon"))


def is_in_relative(text: str, name: int, at: int) -> bool:
    """`The clerk who served Mara was born there`: what follows the relative clause is not said of the name in it."""
    found = _IN_RELATIVE.search(text, 0, name) if at > name else None
    somebody = found is not None and (OTHERS.match(found.group("noun")) or found.group("noun") in SENT)
    return bool(somebody) and not _BOUNDARY.search(text, name, at)
