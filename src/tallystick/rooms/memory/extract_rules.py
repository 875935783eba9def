"""The sentences that extraction understands: one table."""

import re
from typing import NamedTuple

from tallystick.rooms.memory.punctuation import DATE, DOT, MONTH
from tallystick.rooms.memory.things import Kind

_MARK = r"['’]"  # noqa: RUF001 - both kinds of apostrophe stand in texts
_NOT_NAMES = """
I He She It They We You This That These Those There Here Who Whoever What Whatever Which When Where Why How Nobody None
No Everyone Everybody Everything Someone Somebody Something Anyone Anybody Anything Nothing Most Many Some All Both Each
Every Few Several People Others Neither Either One Only Even Not Never Then Yesterday Today Tomorrow Tonight Now Later
Once Afterwards After Before Since While Because Although Though As However If In On At By From For With Without To My
Our His Her Their Your Its A An And But So Or Yes Well Also Actually Recently Currently Finally Eventually Unfortunately
Sadly Luckily Fortunately Meanwhile Suddenly Last Next Hi Hello Hey Oh Okay OK Anyway Instead Still Just Soon Lately
Monday Tuesday Wednesday Thursday Friday Saturday Sunday Originally Formerly Previously Half Two Three Whenever Wherever
Until Unlike Like Let Whose During Nor Sounds Looks Seems Feels Sure Bet Guess Hope Wish Thanks Thank Glad Sorry Please
Wow Nice Definitely Absolutely Totally Happy
"""
_NO_SUBJECT = frozenset(_NOT_NAMES.split())
"""Words with which no name begins, though they are written large where a sentence begins."""
_POINTING = frozenset(
    {"i", "my", "we", "our", "me", "us", "his", "her", "him", "their", "them", "your", "you", "its", "it"}
)
_JOINING = frozenset({"I", "who", "which", "where", "that", "when", "is", "are", "was"})
_NOT_NOUNS = """
and or but nor not no longer never i is are was were am be been has have had who whom that which what does do did will
would can could always still now also just really then than because if when currently recently both all only
"""
_NO_NOUN = frozenset(_NOT_NOUNS.split())
"""Words that stand in no name of a thing or of a quality."""
_LETTERS = rf"[\w'.{DOT}-]*?"
_NAME = rf"(?P<subject>[A-Z]{_LETTERS}(?: (?:of |the |de |van |von )?[A-Z0-9]{_LETTERS}){{0,4}}?)"
_THING = r"(?P<object>[^,;:.!?]+)"
_NOUN = r"[a-z][\w-]+(?: [\w-]+){0,4}?"
_WHAT = rf"(?P<predicate>{_NOUN})"
_NOT = r"(?P<no>not |no longer |never )?"
_ADVERB = r"(?:(?:now|currently|still|really|also|just|always|finally|recently|already|actually|happily) )?"
_IS = rf"(?:is {_ADVERB}{_NOT}{_ADVERB}|(?P<isnt>isn{_MARK}t ))"
_ARE = rf"(?:(?:is|are) {_ADVERB}{_NOT}{_ADVERB}|(?P<isnt>(?:is|are)n{_MARK}t ))"
_DENIED = (
    rf"(?:(?:do|does|did|is|was)n{_MARK}t|(?:do|does|did|am|is|are|was) not|(?:(?:am|is|are) )?no longer|never)"
    r"(?: (?:really|actually|currently|even))?"
)
_TIME = (
    rf"(?:(?:in|since) (?:(?:early|late|mid) )?(?:{MONTH}(?: \d{{4}})?|(?:19|20)\d\d)|on (?:{DATE}|\w+day)|\w+day"
    r"|(?:last|this) (?:week|weekend|month|year|spring|summer|autumn|fall|winter|night|\w+day)|yesterday|today|tonight"
    r"|(?:a|an|\w+|a few) (?:days?|weeks?|months?|years?) ago|as of today|from now on|these days|nowadays"
    r"|at the moment|by the way|for the record)"
)
_WORD = (
    r"(?:yes|yeah|yep|no|nope|ok|okay|oh|well|and|but|so|hi|hello|hey|hi there|hello there|good (?:morning|evening)|now"
    r"|currently|then|later|afterwards|eventually|finally|recently|actually|also|anyway|meanwhile|luckily|fortunately"
    r"|unfortunately|sadly|btw|fyi|after that|in fact)"
)
_GREETING = r"(?i:hi|hello|hey|hi there|hello there|good (?:morning|evening))[,!]? (?:and )?"
_LEAD = re.compile(rf"(?!{_GREETING}I am [A-Z])(?i:(?:(?:{_WORD}|{_TIME})[,!]? ){{1,3}})")
_US = rf"(?:(?:I|we)(?: both| all)?|my {_NOUN} and I|(?:me|myself) and my {_NOUN}|[A-Z][\w-]+ and I)"
"""The speaker, and others with whom it is so."""
_OWN = rf"{_MARK}s"
_MINE = rf"my (?P<mine>{_NOUN})"
_CALLED = (
    rf"(?:{_OWN} name (?:is|was) {_ADVERB}{_NOT}|{_OWN} called | is (?P<uncalled>not |no longer )?(?:called|named) "
    r"| was (?:called|named) )"
)


def without_lead(words: str) -> str:
    """Words without what may stand before a statement and changes nothing of it: `Yes,`, `Last year`."""
    found = _LEAD.match(words)
    return words if found is None else words[found.end() :]


def may_be_named(subject: str) -> bool:
    """Whether words that are written as a name may be one."""
    first, *more = subject.split()
    return first.split("'")[0] not in _NO_SUBJECT and first not in _POINTING and _JOINING.isdisjoint(more)


def may_be_noun(words: str) -> bool:
    """Whether words may name a thing or a quality: `phone number`, but not `wife and I`."""
    return _NO_NOUN.isdisjoint(words.casefold().split())


class Rule(NamedTuple):
    """One form of sentence."""

    pattern: re.Pattern[str]
    """With groups `subject` (none: the speaker), `object`, and `predicate` unless it is fixed; it denies by `DENIALS`.

    What belongs to somebody is a subject of its own: `mine` is the speaker's, `theirs` the subject's.
    """
    predicate: str = ""
    volatility: str = "medium"
    kind: Kind = Kind.ANY
    many: bool = False
    """Of this there may be several: a list states each."""


DENIALS = ("no", "isnt", "uncalled")
"""Groups of a rule by which it denies."""


class Verb(NamedTuple):
    """A verb that is understood."""

    said: str
    """As it stands in a statement."""
    bare: str
    """As it stands after «don't»."""
    predicate: str
    volatility: str = "medium"
    kind: Kind = Kind.ANY
    many: bool = False
    of_us: bool = False
    """What is said of several is so of each."""


VERBS: tuple[Verb, ...] = (
    Verb(
        "live in|lives in|am living in|is living in|are living in|reside in|resides in|moved to|have moved to"
        "|has moved to|moved back to|have moved back to|has moved back to|relocated to|have relocated to"
        "|has relocated to",
        "live in|living in|reside in", "lives_in", "low", Kind.PLACE, of_us=True,
    ),
    Verb(
        "work for|works for|work at|works at|am employed by|is employed by|am working for|is working for"
        "|am working at|is working at",
        "work for|work at|working for|working at|employed by", "works_for", "low", Kind.FIRM,
    ),
    Verb("was born on", "born on", "born_on", "static", Kind.DATE),
    Verb("was born in", "born in", "born_in", "static", Kind.BIRTHPLACE),
    Verb("am married to|is married to", "married to", "married_to", "low", Kind.NAME),
    Verb("prefer|prefers", "prefer", "prefers", "low"),
    Verb("like|likes|love|loves|enjoy|enjoys", "like|love|enjoy", "likes", "low", many=True),
    Verb("hate|hates|dislike|dislikes", "hate|dislike", "dislikes", "low", many=True),
    Verb("decided to|decided on|have decided to|has decided to", "decide on", "decided", "low"),
    Verb("am allergic to|is allergic to", "allergic to", "allergic_to", "static", many=True),
    Verb("speak|speaks", "speak", "speaks", "low", Kind.TONGUE, many=True),
    Verb("own|owns", "own", "owns", "low", many=True),
    Verb("use|uses", "use", "uses", many=True),
    Verb("require|requires|need|needs", "require|need", "requires", many=True),
)  # fmt: skip


def _with_verb(verb: Verb) -> tuple[Rule, Rule]:
    """The sentence by the speaker, and about somebody who is named or is somebody's."""
    stated = re.sub(r"\b(am|is|are|was|have|has) ", rf"\1 {_ADVERB}", verb.said)
    said = rf"(?:(?P<no>{_DENIED} (?:{verb.bare})|(?:no longer|never) (?:{verb.said}))|{_ADVERB}(?:{stated}))"
    # «Books like that»: of somebody who is named it is «likes».
    # «Anna's moved to Rome»: she has; the mark is not hers.
    short = "|".join(re.findall(r"\b(?:is|has) ([^|]+)", verb.said)) or "(?!)"
    more = (verb.predicate, verb.volatility, verb.kind, verb.many)
    speaker = _US if verb.of_us else "I"
    return (
        Rule(re.compile(rf"^{speaker} {said} {_THING}", re.IGNORECASE), *more),
        Rule(
            re.compile(rf"^(?:{_NAME}(?! like )|(?i:{_MINE}))(?: {said}|{_OWN} {_ADVERB}(?:{short})) {_THING}"), *more
        ),
    )


VERB_PHRASE = re.compile(
    rf"(?:{_DENIED}|{_ADVERB}(?:{'|'.join(verb.said for verb in VERBS)}"
    r"|am|are|is|was|were|have|has|had|do|does|did|can|can't|cannot|will|won't|go|goes|went|got|get|gets|grew|study"
    r"|studies|studied|play|plays|want|wants|plan|plans)) \w",
    re.IGNORECASE,
)
"""What goes on about the subject of the clause before it."""


def _naming(words: str) -> Rule:
    return Rule(re.compile(rf"^(?:{words}){_THING}", re.IGNORECASE), "name", "static", Kind.NAME)


RULES: tuple[Rule, ...] = (
    _naming(rf"I am {_ADVERB}(?P<uncalled>not |no longer )?called |my name (?:{_IS})|my name{_MARK}s "),
    _naming(r"I (?:have )?(?:\w+ly |just )?changed my name to "),
    # Without a greeting it may say anything: «I am Roman Catholic».
    Rule(
        re.compile(
            rf"^{_GREETING}I am (?P<object>[A-Z](?:{_MARK}[A-Z])?[\w-]+"
            rf"(?: [A-Z](?:{_MARK}[A-Z])?[\w{DOT}-]*){{1,3}})[.!]*$"
        ),
        "name", "static", Kind.NAME,
    ),
    _naming(rf"{_MINE}{_CALLED}"),
    _naming(rf"(?:I|we) (?:also )?have an? (?P<mine>{_NOUN}),? (?:who is |which is )?(?:called|named) "),
    Rule(re.compile(rf"^{_NAME}{_OWN} (?P<theirs>{_NOUN}){_CALLED}{_THING}"), "name", "static", Kind.NAME),
    Rule(re.compile(rf"^{_NAME}{_OWN} name {_IS}{_THING}"), "name", "static", Kind.NAME),
    *(rule for verb in VERBS for rule in _with_verb(verb)),
    Rule(re.compile(rf"^my {_WHAT} (?=(?P<be>is|are)){_ARE}{_THING}", re.IGNORECASE)),
    Rule(re.compile(rf"^{_NAME} (?:was founded|was established) in {_THING}"), "founded_in", "static"),
    Rule(
        re.compile(rf"^{_NAME} was (?:written|created|designed|painted|invented) by {_THING}"),
        "made_by",
        "static",
    ),
    Rule(re.compile(rf"^[Tt]he {_WHAT} of (?:{_MINE}|(?P<subject>(?:the )?\w[\w '.{DOT}-]{{0,50}}?)) {_IS}{_THING}")),
    Rule(re.compile(rf"^{_NAME}{_OWN} {_WHAT} {_IS}{_THING}")),
    Rule(re.compile(rf"^{_NAME} {_IS}an? {_THING}"), "is_a", "low"),
)  # fmt: skip
"""Tried in order; the first that fits is taken."""
