"""Unicode folding: remove differences between spellings of the same text.

Each function removes one kind of difference; callers combine the ones they need:

    unify_line_ends   CR LF and CR become LF
    compose           canonical equivalents become one (NFC), lookalikes stay apart
    straighten        typographic quote marks become straight, dashes become the en dash, … becomes ...
    squeeze           every run of white space becomes one space
    fold_case         upper and lower case become one
    without_accents   é becomes e
    comparable        compatibility forms, invisible characters and case are removed, for comparing names and terms
"""

import re
import unicodedata

DOUBLE_QUOTES = "“”„‟″«»"
SINGLE_QUOTES = "‘’‚‛′‹›`´"  # noqa: RUF001 - these are the marks meant
DASHES = "‒–—―−⸺⸻﹘﹣－"  # noqa: RUF001 - these are the dashes meant

SPELLINGS = {
    **dict.fromkeys(DOUBLE_QUOTES, '"'),
    **dict.fromkeys(SINGLE_QUOTES, "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys(DASHES, "–"),  # noqa: RUF001
    "…": "...",
}
"""Variants of the same character. Hyphens and dashes stay distinct: a hyphen joins a compound, a dash separates parts
of a sentence."""
LIGATURES = {"\u00ad": "", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
"""Characters added by typesetting: soft hyphens and joined letters."""
_LOOKALIKES = re.compile("([\u037e\u0387\u1fef\u2126\u212a\u212b])")
"""Characters that NFC would replace by the `;`, `·`, backtick, omega, K or Å that they resemble."""
_APOSTROPHES = str.maketrans(dict.fromkeys("‘’ʼ", "'"))  # noqa: RUF001

_UNSPACED = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
"""Scripts without spaces between words: Thai and Lao, Myanmar, Khmer, Chinese and Japanese."""
FIRST_UNSPACED = _UNSPACED[0][0]
UNSPACED_CLASS = "".join(f"{low}-{high}" for low, high in _UNSPACED)
"""The same ranges, for a regex character class."""


def is_unspaced(sign: str) -> bool:
    """Return whether a character belongs to a script without spaces between words."""
    return sign >= FIRST_UNSPACED and any(low <= sign <= high for low, high in _UNSPACED)


def unify_line_ends(text: str) -> str:
    """Return the text with LF as its only line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def compose(text: str) -> str:
    """Return the text in NFC, except for the few characters that NFC would replace by one they only resemble."""
    if text.isascii():
        return text
    if _LOOKALIKES.search(text) is None:
        return unicodedata.normalize("NFC", text)
    # `split` returns the lookalikes at the odd indexes.
    parts = _LOOKALIKES.split(text)
    return "".join(part if at % 2 else unicodedata.normalize("NFC", part) for at, part in enumerate(parts))


def straighten(text: str, *, ligatures: bool = True) -> str:
    """Return the text with one spelling for each quote mark, hyphen, dash and ellipsis.

    Args:
        text: The text.
        ligatures: Whether soft hyphens are removed and joined letters separated, too.
    """
    if text.isascii():
        return text.replace("`", "'")
    # A text contains few of these, so `replace` is many times faster than `translate`.
    for sign, spelling in (LIGATURES | SPELLINGS).items() if ligatures else SPELLINGS.items():
        text = text.replace(sign, spelling)
    return text


def straighten_apostrophes(text: str) -> str:
    """Return the text with `'` for every kind of apostrophe."""
    return text if text.isascii() else text.translate(_APOSTROPHES)


def squeeze(text: str) -> str:
    """Return the text on one line, with single spaces and none at its ends."""
    return " ".join(text.split())


def fold_case(text: str) -> str:
    """Return the case-folded text."""
    return text.lower() if text.isascii() else text.casefold()


def without_accents(text: str) -> str:
    """Return the text without accents and other marks on its letters."""
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def comparable(text: str) -> str:
    """Return the text without case, compatibility forms (NFKC) and invisible format characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in folded if sign.isascii() or unicodedata.category(sign) != "Cf").casefold()
