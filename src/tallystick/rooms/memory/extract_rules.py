"""The sentences that extraction understands: one table."""

import re
from typing import NamedTuple

_NAME = r"(?P<subject>(?:[A-Z][\w'.-]*)(?: (?:of |the |de |van |von )?[A-Z0-9][\w'.-]*){0,4}?)"
_THING = r"(?P<object>[^,;:.!?]+(?:\.\d[^,;:.!?]*)*)"
_WHAT = r"(?P<predicate>[a-z][\w -]{1,30}?)"
_NOT = r"(?P<no>not |no longer )?"
_DENIED = r"(?:don't|doesn't|do not|does not|am not|is not|isn't|wasn't|was not|no longer|never|didn't|did not)"
_BEFORE = r"(?:(?:Yes|No|Well|And|But|So|Hi|Hello|Hey|Now|Today|Currently)[,!]? )?"
_ADVERB = r"(?:(?:now|currently|still|really|also|just|always) )?"
_OWN = r"(?:'s|’s)"  # noqa: RUF001 - both kinds of apostrophe stand in texts
_MINE = r"my (?P<mine>[a-z][\w -]{1,30}?)"
_CALLED = rf"(?:{_OWN} name is|{_OWN} called| is called| is named| was called| was named)"


class Rule(NamedTuple):
    """One form of sentence."""

    pattern: re.Pattern[str]
    """With groups `subject` (none: the speaker), `object`, `predicate` unless it is fixed, and `no` when it denies.

    What belongs to somebody is a subject of its own: `mine` is the speaker's, `theirs` the subject's.
    """
    predicate: str = ""
    volatility: str = "medium"


class Verb(NamedTuple):
    """A verb that is understood."""

    said: str
    """As it stands in a statement."""
    bare: str
    """As it stands after «don't»."""
    predicate: str
    volatility: str = "medium"


VERBS: tuple[Verb, ...] = (
    Verb(
        "live in|lives in|am living in|is living in|reside in|resides in"
        "|moved to|have moved to|has moved to|moved back to|relocated to",
        "live in", "lives_in", "low",
    ),
    Verb("work for|works for|work at|works at|am employed by|is employed by", "work for|work at", "works_for", "low"),
    Verb("was born on", "born on", "born_on", "static"),
    Verb("was born in", "born in", "born_in", "static"),
    Verb("prefer|prefers", "prefer", "prefers", "low"),
    Verb("like|likes|love|loves|enjoy|enjoys", "like|love|enjoy", "likes", "low"),
    Verb("hate|hates|dislike|dislikes", "hate|dislike", "dislikes", "low"),
    Verb("decided to|decided on|have decided to|has decided to", "decide on", "decided", "low"),
    Verb("am allergic to|is allergic to", "allergic to", "allergic_to", "static"),
    Verb("speak|speaks", "speak", "speaks", "low"),
    Verb("own|owns", "own", "owns", "low"),
    Verb("use|uses", "use", "uses"),
    Verb("require|requires|need|needs", "require|need", "requires"),
)  # fmt: skip


def _with_verb(verb: Verb) -> tuple[Rule, Rule]:
    """The sentence by the speaker, and about somebody who is named or is somebody's."""
    said = rf"(?:(?P<no>{_DENIED} (?:{verb.bare}))|{_ADVERB}(?:{verb.said})) {_THING}"
    mine = re.compile(rf"^{_BEFORE}I {said}", re.IGNORECASE)
    return (
        Rule(mine, verb.predicate, verb.volatility),
        Rule(re.compile(rf"^{_BEFORE}(?:{_NAME}|(?i:{_MINE})) {said}"), verb.predicate, verb.volatility),
    )


VERB_PHRASE = re.compile(
    rf"(?:{_DENIED}|{_ADVERB}(?:{'|'.join(verb.said for verb in VERBS)}"
    r"|am|are|is|was|were|have|has|had|do|does|did|can|can't|cannot|will|won't|go|goes|went|got|get|gets|grew|study"
    r"|studies|studied|play|plays|want|wants|plan|plans)) \w",
    re.IGNORECASE,
)
"""What goes on about the subject of the clause before it."""

RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(rf"^{_BEFORE}(?:I'm called|I am called|my name is|my name's) {_THING}", re.IGNORECASE),
        "name",
        "static",
    ),
    Rule(re.compile(rf"^{_BEFORE}{_MINE}{_CALLED} {_THING}", re.IGNORECASE), "name", "static"),
    Rule(
        re.compile(rf"^{_BEFORE}I have an? (?P<mine>[a-z][\w -]{{1,30}}?),? (?:called|named) {_THING}", re.IGNORECASE),
        "name",
        "static",
    ),
    Rule(re.compile(rf"^{_BEFORE}{_NAME}{_OWN} (?P<theirs>[a-z][\w -]{{1,30}}?){_CALLED} {_THING}"), "name", "static"),
    Rule(re.compile(rf"^{_BEFORE}{_NAME}{_OWN} name is {_THING}"), "name", "static"),
    Rule(re.compile(rf"^{_BEFORE}my {_WHAT} (?:is|are|was) {_NOT}{_THING}", re.IGNORECASE)),
    *(rule for verb in VERBS for rule in _with_verb(verb)),
    Rule(re.compile(rf"^{_BEFORE}{_NAME} (?:was founded|was established) in {_THING}"), "founded_in", "static"),
    Rule(
        re.compile(rf"^{_BEFORE}{_NAME} was (?:written|created|designed|painted|invented) by {_THING}"),
        "made_by",
        "static",
    ),
    Rule(re.compile(rf"^[Tt]he {_WHAT} of (?:{_MINE}|(?P<subject>(?:the )?\w[\w '.-]{{0,50}}?)) is {_NOT}{_THING}")),
    Rule(re.compile(rf"^{_BEFORE}{_NAME}{_OWN} {_WHAT} is {_NOT}{_THING}")),
    Rule(re.compile(rf"^{_BEFORE}{_NAME} is {_NOT}an? (?P<object>[^,;:.!?]+)"), "is_a", "low"),
)
"""Tried in order; the first that fits is taken."""

LONGEST = 80
"""Characters of a subject or an object; what is longer is no name of anything."""

TAIL = re.compile(
    r"\s+(?:(?:last|this|next) \w+|yesterday|today|right now|for now|now|any ?more|too|as well|again|a lot|very much"
    r"|so much|these days|nowadays|at the moment|at present|since .*|in (?:19|20)\d\d"
    r"|\w+ (?:days?|weeks?|months?|years?) ago"
    r"|(?:when|where|until|till|before|after) (?:I|we|he|she|it|they|you|my|our|his|her|their) .*)$",
    re.IGNORECASE,
)
"""What stands at the end of a statement and is no part of its object."""
