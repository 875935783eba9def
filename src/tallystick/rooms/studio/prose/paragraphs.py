"""A scene as paragraphs and sentences with their lines, and which parts of a paragraph are direct speech.

Double quotation marks take precedence over single ones, because a single one may be an apostrophe. An unclosed mark
opens speech to the end of the paragraph, as when a speaker continues in the next. A paragraph that begins with a dash
is speech, as French and Irish writers set it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.outline_entries import read_field
from tallystick.text.sentences import sentence_spans
from tallystick.text.words import STOP_WORDS, fold_word

Span = tuple[int, int]
_DOUBLE = (("„", "“"), ("“", "”"), ("«", "»"), ("»", "«"))
_DASH = re.compile(r"\s*[—–―]\s*\w")  # noqa: RUF001
_STRAIGHT = re.compile(r'"')
_SINGLE = re.compile(r"(?<![\w'’])['‘](?=[\w…—])(?:[^'’\n]|\n|['’](?=\w))*['’](?!\w)")  # noqa: RUF001


def speech_spans(text: str) -> list[Span]:
    """The spoken parts, marks included, in order."""
    for opening, closing in _DOUBLE:
        if opening in text:
            return _pairs(text, opening, closing)
    if '"' in text:
        marks = [found.start() for found in _STRAIGHT.finditer(text)]
        ends = [*(at + 1 for at in marks[1::2]), len(text)]
        return list(zip(marks[::2], ends, strict=False))
    if _DASH.match(text):
        return [(0, len(text))]
    return [found.span() for found in _SINGLE.finditer(text)]


def is_within(spans: list[Span], at: int) -> bool:
    """Whether a place is spoken."""
    return any(start <= at < end for start, end in spans)


def narration_of(text: str, spans: list[Span]) -> str:
    """The text with speech replaced by spaces."""
    kept = list(text)
    for start, end in spans:
        kept[start:end] = ["\n" if sign == "\n" else " " for sign in kept[start:end]]
    return "".join(kept)


def _pairs(text: str, opening: str, closing: str) -> list[Span]:
    spans: list[Span] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + 1)
        stop = len(text) if end < 0 else end + 1
        spans.append((start, stop))
        start = text.find(opening, stop)
    return spans


MAX_WORDS = 60_000
"""Words of one file that are measured: half a novel, some seconds' work."""
_UNWRAPPED = 120
"""A file with a line longer than this has one paragraph a line."""
_TOP = 12
"""Lines at the beginning that may say something about the scene, as `POV: Mara` does."""
_NO_PROSE = re.compile(r"\s*(?:#{1,6}\s|\||!\[|(?:[-*_=#~]\s*){3,}\Z|<!--)")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001


@record
class Sentence:
    """One sentence."""

    line: int
    """The line of the file it begins on."""
    text: str
    words: tuple[str, ...]
    spoken: bool
    """It begins with speech."""


@record
class Paragraph:
    """One paragraph."""

    line: int
    text: str
    """As it stands, line breaks kept."""
    speech: list[Span]
    sentences: tuple[Sentence, ...]
    word_count: int
    spoken_count: int

    def line_at(self, offset: int) -> int:
        """The line of the file on which a character stands."""
        return self.line + self.text.count("\n", 0, offset)

    @property
    def narration(self) -> str:
        """The text with its speech blanked out."""
        return narration_of(self.text, self.speech)


@record
class Prose:
    """The analysed prose of one file."""

    source: Source
    paragraphs: tuple[Paragraph, ...]
    truncated: bool
    """Only the first words were measured."""

    @property
    def sentences(self) -> list[Sentence]:
        """All sentences in order."""
        return [sentence for paragraph in self.paragraphs for sentence in paragraph.sentences]

    @property
    def word_count(self) -> int:
        """Of all paragraphs."""
        return sum(paragraph.word_count for paragraph in self.paragraphs)


def read_prose(source: Source, body_line: int = 1, *, max_words: int = MAX_WORDS) -> Prose:
    """Read a file's prose.

    Args:
        source: The file.
        body_line: Where prose begins: after front matter.
        max_words: Where to stop, at the end of a paragraph.
    """
    made: list[Paragraph] = []
    words = 0
    for line, text in raw_paragraphs(source, body_line):
        if words >= max_words:
            return Prose(source=source, paragraphs=tuple(made), truncated=True)
        paragraph = _paragraph(line, text)
        words += paragraph.word_count
        if paragraph.word_count:
            made.append(paragraph)
    return Prose(source=source, paragraphs=tuple(made), truncated=False)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, as written."""
    return tuple(_WORD.findall(text))


def raw_paragraphs(source: Source, body_line: int = 1) -> Iterator[tuple[int, str]]:
    """(first line, text) of each paragraph; headings, rules and tables are none."""
    lines = source.lines
    top = body_line + _TOP
    unwrapped = any(len(line) > _UNWRAPPED for line in lines[body_line - 1 :])
    held: list[str] = []
    for number, line in enumerate(lines[body_line - 1 :], start=body_line):
        prose = bool(line.strip()) and not _NO_PROSE.match(line) and not (number < top and read_field(line))
        if held and (not prose or unwrapped):
            yield number - len(held), "\n".join(held)
            held = []
        if prose:
            held.append(line)
    if held:
        yield len(lines) + 1 - len(held), "\n".join(held)


def _paragraph(line: int, text: str) -> Paragraph:
    speech = speech_spans(text)
    sentences = tuple(
        Sentence(
            line=line + text.count("\n", 0, start),
            text=" ".join(text[start:end].split()),
            words=words_of(text[start:end]),
            spoken=is_within(speech, start),
        )
        for start, end in sentence_spans(text)
    )
    spoken = sum(len(words_of(text[start:end])) for start, end in speech)
    counted = sum(len(sentence.words) for sentence in sentences)
    kept = tuple(sentence for sentence in sentences if sentence.words)
    return Paragraph(
        line=line, text=text, speech=speech, sentences=kept, word_count=counted, spoken_count=min(spoken, counted)
    )


WORD_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_name("word_lists.toml").read_text(encoding="utf-8"))
NARRATIVE_WORDS = frozenset(WORD_LISTS["narrative"].split())
"""Words of nearly every scene besides the function words."""
COMMON_WORDS = STOP_WORDS | NARRATIVE_WORDS
"""Words whose repetition says nothing about a scene."""


def plain_form(word: str) -> str:
    """A word as it is counted."""
    return fold_word(word).removesuffix("'s")


def named_words(names: Iterable[str]) -> frozenset[str]:
    """The words of names, which come again because their bearers do."""
    return frozenset(plain_form(word) for name in names for word in name.split())
