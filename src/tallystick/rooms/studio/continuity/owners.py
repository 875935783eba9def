"""Whose something is, from the word that stands before it: a possessive, a pronoun, `had`, `with`, `the … of`."""

import re

from tallystick.records import record
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import words

STOPS = frozenset(
    words(
        "the a an those these both two with of had has have having possessed in and but or to at on from into by whose "
        "pair that as like were was is are through over under behind which between her his their its my your our"
    )
)
"""Words that end a run of adjectives before a noun."""
PRONOUNS = frozenset({"his", "her"})
_HAVE = frozenset({"had", "has", "have", "possessed"})
_ARTICLES = frozenset({"the", "that", "this", "those", "these", "two", "of", "a", "an", "pair"})
_ADVERB = re.compile(r"\s+(?:still|also|always|now|indeed|certainly|both|too|then|already|just|[a-z]+ly)\s*\Z")
_WHO = re.compile(r",?\s+(?:who|too,|that)\s*\Z")
_ASIDE = re.compile(
    r",\s+(?!and\b|or\b|but\b|who\b(?!\s+had\s+been)|when\b|while\b|then\b|whose\b)[^,;:.¤A-Z]{2,40},\s*\Z"
)
_APPOSED = re.compile(r"\b[a-z]+,\s+(?:one\s+)?(?:[A-Z][\w.]+\s+)*[A-Z]\w+,\s*\Z")
"""`the fourth of them, Mara Voss, was drowned`."""
_AND = re.compile(r"\w,?\s+and\s*\Z")
_HE = re.compile(r"\b([Hh]e|[Ss]he)\Z")
_HIS = re.compile(r"\b(his|her)\Z", re.IGNORECASE)
_OF = re.compile(r"\s+of\s+")
_OF_HIS = re.compile(r"(his|hers|her(?=\s*[,.;]|\s+(?:had|were|was|did|could)\b))\b")
_OUT = re.compile(r"\bout\s+\Z")
_INHERITED = re.compile(r"\b(?:had|has|inherited|had\s+inherited|had\s+got|had\s+taken)\s+(?:his|her)\s+\Z")
_HAS_THE = re.compile(r"\b(?:had|has|inherited|had\s+inherited|had\s+got|possessed)\s+\Z")
_GAVE = re.compile(r"\b(?:given|gave|granted|left|lent|bequeathed)\s+\Z")
_GIVERS = re.compile(
    r"\b(?:nature|god|heaven|fate|providence|fortune|birth|blood|mother|father|parents|grand\w+|ancestors|creation|"
    r"luck)\b",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"(?!.*\b(?:saw|met|into|at|noticed|of|found|sought)\b).*,\s+(?:[\w-]+\s+){1,3}\Z", re.DOTALL)
_WITH = re.compile(r"\b(had|has|with)\s+(?:(?:a|the)\s+(?:\w+\s+)?(?:pair|head|mane|mass|shock|mop)\s+)?\Z")
_HAD_ALL = re.compile(
    r"\b(had|has)\s+(?:(?!\b(?:who|that|which|was|were|his|her|been|had)\b)[^,;:.¤]){2,40}"
    r"(?:,\s+(?:(?!\b(?:who|that|which|was|were|his|her|had|and\s+(?:he|she|the)\b)\b)[^,;:.¤]){2,40}){0,3}?,?\s+and\s+"
    r"(?:an?\s+(?:\w+\s+)?(?:pair|head|mane|mass|shock|mop)\s+)?\Z"
)
"""`had good hands, a tolerable figure and a pair of brown eyes`."""
_BESIDE = re.compile(
    r"\b(?:who|that|which|whose|man|woman|girl|boy|stranger|one|the)\b[^,;:.]*\s(?:beside|with|to|of|by|near|from|at|"
    r"behind|opposite|under|between|towards?|against|upon|about|on|in|into)\s+\Z|\b(?:(?:who|whom|"
    r"which)\s+(?:had\s+)?[a-z]+|that\s+(?:had\s+)?[a-z]+ed)\s+\Z"
)
_NOT_HE = re.compile(r"\b(?:not|instead\s+of|rather\s+than|unlike)\s+\Z")
_HANGS_ON = re.compile(r"\b(?:an?|some|any|every|no|another)\s+(?:[\w-]+,?\s+){1,4}\Z")
_IS_ONE = re.compile(
    r"(?:\b(?:was|is|as|became|being|remained)|,)\s+(?:\w+\s+)?(?:an?|the)\s+(?:[\w-]+,?\s+(?:and\s+)?){1,6}\Z"
)
_AS = re.compile(r"\b(?:as|like)\s+\Z")
_REACH = 40
"""Characters before a word that are looked at for what it hangs on."""


@record
class Thing:
    """A noun with its adjectives, and the word before them."""

    start: int
    end: int
    cue: str
    cue_start: int


def owner_of(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """Whose the thing is; None where it could be anybody's."""
    cue, lowered = thing.cue, thing.cue.lower()
    if cue.endswith(("'s", "s'")):
        return _by_possessive(binder, number, thing)
    if lowered in PRONOUNS:
        return binder.pronoun(number, thing.cue_start, lowered)
    if lowered in _HAVE:
        return holder(binder, number, thing.cue_start)
    if cue[:1].isupper() and lowered not in STOPS:
        return _by_name(binder, number, thing)
    if lowered in _ARTICLES and not (lowered == "of" and _before(_OUT, binder, thing.cue_start)):
        return _by_article(binder, number, thing)
    return _by_preposition(binder, number, thing)


def holder(binder: Binder, number: int, at: int) -> Mention | None:
    """The subject of a verb at an offset: a name or a pronoun directly before it, an adverb apart."""
    sentence = binder.prose.sentences[number]
    before = _WHO.sub(" ", _ADVERB.sub(" ", binder.prose.told[sentence.start : at]))
    if _AND.search(before):
        # `Mara fell and was dead`: the second verb has the first one's subject.
        return binder.subject(number, sentence.start + len(before.rstrip()) - len("and"))
    end = sentence.start + len(before.rstrip())
    named = (
        binder.named_before(number, end)
        or _before_aside(binder, number, before)
        or (binder.named_before(number, end - 1) if _APPOSED.search(before) else None)
    )
    if named is not None:
        # `the stranger beside Mara had black eyes`: a name after a preposition is not the subject, nor one after `not`.
        told = binder.prose.told
        left_out = _NOT_HE.search(told, max(sentence.start, named.start - _REACH), named.start)
        return None if left_out or _BESIDE.search(told, sentence.start, named.start) else named
    found = _HE.search(before.rstrip())
    return binder.pronoun(number, sentence.start + found.start(), found.group(1)) if found else None


def _before_aside(binder: Binder, number: int, before: str) -> Mention | None:
    """`Mara, poor soul, was dead`: what stands between two commas is no other subject."""
    aside = _ASIDE.search(before)
    named = binder.named_before(number, binder.prose.sentences[number].start + aside.start()) if aside else None
    return named if named is not None and not named.is_possessive else None


def possessor(binder: Binder, number: int, at: int) -> Mention | None:
    """Whose: the possessive or the `his` directly before an offset."""
    sentence = binder.prose.sentences[number]
    before = sentence.text[: at - sentence.start].rstrip()
    end = sentence.start + len(before)
    if before.endswith(("'s", "s'")):
        return _named_in_front(binder, number, end)
    said = _HIS.search(before)
    return binder.pronoun(number, sentence.start + said.start(), said.group(1)) if said else None


def _by_possessive(binder: Binder, number: int, thing: Thing) -> Mention | None:
    if thing.cue.islower() and (heir := _before(_INHERITED, binder, thing.cue_start)):
        # `had inherited his father's blue eyes`
        return holder(binder, number, heir.start())
    return _named_in_front(binder, number, thing.cue_start + len(thing.cue))


def _named_in_front(binder: Binder, number: int, end: int) -> Mention | None:
    """The name that a possessive ends: `Mara's`, `Holmes'`."""
    told = binder.prose.told
    bare = end - (2 if told[end - 2 : end] == "'s" else 1)
    return binder.named_before(number, bare) or binder.named_before(number, bare + 1)


def _by_name(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """`Nature had given Mara brown eyes`, where the name itself stands before the words."""
    owner = binder.named_before(number, thing.cue_start + len(thing.cue))
    if owner is None:
        return None
    if _GAVE.search(binder.prose.told, max(0, owner.start - _REACH), owner.start):
        # A painter or a passport may give anything.
        return owner if _GIVERS.search(binder.prose.told, max(0, owner.start - _REACH), owner.start) else None
    # `Mara stared back, brown eyes unblinking`: eyes after a comma, without another owner, are the subject's.
    return owner if _ABSOLUTE.match(binder.prose.told, owner.end, thing.start) else None


def _by_article(binder: Binder, number: int, thing: Thing) -> Mention | None:
    """`the eyes of Mara`, `those eyes of hers`, `had a pair of green eyes`."""
    told = binder.prose.told
    if of := _OF.match(told, thing.end):
        if heir := _before(_HAS_THE, binder, thing.cue_start):
            # `had inherited the grey eyes of the Marlowes`
            return holder(binder, number, heir.start())
        named = binder.named_from(number, of.end())
        if named is not None and (not named.is_possessive or thing.cue.lower() in {"those", "these", "that", "this"}):
            return named
        if his := _OF_HIS.match(told, of.end()):
            return binder.pronoun(number, of.end(), his.group(1).replace("hers", "her"))
    found = _before(_WITH, binder, thing.cue_start) or _HAD_ALL.search(
        told, binder.prose.sentences[number].start, thing.cue_start
    )
    if found is None:
        return None
    return binder.subject(number, found.start()) if found.group(1) == "with" else holder(binder, number, found.start())


def _by_preposition(binder: Binder, number: int, thing: Thing) -> Mention | None:
    lowered = thing.cue.lower()
    if lowered == "whose":
        trimmed = binder.prose.told[: thing.cue_start].rstrip().rstrip(",")
        return binder.named_before(number, len(trimmed.rstrip()))
    if lowered not in {"with", "from", "through", "of"} or _before(_AS, binder, thing.cue_start):
        return None
    owner = binder.subject(number, thing.cue_start)
    between = binder.prose.told[owner.end : thing.cue_start] if owner is not None else ""
    # `Mara drew a face with grey eyes`: they are the face's, unless Mara `was a woman with grey eyes`.
    return None if _HANGS_ON.search(between) and not _IS_ONE.search(between) else owner


def _before(pattern: re.Pattern[str], binder: Binder, at: int) -> re.Match[str] | None:
    return pattern.search(binder.prose.told, max(0, at - _REACH), at)
