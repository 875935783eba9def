"""Finds whether a quote occurs in a text, and on which lines.

Text and quote are folded (normalized) in the same way and compared by exact substring search; there is no fuzzy
matching.

Folding removes differences that models and editors introduce without changing the meaning:

- white space: any run, including line breaks and no-break spaces, becomes one space;
- quote marks: all become straight, and double become single, because quoting a text that contains quotes swaps the two
  kinds (not after a digit: 6' is not 6");
- dashes: all kinds, single or in runs, with or without spaces around them, become one hyphen;
- ellipses: `…`, `...` and `. . .` become `...`, with or without spaces around them;
- markdown emphasis: runs of `*` and `_` at the edge of a word are removed (inside a word, or alone, they are text);
- Unicode: canonical equivalents are unified (NFC); soft hyphens *in the text* are removed and ligatures expanded (a
  quote that contains one itself is matched literally, since it must have been copied from the text).

Never folded: case, words, other punctuation, zero-width characters, lookalike letters (the few characters that NFC
would replace by a letter or mark that they only resemble, such as U+212A, the Kelvin sign, are excluded from NFC).

A quote must start and end at word boundaries: not inside a word, at the hyphen of a compound, or inside a number.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tallystick.text.folding import (
    FIRST_UNSPACED,
    LIGATURES,
    UNSPACED_CLASS,
    compose,
    is_unspaced,
    straighten,
    unify_line_ends,
)

__all__ = [
    "INDEXED_FROM",
    "UNSPACED_CLASS",
    "Folded",
    "Match",
    "find_quote",
    "fold",
    "fold_text",
    "is_unspaced",
    "occurrences",
    "split_lines",
    "word_count",
]

INDEXED_FROM = 16_384
"""Characters; below this length, searching the text is faster than building a word index."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Location of a quote in a text."""

    start: int
    """Offset in the folded text."""
    end: int
    first_line: int
    """Line number in the original text, from 1."""
    last_line: int


@dataclass(frozen=True, kw_only=True)
class Folded:
    """A text folded for search, with a mapping back to its original lines."""

    raw: str
    text: str
    starts: "array[int]"
    """Offset in `text` at which each non-blank line begins."""
    numbers: "array[int]"
    """Number of each of these lines in `raw`, from 1."""
    hyphens: frozenset[int]
    """Offsets of hyphens inside compounds; all other `-` in `text` are dashes."""

    def line_at(self, offset: int) -> int:
        """Return the line number in `raw` for an offset in `text`."""
        place = bisect_right(self.starts, offset) - 1
        return self.numbers[max(place, 0)] if self.numbers else 1

    @cached_property
    def words(self) -> "dict[str, array[int]]":
        """Index of each word → its start offsets; makes a miss as cheap as a hit in a book-length text."""
        index: dict[str, array[int]] = {}
        for found in _WORD.finditer(self.text):
            index.setdefault(found.group(), array("I")).append(found.start())
        return index

    @cached_property
    def literal(self) -> "Folded":
        """The same text with soft hyphens and ligatures kept, for quotes that contain them."""
        return fold_text(self.raw, literal=True)


def find_quote(quote: str, source: Folded) -> Match | None:
    """Return the first match of the quote, or None."""
    return next(occurrences(quote, source), None)


def occurrences(quote: str, source: Folded) -> Iterator[Match]:
    """Yield every match of the quote at word boundaries, in order."""
    literal = not _PIECES_OF_TYPE.isdisjoint(quote)
    if literal:
        source = source.literal
    wanted = _fold_quote(quote, literal=literal).text
    if not any(map(str.isalnum, wanted)):
        return
    for start in _places(wanted, source):
        end = start + len(wanted)
        if _is_edge(source, start) and _is_edge(source, end):
            yield Match(
                start=start, end=end, first_line=source.line_at(start), last_line=source.line_at(max(start, end - 1))
            )


def word_count(quote: str) -> int:
    """Count the words of a quote.

    A hyphenated compound is one word; in scripts without spaces, every two characters count as one word.
    """
    folded = _fold_quote(quote)
    text = folded.text
    if "-" in text:
        text = "".join(" " if sign == "-" and at not in folded.hyphens else sign for at, sign in enumerate(text))
    words = text.replace("...", " ").split()
    if not text or max(text) < FIRST_UNSPACED:
        return sum(word.isalnum() or any(map(str.isalnum, word)) for word in words)
    unspaced = [sum(map(is_unspaced, word)) for word in words]
    return sum((count + 1) // 2 or any(map(str.isalnum, word)) for count, word in zip(unspaced, words, strict=True))


def fold(text: str) -> str:
    """Return the folded text; a text whose `fold` does not contain the quote's `fold` does not contain the quote."""
    return _fold_quote(text).text


def fold_text(text: str, *, literal: bool = False) -> Folded:
    """Fold a text and keep the mapping to its lines; `literal` keeps soft hyphens and ligatures."""
    if _NOTHING_TO_FOLD.fullmatch(text):
        return Folded(raw=text, text=text, starts=_AT_THE_START, numbers=_ONE_LINE, hyphens=frozenset())
    plain = _one_spelling(text, literal=literal)
    if "*" in plain or "_" in plain:
        plain = _EMPHASIS.sub(_drop_emphasis, plain)
    kept: list[str] = []
    numbers = array("I")
    for number, line in enumerate(plain.split("\n"), start=1):
        if words := line.split():
            kept.append(" ".join(words))
            numbers.append(number)
    return _assemble(text, _join_lines("\n".join(kept)), numbers)


def _fold_quote(quote: str, *, literal: bool = False) -> Folded:
    """Fold a quote; short ones are cached, since one check folds the same quote several times."""
    return _fold_short(quote, literal=literal) if len(quote) <= _SHORT else fold_text(quote, literal=literal)


_SHORT = 2_000
_fold_short = lru_cache(maxsize=256)(fold_text)


def split_lines(text: str) -> list[str]:
    """Split a text into the lines that line numbers count: only LF, CR LF and CR end a line."""
    return unify_line_ends(text).split("\n")


_PIECES_OF_TYPE = frozenset(LIGATURES)
_WORD = re.compile(rf"[^\W_{UNSPACED_CLASS}]+")
_NOTHING_TO_FOLD = re.compile(r"(?:[!#-)+,/-^a-~]++\.?+)++(?: (?:[!#-)+,/-^a-~]++\.?+)++)*+")
_AT_THE_START, _ONE_LINE = array("I", [0]), array("I", [1])
_EMPHASIS = re.compile(r"[*_]+")
_DOUBLE_MARK = re.compile(r'(?<![0-9])"')
# Every pattern below fails within a few characters, so no input makes it slow. They run after white space has been
# reduced to single characters: a space, or a line break kept as a line marker.
_HYPHEN = re.compile(r"-(?<=[^\W_]-)(?=\n?[^\W_])")
_DASH = re.compile(r"[ \n]?[-–](?:[ \n]?[-–])*[ \n]?")  # noqa: RUF001
_ELLIPSIS = re.compile(r"[ \n]?\.(?:[ \n]?\.){2,}[ \n]?")
_INNER_HYPHEN = "\u2010"


def _one_spelling(text: str, *, literal: bool) -> str:
    plain = straighten(compose(unify_line_ends(text)), ligatures=not literal)
    return _DOUBLE_MARK.sub("'", plain) if '"' in plain else plain


def _drop_emphasis(run: re.Match[str]) -> str:
    start, end = run.span()
    before = run.string[start - 1] if start else " "
    after = run.string[end] if end < len(run.string) else " "
    inside = before.isalnum() and after.isalnum()
    alone = before.isspace() and after.isspace()
    return run.group() if inside or alone else ""


def _join_lines(text: str) -> str:
    """Reduce each dash and ellipsis to one form; line breaks inside the match are kept next to it as line markers."""
    if "-" in text or "–" in text:  # noqa: RUF001
        text = _DASH.sub(lambda found: _with_markers("-", found.group()), _HYPHEN.sub(_INNER_HYPHEN, text))
    if ".." in text or ". ." in text or ".\n." in text:
        text = _ELLIPSIS.sub(lambda found: _with_markers("...", found.group()), text)
    return text


def _with_markers(sign: str, found: str) -> str:
    breaks = found.count("\n")
    return f"\n{sign}" + "\n" * (breaks - 1) if found[0] == "\n" else sign + "\n" * breaks


def _assemble(raw: str, marked: str, numbers: "array[int]") -> Folded:
    """Replace line markers by spaces (by nothing next to a dash or ellipsis) and note where each line begins."""
    pieces: list[str] = []
    starts = array("I")
    length = 0
    glued = True
    for piece in marked.split("\n") if numbers else ():
        if piece and not glued and not piece.startswith(("-", "...")):
            pieces.append(" ")
            length += 1
        starts.append(length)
        if piece:
            pieces.append(piece)
            length += len(piece)
            glued = piece.endswith(("-", "...", _INNER_HYPHEN))
    text = "".join(pieces)
    hyphens = frozenset(found.start() for found in re.finditer(_INNER_HYPHEN, text))
    return Folded(raw=raw, text=text.replace(_INNER_HYPHEN, "-"), starts=starts, numbers=numbers, hyphens=hyphens)


def _places(wanted: str, source: Folded) -> Iterator[int]:
    """Yield the offsets of a folded quote; word boundaries are not checked here."""
    words = list(_WORD.finditer(wanted))
    if len(source.text) < INDEXED_FROM or not words:
        start = source.text.find(wanted)
        while start >= 0:
            yield start
            start = source.text.find(wanted, start + 1)
        return
    # A quote consists of whole words, so it can only occur where its rarest word does. (Scripts without spaces are not
    # indexed as words: a quote may begin or end anywhere in them, also directly next to a word of another script.)
    index = source.words
    rarest = min(words, key=lambda found: len(index.get(found.group(), ())))
    for place in index.get(rarest.group(), ()):
        start = place - rarest.start()
        if start >= 0 and source.text.startswith(wanted, start):
            yield start


def _is_edge(source: Folded, at: int) -> bool:
    """Whether a quote may start or end between the characters `at - 1` and `at`."""
    text = source.text
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if at - 1 in source.hyphens or at in source.hyphens:
        return False
    if _is_wordish(left) and _is_wordish(right):
        return is_unspaced(left) or is_unspaced(right)
    if right in "'.,:":
        return not _joins(left, right, text[at + 1 : at + 2])
    if left in "'.,:":
        return not _joins(text[at - 2 : at - 1], left, right)
    return True


def _joins(left: str, sign: str, right: str) -> bool:
    """Whether the sign is an apostrophe inside a word, or a point, comma or colon inside a number."""
    if sign == "'":
        return left.isalnum() and right.isalnum()
    return left.isdigit() and right.isdigit()


def _is_wordish(sign: str) -> bool:
    # Marks and format characters (including zero-width ones) belong to the adjacent word.
    return sign.isalnum() or sign == "_" or (not sign.isascii() and unicodedata.category(sign) in {"Mn", "Mc", "Cf"})
