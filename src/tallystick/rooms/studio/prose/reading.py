"""A scene as paragraphs and sentences, each with the lines it stands on."""

import re
from collections.abc import Iterator

from tallystick.gate.reply.sources import Source
from tallystick.records import record
from tallystick.rooms.studio.book.entry import read_field
from tallystick.rooms.studio.prose.speech import Span, is_within, narration_of, speech_spans

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
    """What is measured of one file."""

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
        for start, end in _sentence_spans(text)
    )
    spoken = sum(len(words_of(text[start:end])) for start, end in speech)
    counted = sum(len(sentence.words) for sentence in sentences)
    kept = tuple(sentence for sentence in sentences if sentence.words)
    return Paragraph(
        line=line, text=text, speech=speech, sentences=kept, word_count=counted, spoken_count=min(spoken, counted)
    )


def _sentence_spans(text: str) -> list[Span]:
    from syntok import segmenter  # type: ignore[import-untyped] # noqa: PLC0415 - only prose needs it

    spans: list[Span] = []
    for paragraph in segmenter.analyze(text):
        for tokens in paragraph:
            start, end = tokens[0].offset, tokens[-1].offset + len(tokens[-1].value)
            if spans and _goes_on(text, spans[-1], start):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return spans


def _goes_on(text: str, before: Span, start: int) -> bool:
    """Whether what follows speech only says who spoke: `"Stop!" she cried.` is one sentence."""
    return text[before[1] - 1] in "\"”»'’" and text[start].islower()  # noqa: RUF001
