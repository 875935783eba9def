"""Words as a search compares them: small letters, without endings, and words of one meaning under one head.

The endings are English ones and fall by a few plain rules; words of other languages pass nearly unchanged, and scripts
without spaces are cut into pairs of characters. Customers and documents name the same thing differently (a purchase is
an order, a bill an invoice): what support desks mean by them stands in a table.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from tallystick.gate.quotes import is_unspaced

MAX_WORD = 48
"""Longer runs are keys and addresses; they are cut so that an index stays small."""
_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*(?:['’][^\W_]+)*")  # noqa: RUF001 - both kinds of apostrophe stand in texts
_NAMED = re.compile(r"[^\W_][\w'’-]*")  # noqa: RUF001
MOSTLY = 0.6
"""From this share of capitals on, they tell nothing."""
_TAIL = re.compile(r"['’](?:s|t|re|ve|ll|d|m)?\Z")  # noqa: RUF001
_VOWEL = re.compile("[aeiouy]")
_NUMBER = re.compile(r"\d{6,}")
"""Numbers of orders and customers: no document knows them."""
_OWN_NUMBER = re.compile(r"#\s?\d{2,}\b")
"""What is numbered like this is the customer's, too: `invoice #85632`."""
_TWO_WORDS = re.compile(r"\b(sign|log|set)(?:n?ed|g?ing|ting|s)?[ -](up|in|out|on)\b")
"""Verbs that are written as one word or as two, and mean little without their second: to sign up is not to sign in."""
_SHORT = 4
"""Words below this length have no ending to lose."""


def stems(text: str) -> Iterator[str]:
    """Every word of a text, in order."""
    for found in _WORD.finditer(_TWO_WORDS.sub(r"\1\2", text.lower())):
        word = found.group()
        if word.isascii():
            yield stem(word)
        else:
            yield from _spelt(word)


def asked(text: str) -> list[str]:
    """The words of a question that say what it is about, each once, in order."""
    mine = _OWN_NUMBER.sub(" ", text)
    found = dict.fromkeys(word for word in stems(mine) if word not in EMPTY and not _NUMBER.match(word))
    # A question of empty words alone is still a question.
    return list(found) or list(dict.fromkeys(stems(text)))


def names_in(text: str) -> list[tuple[str, ...]]:
    """What a question calls by a name of several words (`Gold Years Account`), as the words of each.

    Capitals tell: two or more in a row, where not everything is written with them. A passage that lacks a word of such
    a name is about something else, however much of the rest it says.
    """
    marked = list(_NAMED.finditer(text))
    large = [_is_name(text, found) for found in marked]
    if sum(large) > len(large) * MOSTLY:
        return []
    names: list[list[str]] = [[]]
    for at, found in enumerate(marked):
        beside = at > 0 and text[marked[at - 1].end() : found.start()].isspace()
        if not large[at] or not beside:
            names.append([])
        if large[at]:
            names[-1] += [word for word in stems(found.group()) if word not in EMPTY]
    return list(dict.fromkeys(tuple(name) for name in names if len(name) > 1))


def single_names_in(text: str) -> frozenset[str]:
    """What a question calls by a name of one word (`the Wren grinder`); as above, capitals tell."""
    marked = list(_NAMED.finditer(text))
    large = [found for found in marked if _is_name(text, found)]
    if len(large) > len(marked) * MOSTLY:
        return frozenset()
    return frozenset(word for found in large for word in stems(found.group()) if word not in EMPTY)


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Whether a word is written large for its own sake: not as the first of a sentence, and not as `I` is."""
    word = found.group()
    if len(word) > 1 and word.isupper():
        return True
    before = text[: found.start()].rstrip()
    first = not before or before.endswith((".", "!", "?", ":", ">"))
    return word[0].isupper() and not first and word.lower().partition("'")[0] not in EMPTY


def relatives(word: str) -> tuple[str, ...]:
    """Other words that mean the same to a support desk."""
    return _RELATIVES.get(word, ())


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word in small letters without its ending."""
    word = _TAIL.sub("", word)[:MAX_WORD]
    if len(word) < _SHORT or not word.isascii() or not word.isalpha():
        return word
    return _without_e(_without_past(_without_plural(word)))


def _spelt(word: str) -> Iterator[str]:
    if not any(map(is_unspaced, word)):
        yield stem(word)
    elif len(word) == 1:
        yield word
    else:
        yield from (word[at : at + 2] for at in range(len(word) - 1))


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORT:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_past(word: str) -> str:
    for ending, instead in _ENDINGS:
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORT - 1 and _VOWEL.search(rest):
            rest += instead
            doubled = not instead and rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
            return rest[:-1] if doubled or rest.endswith("ll") else rest
    return word


def _without_e(word: str) -> str:
    if word.endswith("e") and len(word) > _SHORT - 1:
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORT - 1 else word


_ENDINGS = (
    ("ational", "ate"), ("izations", "ize"), ("ization", "ize"), ("ication", "y"), ("ation", "ate"), ("ement", "e"),
    ("ing", ""), ("ied", "y"), ("ed", ""), ("ly", ""),
)  # fmt: skip

_EMPTY = """
a an the and or but if then than so as of at by for from in into on onto to with without about over under up down out
off i me my mine we us our ours you your yours he him his she her hers it its they them their theirs this that these
those there here who whom whose which what when where why how is am are was were be been being do does did doing done
have has had having can could may might must shall should will would not no nor only own same too very just also any
some such each few more most other both all s t d ll ve re m don doesn isn aren wasn won didn can't cannot
please hello hi hey thanks thank dear regards know tell want wanted need needs like help helping assistance
assist way ways possible able let get got gotten trying try question wondering wonder something anything
many much information info see check checking find list show explain wanna gonna ya ur u im id last whether issue
damn goddamn bloody fucking freaking
"""
EMPTY = frozenset(stem(word) for word in _EMPTY.split())
"""Words that most questions have and that say nothing of what they are about."""

_GROUPS = """
order purchase; invoice bill billing; refund reimbursement reimburse compensation compensate restitution rebate;
password passcode pin pwd pass; delivery deliver shipping ship shipment dispatch; cancel cancellation;
register registration signup enrol enroll; signin login logon; subscribe subscription unsubscribe; account profile user;
human person agent operator representative; contact reach call; complaint complain grievance claim reclamation;
fee charge cost price; payment pay paid paying; change modify edit update alter amend correct adjust;
delete close remove erase;
track trace status; address location; newsletter mailing; broken faulty defective damaged; mobile phone telephone;
open create; reset recover recovery restore; warranty guarantee; buy purchase; item product article goods;
period time long; hour time; policy rule; review feedback rating opinion comment; late delay delayed;
arrive arrival eta delivery; problem error trouble fault; delete deletion; missing lost;
lose lost forget forgot forgotten; method option way modality; locate track trace; interest apy; limit maximum cap;
"""


def _related() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _GROUPS.replace("\n", " ").split(";"):
        heads = list(dict.fromkeys(stem(word) for word in group.split()))
        for head in heads:
            found.setdefault(head, {}).update(dict.fromkeys(other for other in heads if other != head))
    return {head: tuple(others) for head, others in found.items()}


_RELATIVES = _related()
