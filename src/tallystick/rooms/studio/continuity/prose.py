"""A scene's text made ready for reading by rule: paragraphs, sentences, and what of it is told rather than said.

`flat` and `told` have a character for each character of the text, so that every finding knows its place in the file.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.continuity.length_bounds import parts_of, tempered
from tallystick.rooms.studio.continuity.speech import Span, spoken_spans

HIDDEN = "¤"
"""Stands for each character of speech in `told`."""
LONGEST = 240
"""Characters of a quote that is shown with a finding."""
_LONG_LINE = 160
"""A text with many longer lines has a paragraph on each line; others are wrapped."""

_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s|(?:chapter|book|part|volume|letter|scene|act|prologue|epilogue|stave|canto|preface|contents)\b"
    r"[^\n]{0,80}\Z|[IVXLC]{1,7}\.?\s*\Z|\*\s*\*|[|>]|<!--)",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*\n")
_ENDS = re.compile(r"\n\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|\nEnd of (?:the )?Project Gutenberg")
_SAME_LENGTH = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201b", "'"), **dict.fromkeys("“”«»", '"'), "\u2013": "—", "―": "—",
    **dict.fromkeys("\n\t\r\u00a0_*" + HIDDEN, " "),
})  # fmt: skip
_LETTERS = re.compile(r"[a-zà-þ]+|#")
_FIGURES = re.compile(r"[0-9]+")
_BOUNDARY = re.compile(r"[.!?…]+[\"')\]]*¤*(?=\s+[\"'(\[—]*[A-ZÀ-Þ0-9¤])")
_ASKED = re.compile(
    r"\W*(?:Could|Was|Were|Did|Had|Is|Can|Would|Has|Does|Might|Should)\s[^;:]{3,80},\s+(?:\w+\s+){0,4}(?:asked|"
    r"wondered|inquired|demanded)\b"
)
"""`Could Mara be forty, the aunts asked each other`: a question without its mark."""
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Messrs|Dr|St|Ste|Rev|Hon|Capt|Col|Gen|Lt|Lieut|Sgt|Prof|Esq|Jr|Sr|No|Vol|Mme|Mlle|M|Mt|Fr|viz|"
    r"Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z])|\.[A-Za-z])\.\Z"
)


@record
class Sentence:
    """One sentence of the narration, with what is said in it hidden."""

    start: int
    end: int
    paragraph: int
    text: str
    """Of `told`."""
    is_question: bool


class Prose:
    """One file's prose."""

    def __init__(self, source: Source, *, order: int = 0, body_line: int = 1) -> None:
        self.source = source
        self.order = order
        """Its place in reading order."""
        self._first = body_line
        self._text = "\n".join(source.lines[body_line - 1 :])

    @property
    def path(self) -> str:
        """Where it is in the workspace."""
        return self.source.path

    @cached_property
    def paragraphs(self) -> list[Span]:
        """Where each paragraph of prose begins and ends; headings, tables and comments are none."""
        return list(_paragraphs(self._text))

    @cached_property
    def flat(self) -> str:
        """The text on one line, with plain marks."""
        return tempered(_doubled(self._text).translate(_SAME_LENGTH), HIDDEN)

    @cached_property
    def words(self) -> int:
        """How many there are."""
        return len(self.flat.split())

    @cached_property
    def told(self) -> str:
        """The same with all speech hidden; the mark that ends a speech stays, since sentences end there."""
        flat = self.flat
        pieces: list[str] = []
        at = 0
        for start, end in spoken_spans(_doubled(self._text), self.paragraphs):
            pieces += [flat[at:start], _hidden(flat[start:end])]
            at = end
        pieces.append(flat[at:])
        return "".join(pieces)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """In order, over all paragraphs."""
        found: list[Sentence] = []
        for number, (start, end) in enumerate(self.paragraphs):
            for first, last in _split(self.told, start, end):
                text = self.told[first:last]
                found.append(
                    Sentence(
                        start=first,
                        end=last,
                        paragraph=number,
                        text=text,
                        is_question=text.rstrip("\"')¤ ").endswith("?") or _ASKED.match(text) is not None,
                    )
                )
        return found

    @cached_property
    def _with_word(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for word in set(_LETTERS.findall(_FIGURES.sub("#", sentence.text.lower()))):
                index.setdefault(word, []).append(number)
        return index

    def with_words(self, words: Iterable[str]) -> list[int]:
        """The numbers of the sentences whose narration holds any of some words (in small letters; `#`: a figure)."""
        index = self._with_word
        return sorted({number for word in words for number in index.get(word, ())})

    def beside(self, number: int) -> range:
        """A sentence and those before and after it in its paragraph."""
        here = self.sentences[number].paragraph
        first = number - (number > 0 and self.sentences[number - 1].paragraph == here)
        last = number + (number + 1 < len(self.sentences) and self.sentences[number + 1].paragraph == here)
        return range(first, last + 1)

    def matches(self, pattern: re.Pattern[str], words: Iterable[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Where a pattern stands in the narration, tried only on sentences that hold one of its words."""
        for number in self.with_words(words):
            sentence = self.sentences[number]
            for found in pattern.finditer(self.told, sentence.start, sentence.end):
                yield number, found

    @cached_property
    def _sentence_starts(self) -> "array[int]":
        return array("L", [sentence.start for sentence in self.sentences])

    @cached_property
    def _line_starts(self) -> "array[int]":
        return array("L", [0, *(found.end() for found in re.finditer("\n", self._text))])

    def is_broken(self, first: int, second: int) -> bool:
        """Whether a heading or a rule stands between two sentences."""
        one, other = self.sentences[first].paragraph, self.sentences[second].paragraph
        return any(at in self._breaks for at in range(one + 1, other + 1))

    @cached_property
    def _breaks(self) -> frozenset[int]:
        """Paragraphs that something other than prose stands before."""
        pairs = zip(self.paragraphs, self.paragraphs[1:], strict=False)
        return frozenset(at for at, (one, other) in enumerate(pairs, 1) if self._text[one[1] : other[0]].strip())

    def sentence_at(self, offset: int) -> int | None:
        """The number of the sentence that an offset stands in."""
        place = bisect_right(self._sentence_starts, offset) - 1
        return place if place >= 0 and offset < self.sentences[place].end else None

    def line_at(self, offset: int) -> int:
        """The line of the file, from 1."""
        return bisect_right(self._line_starts, offset) + self._first - 1

    def quote(self, start: int, end: int) -> str:
        """What stands there, as it is, on one line."""
        return " ".join(self._text[start:end].split())

    def quote_of(self, number: int, start: int, end: int) -> str:
        """The sentence, or as much of it around a place as can be shown."""
        sentence = self.sentences[number]
        first, last = sentence.start, sentence.end
        if last - first > LONGEST:
            room = max(LONGEST - (end - start), 0) // 2
            first = self._word_start(max(first, start - room))
            last = self._word_end(min(last, end + room))
        return self.quote(first, last)

    def _word_start(self, at: int) -> int:
        while at > 0 and not self.flat[at - 1].isspace():
            at -= 1
        return at

    def _word_end(self, at: int) -> int:
        while at < len(self.flat) and not self.flat[at].isspace():
            at += 1
        return at


def words_in(proses: Sequence[Prose]) -> int:
    """How many words were looked at."""
    return sum(prose.words for prose in proses)


def _doubled(text: str) -> str:
    """Typewriters' double marks, as one mark and a space: the length stays."""
    return text.replace("``", "“ ").replace("''", " ”") if "''" in text or "``" in text else text


def _hidden(speech: str) -> str:
    stripped = speech.rstrip("\"' ")
    if stripped and stripped[-1] in ".!?…":
        at = len(stripped) - 1
        return HIDDEN * at + "." + HIDDEN * (len(speech) - at - 1)
    return HIDDEN * len(speech)


def _paragraphs(text: str) -> Iterator[Span]:
    first = begins.end() if (begins := _BEGINS.search(text)) else 0
    last = ends.start() if (ends := _ENDS.search(text, first)) else len(text)
    at = first
    pattern = re.compile(r"\n") if _has_long_lines(text) else _BLANK
    for gap in pattern.finditer(text, first, last):
        yield from _prose_in(text, at, gap.start())
        at = gap.end()
    yield from _prose_in(text, at, last)


def _prose_in(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if not piece.strip():
        return
    if _HEADING.match(piece):
        # A heading directly above its prose is a paragraph of its own.
        line_end = text.find("\n", start, end)
        if line_end >= 0 and piece.lstrip().startswith("#"):
            yield from _prose_in(text, line_end + 1, end)
        return
    if piece.upper() == piece and any(map(str.isalpha, piece)):
        return
    yield (start, end)


def _has_long_lines(text: str) -> bool:
    lines = [len(line) for line in text.split("\n") if line.strip()]
    return bool(lines) and sum(length > _LONG_LINE for length in lines) * 4 > len(lines)


def _split(told: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for found in _BOUNDARY.finditer(told, start, end):
        before = told[max(at, found.start() - 8) : found.start() + 1]
        if found.group().startswith(".") and _ABBREVIATED.search(before):
            continue
        yield from _trimmed(told, at, found.end())
        at = found.end()
    yield from _trimmed(told, at, end)


def _trimmed(told: str, start: int, end: int) -> Iterator[Span]:
    while start < end and told[start].isspace():
        start += 1
    while end > start and told[end - 1].isspace():
        end -= 1
    if start < end:
        yield from parts_of(told, start, end)
