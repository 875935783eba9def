"""What a statement is about, without the words around it: where a name ends, what a list holds, what is a date.

The words that follow a name are dropped only where they plainly begin something else; what should be a name and is none
is nothing.
"""

import re
from enum import Enum

from tallystick.rooms.memory.punctuation import DATE


class Kind(Enum):
    """What an object has to be."""

    ANY = "any"
    NAME = "name"
    PLACE = "place"
    BIRTHPLACE = "birthplace"
    """A place, or a year."""
    FIRM = "firm"
    DATE = "date"
    TONGUE = "tongue"


LONGEST = 80
"""Characters of a subject or an object; what is longer is no name of anything."""
_ITEM_WORDS = 4
_SMALL_NAME = 3

TAIL = re.compile(
    r"(?<!\s)\s+(?:(?:last|this|next) \w+|yesterday|today|right now|for now|now|any ?more|any longer|too|as well|again"
    r"|a lot|very much|so much|these days|nowadays|at the moment|at present|since (?s:.*)|in (?:19|20)\d\d"
    r"|\w+ (?:days?|weeks?|months?|years?) ago"
    r"|(?:when|where|until|till|before|after) (?:I|we|he|she|it|they|you|my|our|his|her|their) (?s:.*))$",
    re.IGNORECASE,
)
"""What stands at the end of a statement and is no part of its object."""

_DASH = re.compile(r"(?<!\s)\s+[-–—]++\s+(?!\d)")  # noqa: RUF001 - all of them stand in texts
_POINTS = """
it that this these those him her them me us you there here one ones someone somebody something everyone everybody
everything anyone anything nobody nothing none to
"""
_POINTING = frozenset(_POINTS.split())
"""Words that name nothing by themselves."""
_NEVER_FIRST = re.compile(
    r"(?:not|no|never|neither|nor|nothing|nobody|none|hardly|barely|it|them|him|us|you|me|is|are|was|were|be|been|has|had|will|would|and|or|how|when"
    r"|that (?:I|it|you|he|she|we|they))\b"
)
"""An object that begins so was not understood. In small letters: `No Doubt` is a band."""
_BEFORE_NAMES = "the de la le les du van von der den del di da dos das el al ter ten bin ibn"
_PARTICLES = frozenset(_BEFORE_NAMES.split())
_LINKS = _PARTICLES | {"of", "and", "&", "y", "upon"}
# «Physicians for Human Rights» is one firm; «Denver for Christmas» is no place, nor is «Ann and Bob» a name.
_LINKS_OF = {Kind.FIRM: _LINKS | {"for"}, Kind.NAME: _LINKS - {"and", "&"}}
_AFTER_NAMES = """
a about after again ago along alone already also although an and any are as at back because before between but by
can during each every for from full full-time her his if in instead into is last like my near next not now on or our
over part part-time right she since so some soon still than that their then there they this though through till
to today together tomorrow too two three four several half most under until very was we what when where which while
who whom whose will with within without yesterday you your he it i
"""
_GO_ON = frozenset(_AFTER_NAMES.split())
_OF_ANOTHER = frozenset({"is", "are", "was", "will", "can", "not", "to"})
"""«I live in Rome and Anna is in Oslo»: what is before these words is their subject."""
_PLAIN = """
a an the my your his her its our their on in at by for from with to of not no as so too very quite rather hard easy
long short common rare secret private missing wrong unusual unique unknown misspelled misspelt difficult old new
here there still also
"""
_NO_NAME = frozenset(_PLAIN.split())
_ARTICLES = frozenset({"a", "an", "the"})
_ASIDE = re.compile(r"(?:some|also|a little|a bit of|a little bit of|fluent|basic|both) ", re.IGNORECASE)
_HOW_WELL = re.compile(r" (?:fluently|well|a bit|a little|a little bit|too|natively|poorly)$", re.IGNORECASE)
_REST_OF_LIST = re.compile(r"(?P<items>(?:, [^,;:.!?]+)*?),? (?P<word>and|or) (?P<last>[^,;:.!?]+)[.!]*$")
_NO_ITEM = re.compile(
    r"(?:especially|particularly|mostly|mainly|sometimes|maybe|including|like|such as|but|then|so|too|not|i|we|he|she"
    r"|they|you|my|in|at|on|to|for|from|with|when|if|because|who|which|that)\b"
    r"|.*\b(?:who|which|because|if|when|but|is|are|was|were|has|have)\b",
    re.IGNORECASE,
)
_UNDIVIDED = re.compile(r"\b(?:in|at|from|near|to|of) (?:the )?[A-Z]\S*$|^to ")
_COUNTED = re.compile(r"(?:an?|the|some|my|our|two|three|four|five|several|many|lots|\d+) |[A-Z]")
_PARTNERS = re.compile(r"(?:, [A-Z][\w'-]*)+,? (?:and|&) [A-Z][\w'-]*[.!]*")
_TWO_TONGUES = re.compile(r"([A-Z]\w+) and (?:some |a little |a bit of )?([A-Z]\w+)")
_DATE = re.compile(rf"(?:on |the )*(?P<date>{DATE})", re.IGNORECASE)


def thing_in(words: str, kind: Kind, *, cased: bool) -> tuple[str, str] | None:
    """The object that words begin with, and the words that follow it; None: they are no such thing.

    Args:
        words: What stands where the object stands.
        kind: What it has to be.
        cased: Whether the writer uses large letters at all.
    """
    plain = words.strip(" ,;.!\"'")
    if kind is Kind.DATE:
        return _day(plain)
    plain = TAIL.sub("", _DASH.split(plain, maxsplit=1)[0])
    if not plain or plain.casefold() in _POINTING or _NEVER_FIRST.match(plain):
        return None
    if kind is Kind.ANY:
        day = _day(plain)
        return day if day is not None and not day[1] else (plain, "")
    if kind is Kind.TONGUE:
        return _HOW_WELL.sub("", _ASIDE.sub("", plain)), ""
    named = _named(plain, kind) if cased else _named_small(plain)
    return (plain, "") if named is None and kind is Kind.BIRTHPLACE else named


def is_named(thing: str) -> bool:
    """Whether an object tells one thing from all others: by a name, a number or an address."""
    return thing.split(maxsplit=1)[0] not in _NO_NAME - _ARTICLES and (
        "@" in thing or any(sign.isupper() or sign.isdigit() for sign in thing)
    )


def items_of(first: str, rest: str, kind: Kind, *, denied: bool) -> list[str]:
    """The things of a list, of which the first stands before a comma.

    Only that one where it may be no list, and none where the first is not whole either.

    Args:
        first: The first thing.
        rest: What follows it in the clause.
        kind: What each has to be.
        denied: Whether the list is denied: then only `or` reaches all of it.
    """
    if kind is Kind.TONGUE and (two := _TWO_TONGUES.fullmatch(first)):
        return [two[1], two[2]]
    if kind is Kind.FIRM:
        return [f"{first}{rest.rstrip('.!')}" if _PARTNERS.fullmatch(rest) else first]
    found = _REST_OF_LIST.fullmatch(rest)
    # «hiking in Oslo, Norway and skiing», «to eat, drink and sleep»: nobody can say what the commas divide.
    if found is None or not found["items"] or _UNDIVIDED.search(first) or (denied and found["word"] == "and"):
        return [first]
    read = [thing_in(item, kind, cased=True) for item in (*found["items"].split(", ")[1:], found["last"])]
    items = [first, *(one[0] for one in read if one is not None)]
    if len(items) <= len(read) or any(len(item.split()) > _ITEM_WORDS or _NO_ITEM.match(item) for item in items):
        return [first]
    # «the red, white and blue flag» is one thing, and none of these.
    return items if first.split(maxsplit=1)[0] not in _ARTICLES or all(map(_COUNTED.match, items)) else []


def _day(words: str) -> tuple[str, str] | None:
    found = _DATE.match(words)
    return None if found is None else (found["date"], words[found.end() :].strip())


def _named(words: str, kind: Kind) -> tuple[str, str] | None:
    """A name: words with large letters, and small ones between them that belong to names."""
    said = words.split()
    links = _LINKS_OF.get(kind, _LINKS)
    end = 0
    for number, word in enumerate(said):
        if word != "I" and (_is_large(word) or (end and word[0].isdigit())):
            end = number + 1
        elif word.lower() not in (links if end else _PARTICLES):
            break
    if not end:
        return None
    rest = said[end:]
    if rest and "and" in said[:end] and (rest[0] in _OF_ANOTHER or rest[0] not in _GO_ON):
        end = said.index("and")
    elif rest and rest[0].lower() not in _GO_ON and not rest[0].endswith("ly"):
        return words, ""
    return " ".join(said[:end]).strip("\"'"), " ".join(said[end:])


def _named_small(words: str) -> tuple[str, str] | None:
    """A name by one who writes everything small: a few words, none of them a word that names do not begin with."""
    said = words.split()
    end = next((number for number, word in enumerate(said) if word in _GO_ON), len(said))
    if not 0 < end <= _SMALL_NAME or said[0] in _NO_NAME or not said[0][0].isalpha():
        return None
    return " ".join(said[:end]), " ".join(said[end:])


def _is_large(word: str) -> bool:
    """Written large somewhere, or in a script that has no small letters."""
    return any(sign.isalpha() and not sign.islower() for sign in word)
