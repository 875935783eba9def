"""Letters as they are compared: the same on every Python, whatever edition of Unicode it knows.

Ids are made of names, and a log that one Python wrote must be the same memory on the next. A newer edition gives case
to letters that an older one does not know, and new ways to put letters together. So letters are put together by the
edition that every Python has beside its own (`ucd_3_2_0`), and case is taken from those that had it when this was
written; of these no edition changes it.
"""

import re
from typing import Final
from unicodedata import ucd_3_2_0 as fixed

_CASED: Final = (
    "0041-052E 0531-0556 0587-0587 10A0-10CD 13F8-13FD 1C80-1C88 1C90-1CBF 1E00-1FFC 2126-2183 24B6-24CF 2C00-2CF2 "
    "A640-A69A A722-A7CA A7D0-A7D0 A7D6-A7D8 A7F5-A7F5 AB70-ABBF FB00-FB17 FF21-FF3A 10400-10427 104B0-104D3 "
    "10570-10595 10C80-10CB2 118A0-118BF 16E40-16E5F 1E900-1E921"
)
"""Where letters with case are (Unicode 14)."""
_UNSEEN: Final = (
    "00AD-00AD 034F-034F 061C-061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164-3164 FE00-FE0F "
    "FEFF-FEFF FFA0-FFA0 FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
"""What takes no room on a page."""
_SHAPES = {
    ord(sign): letter
    for letter, signs in {
        "a": "\u0430\u03b1", "b": "\u0432", "c": "\u0441", "d": "\u0501",
        "e": "\u0435", "g": "\u0261", "h": "\u043d\u04bb", "i": "\u0456\u0131\u03b9",
        "j": "\u0458", "k": "\u03ba\u043a", "m": "\u043c",
        "n": "\u0578", "o": "\u043e\u03bf", "p": "\u0440\u03c1", "q": "\u051b",
        "r": "\u0433", "s": "\u0455", "t": "\u0442\u03c4", "u": "\u057d",
        "v": "\u03bd", "x": "\u0445", "y": "\u0443",
    }.items()
    for sign in signs
}  # fmt: skip
"""Letters of other scripts that look like ours: a list of the common ones."""


def _any_of(ranges: str) -> re.Pattern[str]:
    ends = (one.split("-") for one in ranges.split())
    return re.compile("[" + "".join(f"{chr(int(low, 16))}-{chr(int(high, 16))}" for low, high in ends) + "]+")


_cased, _unseen = _any_of(_CASED), _any_of(_UNSEEN)


def composed(text: str) -> str:
    """Each letter in one piece, where it has one (NFC)."""
    return text if text.isascii() else fixed.normalize("NFC", text)


def folded(text: str) -> str:
    """Without regard to case."""
    return text.lower() if text.isascii() else _cased.sub(lambda found: found[0].casefold(), text)


class _Looks(dict[int, str]):
    """Sign → how it looks: letters without case, accents and the script they are from; a space for all that is none."""

    def __missing__(self, code: int) -> str:
        parts = fixed.normalize("NFKD", folded(chr(code)))
        self[code] = look = "".join(map(_look, parts)) if _unseen.match(chr(code)) is None else ""
        return look


def _look(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isalnum() else " "
    kind = fixed.category(sign)
    if kind == "Mn":
        return ""
    # What that edition does not know is taken as it stands.
    return _SHAPES.get(ord(sign), sign) if kind[0] in "LN" or kind in {"Mc", "Cn", "Co", "Cs"} else " "


_looks = _Looks()


def looks_like(text: str) -> str:
    """How a text looks to who reads it: the words, whatever stands between them and whatever does not show."""
    return " ".join(text.translate(_looks).split())
