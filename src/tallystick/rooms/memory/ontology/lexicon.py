"""Nouns that the ontology does not list, mapped to its attributes by their meaning."""

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from tallystick.reading.embedder import Embedder
from tallystick.rooms.memory.ontology.attributes import Attribute, Ontology

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR = 0.55
"""The least likeness (cosine) of a noun to the nearest noun of an attribute."""
ALIKE = 0.5
"""The least likeness of two nouns that may name the same thing: a greyhound is a dog."""
_AGREEING = 2
"""The nearest nouns that must stand for one attribute."""


class Lexicon:
    """Looks up nouns: as the ontology lists them, else by an embedding model, if there is one."""

    def __init__(self, ontology: Ontology, embedder: Embedder | None = None) -> None:
        self.ontology = ontology
        self.embedder = embedder
        self._nouns = tuple(ontology.by_noun)
        self.attribute_like = lru_cache(maxsize=4_096)(self._attribute_like)
        self.alike = lru_cache(maxsize=4_096)(self._alike)
        self._vectors: NDArray[np.float32] | None = None

    def _attribute_like(self, noun: str) -> Attribute | None:
        """Return the attribute that the nearest listed nouns agree on; None: nothing is near enough."""
        if self.embedder is None:
            return None
        if self._vectors is None:
            self._vectors = self.embedder.embed(self._nouns)
        likeness = self._vectors @ self.embedder.embed([noun])[0]
        # «Date» is no birth date: a longer noun that holds the word is another thing.
        ranked = (int(at) for at in likeness.argsort()[::-1])
        nearest = list(islice((at for at in ranked if noun not in self._nouns[at].split()), _AGREEING))
        found = {self.ontology.by_noun[self._nouns[at]] for at in nearest}
        return found.pop() if len(found) == 1 and likeness[nearest[0]] >= NEAR else None

    def _alike(self, one: str, other: str) -> bool:
        """Return whether two nouns are near enough in meaning to name the same thing."""
        if self.embedder is None:
            return False
        first, second = self.embedder.embed([one, other])
        return float(first @ second) >= ALIKE
