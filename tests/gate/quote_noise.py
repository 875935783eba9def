"""True quotes with the noise that models make, and broken ones, from any prose.

Whether a broken quote is really broken is decided without the code under test: its words, read one after the other,
must not stand in the book.
"""

import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

_WORD = re.compile(r"[^\W_]+")
CYRILLIC = dict(zip("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ", strict=True))
ZERO_WIDTH = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202e")


@dataclass(frozen=True)
class Book:
    name: str
    text: str
    tokens: list[tuple[str, int]] = field(repr=False)
    """(what stands between white space, line)."""

    @classmethod
    def of(cls, name: str, text: str) -> "Book":
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return cls(name, text, [(token, number) for number, line in enumerate(lines, 1) for token in line.split()])

    @cached_property
    def word_run(self) -> str:
        return f" {' '.join(_WORD.findall(self.text))} "

    @cached_property
    def words(self) -> list[str]:
        return sorted({word for word in _WORD.findall(self.text) if len(word) > 3})

    def holds_words_of(self, quote: str) -> bool:
        """An independent look: the bare words, in order, whatever stands between them."""
        return f" {' '.join(_WORD.findall(quote))} " in self.word_run

    def window(self, dice: random.Random, low: int = 6, high: int = 40) -> tuple[list[str], int, int]:
        while True:
            start = dice.randrange(len(self.tokens) - low)
            part = self.tokens[start : start + dice.randint(low, high)]
            words = [token for token, _ in part]
            if sum(any(map(str.isalnum, word)) for word in words) >= low:
                return words, part[0][1], part[-1][1]


def curl(text: str) -> str:
    text = re.sub(r'(^|[\s(\[—-])"', r"\1“", text).replace('"', "”")
    return re.sub(r"(^|[\s(\[—“-])'", r"\1‘", text).replace("'", "’")


def straighten(text: str) -> str:
    return text.translate(str.maketrans("“”‘’", "\"\"''"))


def rewrap(text: str, dice: random.Random) -> str:
    width = dice.randint(20, 100)
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def emphasise(text: str, dice: random.Random) -> str:
    words = text.split(" ")
    plain = [at for at, word in enumerate(words) if word.isalpha()]
    if plain:
        at = dice.choice(plain)
        mark = dice.choice(["*", "**", "_", "__", "***"])
        words[at] = f"{mark}{words[at]}{mark}"
    return " ".join(words)


TRUE_NOISE: dict[str, Callable[[str, random.Random], str]] = {
    "as it is": lambda text, _: text,
    "rewrapped": rewrap,
    "CR LF": lambda text, dice: rewrap(text, dice).replace("\n", "\r\n"),
    "curly": lambda text, _: curl(text),
    "straight": lambda text, _: straighten(text),
    "inner marks single": lambda text, _: re.sub(r'(?<!\d)["“”]', "'", text),
    "em dash": lambda text, _: text.replace("--", "—"),
    "two hyphens": lambda text, _: text.replace("—", "--"),
    "spaced dash": lambda text, dice: re.sub("--|—", dice.choice([" — ", " – ", " - ", " -- "]), text),
    "emphasis dropped": lambda text, _: re.sub(r"(?<!\w)[*_]{1,3}(?=\w)|(?<=\w)[*_]{1,3}(?!\w)", "", text),
    "emphasis added": emphasise,
    "no-break spaces": lambda text, dice: text.replace(" ", dice.choice("\u00a0\u202f\u2009"), dice.randint(1, 3)),
    "ellipsis sign": lambda text, _: text.replace("...", "…"),
    "ellipsis dots": lambda text, _: text.replace("…", "..."),
    "decomposed": lambda text, _: unicodedata.normalize("NFD", text),
    "padded": lambda text, _: f"  {text}\n",
}


def noisy(text: str, dice: random.Random) -> tuple[str, str]:
    """A true quote with one or two kinds of noise, and their names."""
    kinds = dice.sample(list(TRUE_NOISE), dice.randint(1, 2))
    for kind in kinds:
        text = TRUE_NOISE[kind](text, dice)
    return text, " + ".join(kinds)


def swap(words: list[str], book: Book, _: Book, dice: random.Random) -> str:
    at = dice.randrange(len(words))
    return " ".join([*words[:at], dice.choice(book.words), *words[at + 1 :]])


def drop(words: list[str], *_: object) -> str:
    middle = len(words) // 2
    return " ".join(words[:middle] + words[middle + 1 :])


def double(words: list[str], *rest: object) -> str:
    middle = len(words) // 2
    return " ".join(words[: middle + 1] + words[middle:])


def move(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    at = dice.randrange(1, len(words))
    return " ".join(words[:at][:-1] + words[at:][:1] + words[:at][-1:] + words[at:][1:])


def join_halves(words: list[str], book: Book, _: Book, dice: random.Random) -> str:
    other, _, _ = book.window(dice)
    return " ".join(words[: len(words) // 2] + other[len(other) // 2 :])


def leave_out(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    middle = len(words) // 2
    return " ".join([*words[: middle - 1], dice.choice(["...", "…", "[...]", ". . ."]), *words[middle + 1 :]])


def invent_end(words: list[str], book: Book, _: Book, dice: random.Random) -> str:
    return " ".join([*words, "as", "everyone", "in", "the", dice.choice(book.words), "already", "knew."])


def other_book(_: list[str], __: Book, other: Book, dice: random.Random) -> str:
    return " ".join(other.window(dice)[0])


def turn_case(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    at = dice.choice([at for at, word in enumerate(words) if word.swapcase() != word])
    return " ".join([*words[:at], words[at].swapcase(), *words[at + 1 :]])


def lookalike(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    text = " ".join(words)
    places = [at for at, sign in enumerate(text) if sign in CYRILLIC]
    at = dice.choice(places)
    return text[:at] + CYRILLIC[text[at]] + text[at + 1 :]


def hide(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    text = " ".join(words)
    letters = [at for at, sign in enumerate(text) if sign.isalpha()]
    at = dice.choice(letters)
    return text[:at] + dice.choice(ZERO_WIDTH) + text[at:]


def cut_word(words: list[str], _: Book, __: Book, dice: random.Random) -> str:
    text = " ".join(words)
    first, last = _WORD.search(text), list(_WORD.finditer(text))[-1]
    assert first is not None
    return text[first.start() + 1 :] if dice.random() < 0.5 and len(first.group()) > 1 else text[: last.end() - 1]


BROKEN: dict[str, Callable[..., str]] = {
    "a word swapped": swap,
    "a word dropped": drop,
    "a word doubled": double,
    "a word moved": move,
    "two halves joined": join_halves,
    "words left out": leave_out,
    "an invented end": invent_end,
    "another book": other_book,
    "case changed": turn_case,
    "a lookalike letter": lookalike,
    "a hidden character": hide,
    "a word cut": cut_word,
}
SAME_WORDS = frozenset({"case changed", "a lookalike letter", "a hidden character", "words left out"})
"""Broken whatever the bare words say."""


def broken(kind: str, book: Book, other: Book, dice: random.Random) -> str:
    """A quote that does not stand in the book."""
    while True:
        words, _, _ = book.window(dice)
        quote = BROKEN[kind](words, book, other, dice)
        if kind in SAME_WORDS or not book.holds_words_of(quote):
            return quote
