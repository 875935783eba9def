"""Words of a text as a search compares them: small letters, without endings, irregular forms under one head.

The endings fall by Porter's rules (An algorithm for suffix stripping, 1980). They are for English; words of other
languages pass nearly unchanged, and scripts without spaces are cut into pairs of characters.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tallystick.gate.quotes import is_unspaced

MAX_WORD = 48
"""Longer runs are keys and addresses, not words; they are cut so that an index stays small."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001 - both kinds of apostrophe stand in texts
_TAIL = re.compile(r"['’](?:s|t|re|ve|ll|d|m)$")  # noqa: RUF001
_SHORTEST = 3
"""Words below this length have no ending to lose."""


def stems(text: str) -> Iterator[str]:
    """Every word of a text, in order."""
    words = _WORD.findall(text.lower())
    return map(stem, words) if text.isascii() else _stems_of(words)


def _stems_of(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word.isascii():
            yield stem(word)
        else:
            yield from _spelt(word)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word in small letters without its ending."""
    word = _TAIL.sub("", word)[:MAX_WORD]
    word = _IRREGULAR.get(word, word)
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    for step in (_plurals, _past, _y_to_i, _double_suffixes, _suffixes, _last_suffixes, _final_e):
        word = step(word)
    return word


def _spelt(word: str) -> Iterator[str]:
    """Words with letters beyond ASCII: pairs of characters where a script knows no spaces, else the word."""
    if not any(map(is_unspaced, word)):
        yield stem(word)
    elif len(word) == 1:
        yield word
    else:
        yield from (word[at : at + 2] for at in range(len(word) - 1))


# -- Porter's steps ------------------------------------------------------------------------------------------------

_VOWEL = "aeiou"


def _shape(word: str) -> str:
    """The word in v and c; a y after a consonant counts as a vowel."""
    shape = ""
    for at, letter in enumerate(word):
        vowel = letter in _VOWEL or (letter == "y" and at > 0 and shape[at - 1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Ends consonant, vowel, consonant (not w, x, y): such a word has lost an e."""
    return len(word) >= _SHORTEST and _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plurals(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and "v" in _shape(rest):
            return _mended(rest)
    return word


def _mended(word: str) -> str:
    """What is left after -ed or -ing, with the e that was lost or without the letter that was doubled."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in _VOWEL + "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


def _double_suffixes(word: str) -> str:
    return _replaced(word, _STEP_2)


def _suffixes(word: str) -> str:
    return _replaced(word, _STEP_3)


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in rules:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if _measure(rest) > 0 else word
    return word


def _last_suffixes(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            # -sion and -tion lose only their -ion.
            rest = word[:-3] if ending in {"sion", "tion"} else word[: -len(ending)]
            return rest if _measure(rest) > 1 else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


# -- irregular forms -----------------------------------------------------------------------------------------------

_FORMS = """
be am is are was were been being; have has had having; do does did done doing; go goes went gone; get got gotten;
make made; take took taken; come came; see saw seen; know knew known; give gave given; find found; think thought;
tell told; become became; leave left; feel felt; bring brought; begin began begun; keep kept; hold held;
write wrote written; stand stood; hear heard; mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken;
lead led; grow grew grown; lose lost; fall fell fallen; send sent; build built; understand understood; draw drew drawn;
break broke broken; spend spent; rise rose risen; drive drove driven; buy bought; wear wore worn; choose chose chosen;
teach taught; catch caught; eat ate eaten; win won; sing sang sung; sell sold; fly flew flown; ride rode ridden;
sleep slept; swim swam swum; fight fought; throw threw thrown; drink drank drunk; forget forgot forgotten;
wake woke woken; shoot shot; seek sought; hide hid hidden; shake shook shaken; steal stole stolen; dig dug;
say said; hang hung; stick stuck; sweep swept; deal dealt; dream dreamt; learn learnt; bake baked; knit knitted;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; wife wives;
knife knives; half halves; mom mum mother mommy; dad father daddy; kid kids;
"""
_IRREGULAR = {
    form: words[0] for line in _FORMS.replace("\n", " ").split(";") if (words := line.split()) for form in words[1:]
}
