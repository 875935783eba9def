"""Height, handedness, scars and lame legs, parents and spouses, numbers of brothers and sisters, trades."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import holder, possessor
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of, words

TALL = frozenset(words("tall towering lanky gigantic"))
SHORT = frozenset(words("short diminutive tiny petite squat stunted"))
TRADES = words(
    "baker blacksmith butcher carpenter carter clerk cobbler cook doctor physician surgeon farmer fisherman gardener "
    "governess innkeeper jeweller joiner judge lawyer attorney solicitor barrister librarian mason merchant midwife "
    "miller miner musician notary nurse painter sculptor pharmacist apothecary pilot policeman detective potter priest "
    "printer sailor schoolmaster schoolmistress teacher seamstress shepherd shoemaker smith soldier tailor weaver "
    "banker journalist engineer architect astronomer botanist chemist dentist glassblower bookbinder clockmaker "
    "watchmaker lighthouse-keeper ferryman"
)
RELATIONS = words(
    "mother father brother sister son daughter husband wife uncle aunt cousin nephew niece grandfather grandmother "
    "grandson granddaughter"
)
"""What one person can be to another; of two such words only one is true."""
_PEOPLE = r"(?:man|woman|girl|boy|person|lady|gentleman|fellow|creature|figure|lad|youth)"
_HEIGHT = re.compile(
    rf"\b(?:was|is)\s+(?:(?:a|an|very|rather|quite|so|too|remarkably|unusually|exceedingly|"
    rf"extremely)\s+){{0,6}}(?P<word>{'|'.join(sorted(TALL | SHORT))})"
    rf"(?=\s*[.;!]|,\s+(?:and\s+)?\w+|\s+and\s+\w+|\s+for\s+(?:a|her|his)\b|,?\s+(?:[\w-]+,?\s+){{0,3}}{_PEOPLE}\b)"
)
_FEET = re.compile(
    rf"\b(?:was|is|stood|stands|measured)\s+(?:(?:nearly|about|almost|over|fully|exactly|"
    rf"at)\s+)?(?P<feet>{NUMBER})\s+(?:feet|foot)"
    rf"(?:\s+(?:and\s+)?(?P<inches>{NUMBER})(?:\s+inches)?)?\s*(?:tall|high|in\s+height|in\s+(?:his|her)\s+\w+)"
)
_HANDED = re.compile(r"\b(?P<word>left|right)-handed\b")
_LIMBS = (
    r"(?:cheek|eye|arm|hand|leg|foot|knee|shoulder|temple|eyebrow|brow|ear|thumb|forearm|wrist|thigh|ankle|"
    r"hip|jaw|palm)"
)
_MARK = (
    r"(?:scars?|scarred|patch|limp|limped|limping|blind|missing|lost|lame|wooden|stump|tattoo|birthmark|mole|"
    r"burn|hook|amputated|crippled|withered)"
)
_MARKED = re.compile(
    rf"\b(?P<mark>{_MARK})\b(?P<between>(?:\s+[\w']+){{0,7}}?)\s+(?P<side>left|right)\s+(?P<limb>{_LIMBS})\b|"
    rf"\b(?P<side2>left|right)\s+(?P<limb2>{_LIMBS})\b(?P<between2>(?:\s+[\w']+){{0,5}}?)\s+(?P<mark2>{_MARK})\b"
)
_PARENT = re.compile(
    rf"(?P<name>{NAME})(?:'s|')\s+(?P<kin>mother|father|husband|wife)\s*(?:,\s*|\s+(?:was|is)\s+(?:called\s+|"
    rf"named\s+)?|\s+)(?P<other>{NAME})(?!'s|\w)"
    r"(?=\s*[,.;—]|\s+(?:was|had|is|said|asked|came|stood|sat|looked|lived|died|and))"
)
_KINSMAN = re.compile(
    rf"(?:(?P<name>{NAME})(?:'s|')|\b(?P<whose>[Hh]is|[Hh]er))\s+(?P<kin>{'|'.join(RELATIONS)})\s*,?\s+"
    rf"(?P<other>{NAME})(?!'s|\w)"
    r"(?=\s*[,.;—]|\s+(?:was|had|is|said|asked|came|stood|sat|looked|lived|died|and)\b)"
)
_SIBLINGS = re.compile(
    rf"\b(?:had|has)\s+(?:only\s+|but\s+|just\s+)?(?P<number>{NUMBER}|an?\s+only|no)\s+(?:(?:elder|older|younger|"
    rf"grown|little|living|surviving)\s+)?"
    r"(?P<kin>brothers?|sisters?|siblings?|sons?|daughters?|children)\b"
)
_TRADE = re.compile(
    rf"\b(?:was|is)\s+(?:an?|the)\s+(?:(?!of\b)[\w'-]+\s+){{0,3}}?(?P<trade>{'|'.join(TRADES)})(?=\s*[.,;]|"
    rf"\s+(?:by\s+trade|in|at|from|of|and|who|with|on)\b)"
)

_KIN_WORDS = frozenset(words("brother brothers sister sisters sibling siblings son sons daughter daughters children"))


def bodies(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Everything of this kind that the file gives somebody."""
    prose = narration.prose
    for pattern, triggers, read in _READERS:
        for number, found in prose.matches(pattern, triggers):
            if narration.is_real(number):
                yield from read(narration, binder, number, found)


def _height(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = holder(binder, number, found.start())
    if owner and not owner.is_possessive and narration.asserts(number, found.start(), found.end()):
        value = "tall" if found.group("word") in TALL else "short"
        yield fact_at(narration.prose, number, found.span(), owner, "height", (value,), found.group("word"), hard=False)


def _feet(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = holder(binder, number, found.start())
    feet, inches = number_of(found.group("feet")), number_of(found.group("inches") or "0") or 0
    if owner and feet and not owner.is_possessive and narration.asserts(number, found.start(), found.end()):
        yield fact_at(narration.prose, number, found.span(), owner, "stature", (feet * 12 + inches,), found.group())


def _handed(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    before = sentence.text[: found.start() - sentence.start]
    linked = re.search(r"(?:,?\s+(?:who\s+)?(?:was|is|being)|,)\s+(?:naturally\s+|also\s+|born\s+)?\Z", before)
    if linked is None:
        return
    owner = holder(binder, number, sentence.start + linked.start())
    if owner and not owner.is_possessive and narration.asserts(number, found.start(), found.end()):
        yield fact_at(narration.prose, number, found.span(), owner, "handed", (found.group("word"),), found.group())


def _marked(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    side = found.group("side") or found.group("side2")
    limb = found.group("limb") or found.group("limb2")
    mark = _one_word(found.group("mark") or found.group("mark2"))
    at = found.start("side") if found.group("side") else found.start("side2")
    owner = possessor(binder, number, at) or binder.subject(number, found.start())
    if owner is not None and not narration.is_denied(number, found.start(), found.end()):
        start = (
            min(owner.start, found.start()) if owner.start >= narration.prose.sentences[number].start else found.start()
        )
        yield fact_at(narration.prose, number, (start, found.end()), owner, f"{mark}:{limb}", (side,), found.group())


def _one_word(mark: str) -> str:
    for stem in ("scar", "limp", "lame"):
        if mark.startswith(stem):
            return "limp" if stem == "lame" else stem
    return {
        "missing": "lost",
        "amputated": "lost",
        "stump": "lost",
        "hook": "lost",
        "wooden": "lost",
        "crippled": "limp",
    }.get(mark, mark)


def _parent(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = _at(binder, number, found.span("name"))
    other = _at(binder, number, found.span("other"))
    if owner and other and owner.key != other.key:
        hard = found.group("kin") in {"mother", "father"}
        value = (other.key, other.name)
        yield fact_at(narration.prose, number, found.span(), owner, found.group("kin"), value, other.name, hard=hard)


def _kinsman(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """`her uncle, Saul Cudmore,`: what one person is to another."""
    other = _at(binder, number, found.span("other"))
    if found.group("name"):
        owner = _at(binder, number, found.span("name"))
    else:
        start, whose = found.start("whose"), found.group("whose")
        owner = binder.pronoun(number, start, whose) or binder.through_whose_eyes(number, start, whose)
    if owner and other and owner.key != other.key and binder.cast.is_person(other.key):
        yield fact_at(
            narration.prose, number, found.span(), owner, f"kin:{other.key}", (found.group("kin"),), found.group("kin")
        )


def _siblings(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = holder(binder, number, found.start())
    word = found.group("number")
    count = 0 if word == "no" else 1 if word.endswith("only") else number_of(word)
    if owner is None or count is None or owner.is_possessive:
        return
    if word != "no" and not narration.asserts(number, found.start(), found.end()):
        return
    kin = found.group("kin").rstrip("s").replace("children", "child")
    yield fact_at(narration.prose, number, found.span(), owner, f"count:{kin}", (count,), found.group())


def _trade(narration: Narration, binder: Binder, number: int, found: re.Match[str]) -> Iterator[Fact]:
    owner = holder(binder, number, found.start())
    if owner and not owner.is_possessive and narration.asserts(number, found.start(), found.end()):
        yield fact_at(
            narration.prose,
            number,
            found.span(),
            owner,
            "trade",
            (found.group("trade"),),
            found.group("trade"),
            hard=False,
        )


def _at(binder: Binder, number: int, span: tuple[int, int]) -> Mention | None:
    return next((one for one in binder.mentions(number) if one.start >= span[0] and one.end <= span[1] + 1), None)


_READERS = (
    (_HEIGHT, TALL | SHORT, _height), (_FEET, {"feet", "foot"}, _feet), (_HANDED, {"handed"}, _handed),
    (_MARKED, {"left", "right"}, _marked), (_PARENT, {"mother", "father", "husband", "wife"}, _parent),
    (_KINSMAN, frozenset(RELATIONS), _kinsman), (_SIBLINGS, _KIN_WORDS, _siblings),
    (_TRADE, frozenset(TRADES) | {"lighthouse"}, _trade),
)  # fmt: skip
