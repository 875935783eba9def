"""Words as they are compared: small letters, without their endings."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")  # noqa: RUF001 - the apostrophe that people type
_SHORT = 4
"""Shorter words keep their ending: `bus`, `ping`."""
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ing", ""), ("ed", ""))
_STOP = (
    "a about above after again all also am an and any are as at be because been before being below between both "
    "but by can could did do does doing down during each few for from further get gets got had has have having he "
    "her here hers him his how i if in into is it its itself just let like make many me more most much my no nor "
    "not now of off on once only or other our out over own per please same say says shall she should since so some "
    "such than that the their them then there these they this those through to too under until up upon us use very "
    "was we were what when where which while who whom whose why will with would you your yours i'm i've it's "
    "can't don't doesn't didn't won't isn't there's that's"
)
STOP = frozenset(_STOP.split())


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]  # noqa: RUF001 - as above


def stems_of(text: str) -> list[str]:
    """The words of a text without their endings."""
    return [stem(word) for word in words_of(text)]


def needle_of(stem: str) -> str:
    """What every word of a stem holds: `reply` stands for `replies` too."""
    return stem.removesuffix("y")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its ending: `refunds`, `refunded`, `refunding` and `refund` are one."""
    word = word.removesuffix("'s")
    if len(word) <= _SHORT:
        return word[:-1] if len(word) == _SHORT and word.endswith("s") and not word.endswith("ss") else word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT - 1:
            return _undoubled(word[: len(word) - len(ending)] + instead)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e")


def _undoubled(word: str) -> str:
    """`shipp` of `shipping` is `ship`; `cancell` is `cancel`."""
    last = word[-1:]
    if word[-2:] == last * 2 and last not in "aeiousz":
        word = word[:-1]
    return word.removesuffix("e")
