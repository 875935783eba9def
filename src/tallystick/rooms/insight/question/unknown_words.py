"""Words that neither the data nor the grammar know: those that ask for nothing are told from those that may restrict.

A question with a word taken out is compared with the whole question, as vectors of a sentence model. Where the two
mean the same, the word asks for nothing (*overall*, *brought*); it is left out, and the answer says so. Names, numbers,
comparatives and nouns of weight are never left out.
"""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from tallystick.errors import ToolError
from tallystick.providers.embeddings.minilm import MODEL
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.reading.parser import ParsedText, ParsedWord, Parser, ParserMissingError, open_parser
from tallystick.records import record
from tallystick.text.words import Word

MOST_CHANGE = {"VERB": 0.08, "AUX": 0.08, "ADV": 0.06, "NOUN": 0.05, "ADJ": 0.04}
"""Part of speech → how far the meaning of a question may move when such a word is taken out of it (1 - cosine)."""
FREE = frozenset({"INTJ", "PRON", "DET", "PART", "CCONJ", "PUNCT", "SYM", "X", "SPACE"})
"""Function words; those that negate are in the grammar, and a preposition may (*outside*)."""
_EVENT = "tickets that were {} in March"
_HANDLED = ("created", "opened", "submitted", "received", "handled", "written")
LEAST_JOINING = 0.89
"""Cosine of two such phrases from which a participle only joins tickets to what else is said of them."""
_PARTICIPLES = frozenset({"VBN", "VBD"})
_HELD = 8
_NEVER = 2.0
_COMPARATIVES = frozenset({"JJR", "JJS", "RBR", "RBS"})


class Vectors(Protocol):
    """A sentence model."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Return unit vectors."""
        ...


LEAST_LIKE = {"NOUN": 0.72, "VERB": 0.85}
"""Part of speech → the cosine from which two words name one thing (*woman*, *Female*; *bought*, *purchased*)."""


@record
class WordSense:
    """Decides by parse and by vectors."""

    parser: Parser
    vectors: Vectors
    held: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False, compare=False)
    """Vectors of the words of the datasets that were asked about."""
    last: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The question that was parsed last, and its words."""

    def idle(self, text: str, unknown: Sequence[Word], columns: frozenset[int], rows: frozenset[int]) -> frozenset[int]:
        """See `Sense`."""
        parsed = self._parsed(text)
        at = {word.start: word for word in parsed.words}
        found = {one.start for one in unknown if one.start in at and _is_free(at[one.start], columns)}
        found -= {one.start for one in unknown if not one.folded.isalpha()}
        weighed = [
            one for one in unknown
            if one.start in at and one.folded.isalpha()
            and at[one.start].pos in MOST_CHANGE and at[one.start].tag not in _COMPARATIVES
            and not _is_asked(at[one.start]) and not _selects(at[one.start], rows) and self._only_joins(at[one.start])
        ]  # fmt: skip
        if weighed:
            without = [f"{text[: one.start]}{text[one.end :]}" for one in weighed]
            vectors = self.vectors.embed([text, *without])
            for one, vector in zip(weighed, vectors[1:], strict=True):
                if 1.0 - float(vectors[0] @ vector) <= MOST_CHANGE[at[one.start].pos]:
                    found.add(one.start)
        return frozenset(found)

    def _only_joins(self, word: ParsedWord) -> bool:
        """Whether a participle only says that tickets were made or handled: *raised*, and not *escalated*."""
        if word.tag not in _PARTICIPLES:
            return True
        said = self.vectors.embed([_EVENT.format(word.lower)])[0]
        near = sorted(float(said @ one) for one in self._vectors_of(tuple(_EVENT.format(one) for one in _HANDLED)))
        return sum(near[-2:]) / 2 >= LEAST_JOINING

    def alike(self, text: str, word: Word, known: Sequence[str]) -> str | None:
        """See `Sense`; opposites are near each other, too: verbs must be nearer than nouns, and no others count."""
        parsed = next((one for one in self._parsed(text).words if one.start == word.start), None)
        least = LEAST_LIKE.get(parsed.pos if parsed is not None else "", _NEVER)
        said, names = self.vectors.embed([word.folded])[0], self._vectors_of(tuple(known))
        likeness, name = max(
            ((float(said @ each), name) for name, each in zip(known, names, strict=True)), default=(0, "")
        )
        return name if likeness >= least else None

    def _parsed(self, text: str) -> ParsedText:
        if self.last[:1] != [text]:
            self.last[:] = [text, next(iter(self.parser.parse([text])))]
        found: ParsedText = self.last[1]
        return found

    def _vectors_of(self, known: tuple[str, ...]) -> Any:
        if known not in self.held:
            while len(self.held) >= _HELD:
                del self.held[next(iter(self.held))]
            self.held[known] = self.vectors.embed(known)
        return self.held[known]


def _is_free(word: ParsedWord, columns: frozenset[int]) -> bool:
    """A function word, or the first part of a column's name: `contact channel`."""
    part_of_name = word.pos == "NOUN" and word.relation == "compound" and word.head.start in columns
    return word.pos in FREE or part_of_name


def _selects(word: ParsedWord, rows: frozenset[int]) -> bool:
    """`duplicate tickets`: what stands before the word for the tickets says which."""
    return word.relation in {"amod", "compound", "nmod"} and word.head.start in rows


def _is_asked(word: ParsedWord) -> bool:
    """`what did it cost`: the verb is all that is asked for."""
    return word.pos == "VERB" and any(one.tag == "WP" and one.relation in {"dobj", "attr"} for one in word.children)


def open_sense(models: Path, embeddings: Embeddings) -> WordSense | None:
    """The parser and the sentence model of this machine; None where one of them is missing."""
    try:
        parser = open_parser(models)
        vectors = embeddings.embedder(model_name=MODEL)
    except (ParserMissingError, ToolError):
        return None
    return WordSense(parser=parser, vectors=vectors)
