"""Points and commas that end nothing: in abbreviations, numbers, times, dates and addresses.

They are put out of sight while a text is cut into sentences and clauses, one sign for one sign, so that every place in
the text stays where it was. What is taken from it gets them back.
"""

import re
from collections.abc import Callable

_SIGNS = ".,:;!?"
_HIDDEN = "".join(map(chr, range(0xE000, 0xE000 + len(_SIGNS))))
_HIDE = str.maketrans(_SIGNS, _HIDDEN)
_SHOW = str.maketrans(_HIDDEN, _SIGNS)
# What stands for a hidden sign in no text of ours must not turn into one.
_FOREIGN = str.maketrans(dict.fromkeys(_HIDDEN, "\ufffd"))
DOT = _HIDDEN[0]
"""A point that ends nothing."""

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
DATE = rf"(?:{_DAY}(?: of)? {_MONTH}\b|{_MONTH} {_DAY}\b)(?:[,{_HIDDEN[1]}]? \d{{4}}\b)?|\d{{4}}-\d\d-\d\d\b"
"""A day as it is written out, with its year or without."""
MONTH = _MONTH

_INNER = re.compile(
    r"(?:https?://|www\.)[^\s<>\"]*[^\s<>\".,:;!?)\]']"  # an address on the web
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # of a person
    r"|(?<![a-z0-9.-])[a-z0-9-]+(?:\.[a-z0-9-]+)+/[^\s<>\"]*[^\s<>\".,:;!?)\]']"
    r"|(?<=\d)[.,:](?=\d)"
    r"|(?<=[a-z0-9])\.(?=[a-z0-9])|(?<=[A-Z])\.(?=\w)|(?<=\d)\.(?=\w)"
    rf"|\b{_MONTH} {_DAY},(?= \d{{4}}\b)"
)
_TITLES = "Mr|Mrs|Ms|Mx|Dr|Prof|Rev|Fr|Sr|Sra|Gen|Col|Capt|Cpt|Lt|Sgt|Maj|Cmdr|Hon|Gov|Sen|St|Ste|Mt|Ft"
_SHORT = "Dept|Univ|Inst|Jr|Inc|Ltd|Co|Corp|Bros|Ave|Rd|Blvd|Sq|Bldg|Apt|Fig|Vol|vs|approx|ca|resp|incl"
_ABBREVIATED = re.compile(
    rf"(?:\b(?:(?P<title>{_TITLES})|{_SHORT}|[A-Z]|(?:[A-Za-z]{DOT}){{1,12}}[A-Za-z])|\bNo(?=\. \d))"
    r"\.(?= [\w$€£(\"'])(?P<on> (?P<next>\w*))"
)
_STARTERS = """
I My We Our He She It They You The This That These Those There Here His Her Their Your Its But And So Then Now In On
At Yes No When If Also Yesterday Today After Before What Who Where Why How Do Does Did Is Are Was Were Please A An
"""
_BEGIN = frozenset(_STARTERS.split())
_END = re.compile(r"[.!?\n]")


def hide(text: str, ends: Callable[[str, str], bool]) -> str:
    """The text with such signs out of sight, every sign in its place.

    Args:
        text: Any text.
        ends: Whether a sentence ends between two stretches of words, asked where a point could be either.
    """
    plain = _INNER.sub(lambda found: found.group().translate(_HIDE), text.translate(_FOREIGN))
    at = 0
    while (found := _ABBREVIATED.search(plain, at)) is not None:
        point = found.start("on") - 1
        at = point + 1
        if not _ends_here(plain, point, found, ends):
            plain = f"{plain[:point]}{DOT}{plain[at:]}"
    return plain


def shown(words: str) -> str:
    """Words with their signs again."""
    return words.translate(_SHOW)


def _ends_here(text: str, point: int, found: re.Match[str], ends: Callable[[str, str], bool]) -> bool:
    after = found["next"]
    if after in _BEGIN:
        return True
    if found["title"] or not after[:1].isupper():
        return False
    before = _END.split(text[:point])[-1].strip()
    return ends(before, _END.split(text[point + 1 :], maxsplit=1)[0].strip())
