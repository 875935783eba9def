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
from tallystick.reading.parser import ParsedWord, Parser, ParserMissingError, open_parser
from tallystick.records import record
from tallystick.text.words import Word

MOST_CHANGE = {"VERB": 0.08, "AUX": 0.08, "ADV": 0.06, "NOUN": 0.05, "ADJ": 0.04}
"""Part of speech → how far the meaning of a question may move when such a word is taken out of it (1 - cosine)."""
FREE = frozenset({"INTJ", "PRON", "DET", "PART", "CCONJ", "PUNCT", "SYM", "X", "SPACE"})
"""Function words; those that negate are in the grammar, and a preposition may (*outside*)."""
_COMPARATIVES = frozenset({"JJR", "JJS", "RBR", "RBS"})


class Vectors(Protocol):
    """A sentence model."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Return unit vectors."""
        ...


LEAST_LIKE = 0.72
"""Cosine from which two words name one thing (*woman*, *Female*)."""


@record
class WordSense:
    """Decides by parse and by vectors."""

    parser: Parser
    vectors: Vectors
    held: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False, compare=False)
    """Vectors of the words of the datasets that were asked about."""

    def idle(self, text: str, unknown: Sequence[Word], columns: frozenset[int]) -> frozenset[int]:
        """See `Sense`."""
        parsed = next(iter(self.parser.parse([text])))
        at = {word.start: word for word in parsed.words}
        found = {one.start for one in unknown if one.start in at and _is_free(at[one.start], columns)}
        found -= {one.start for one in unknown if not one.folded.isalpha()}
        weighed = [
            one for one in unknown
            if one.start in at and one.folded.isalpha()
            and at[one.start].pos in MOST_CHANGE and at[one.start].tag not in _COMPARATIVES
            and not _is_asked(at[one.start])
        ]  # fmt: skip
        if weighed:
            without = [f"{text[: one.start]}{text[one.end :]}" for one in weighed]
            vectors = self.vectors.embed([text, *without])
            for one, vector in zip(weighed, vectors[1:], strict=True):
                if 1.0 - float(vectors[0] @ vector) <= MOST_CHANGE[at[one.start].pos]:
                    found.add(one.start)
        return frozenset(found)

    def alike(self, word: str, known: Sequence[str]) -> str | None:
        """The known word that names the same; none where two do."""
        said, names = self.vectors.embed([word])[0], self._vectors_of(tuple(known))
        order = sorted(((float(said @ each), name) for name, each in zip(known, names, strict=True)), reverse=True)
        return order[0][1] if order and order[0][0] >= LEAST_LIKE else None

    def _vectors_of(self, known: tuple[str, ...]) -> Any:
        if known not in self.held:
            self.held.clear()
            self.held[known] = self.vectors.embed(known)
        return self.held[known]


def _is_free(word: ParsedWord, columns: frozenset[int]) -> bool:
    """A function word, or the first part of a column's name: `contact channel`."""
    part_of_name = word.pos == "NOUN" and word.relation == "compound" and word.head.start in columns
    return word.pos in FREE or part_of_name


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
