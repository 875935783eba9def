"""English prose as words with their part of speech, base form and grammatical head: a port, and spaCy behind it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from tallystick.errors import TallyError
from tallystick.providers.models.manifest import manifest
from tallystick.providers.models.store import ModelStore

MODEL = "en-core-web-sm"
INSTALL = f"pip install 'tallystick[parser]' and tally models fetch {MODEL}"
_BATCH = 64


class ParserMissingError(TallyError):
    """spaCy or its model is not installed; the message says how to install it."""

    code = "parser_missing"


class ParsedWord:
    """One word of a parsed text."""

    __slots__ = (
        "children",
        "end",
        "head",
        "index",
        "lemma",
        "lower",
        "pos",
        "relation",
        "sentence",
        "start",
        "tag",
        "text",
    )

    def __init__(self, index: int, text: str, start: int, lemma: str, pos: str, tag: str, relation: str) -> None:
        self.index, self.text, self.lower = index, text, text.lower()
        self.start, self.end = start, start + len(text)
        self.lemma, self.pos, self.tag, self.relation = lemma, pos, tag, relation
        self.head: ParsedWord = self
        """The word it depends on; the word itself at the root of a sentence."""
        self.children: list[ParsedWord] = []
        self.sentence = 0

    def ancestors(self) -> "Iterator[ParsedWord]":
        """The words it depends on, nearest first."""
        word = self
        while word.head is not word:
            word = word.head
            yield word

    def subtree(self) -> "Iterator[ParsedWord]":
        """The word and everything that depends on it."""
        yield self
        for child in self.children:
            yield from child.subtree()

    def child(self, *relations: str) -> "ParsedWord | None":
        """Its first dependent in one of these relations."""
        return next((one for one in self.children if one.relation in relations), None)


class ParsedText:
    """A text with its words and sentences."""

    def __init__(self, text: str, words: Sequence[ParsedWord], starts: Sequence[int]) -> None:
        self.text, self.words = text, words
        self._starts = [*starts, len(words)]

    @cached_property
    def sentences(self) -> list[Sequence[ParsedWord]]:
        """The words of each sentence."""
        return [self.words[a:b] for a, b in zip(self._starts, self._starts[1:], strict=False)]

    def sentence_text(self, number: int) -> str:
        """A sentence as it is written."""
        words = self.sentences[number]
        return self.text[words[0].start : words[-1].end].strip() if words else ""


class Parser(Protocol):
    """Analyses texts."""

    def parse(self, texts: Iterable[str]) -> Iterator[ParsedText]:
        """Yield each text, parsed, in order."""
        ...


class SpacyParser:
    """Satisfies `Parser` with spaCy's small English pipeline."""

    def __init__(self, folder: Path) -> None:
        try:
            import spacy  # noqa: PLC0415 - an extra, and slow to load
        except ImportError as error:
            raise ParserMissingError(f"The grammar needs spaCy: {INSTALL}.") from error
        try:
            self._pipeline: Any = spacy.load(folder, exclude=["ner", "senter"])
        except OSError as error:
            raise ParserMissingError(f"The grammar model {MODEL} is not there: {INSTALL}.") from error

    def parse(self, texts: Iterable[str]) -> Iterator[ParsedText]:
        """See `Parser`."""
        for doc in self._pipeline.pipe(texts, batch_size=_BATCH):
            words = [
                ParsedWord(token.i, token.text, token.idx, token.lemma_, token.pos_, token.tag_, token.dep_)
                for token in doc
            ]
            for token, word in zip(doc, words, strict=True):
                word.head = words[token.head.i]
                if word.head is not word:
                    word.head.children.append(word)
            starts = [sentence.start for sentence in doc.sents] if words else []
            for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(words)], strict=False)):
                for word in words[start:end]:
                    word.sentence = number
            yield ParsedText(doc.text, words, starts)


@cache
def open_parser(models: Path) -> Parser:
    """Return the parser whose model lies in the folder of model files.

    Raises:
        ParserMissingError: spaCy or the model is not installed.
    """
    store = ModelStore(models)
    return SpacyParser(store.path(manifest()[MODEL]))
