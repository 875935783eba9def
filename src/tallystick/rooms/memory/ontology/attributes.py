"""The attributes of the ontology: how each is said, asked for, begun and ended.

A predicate is always one of them: nouns and verbs are looked up here, and what stands for no attribute is no fact.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tallystick.rooms.memory.model import Volatility

Value = Literal["any", "name", "date", "place", "organisation", "role", "age", "event"]
OTHER_SPELLINGS = {"favorite": "favourite", "color": "colour", "neighbor": "neighbour"}
"""One spelling of words that have two."""


class Attribute(BaseModel):
    """One attribute; the head of the data file says what each field means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    says: str
    said_of_you: str | None = None
    one: bool = False
    one_a_kind: bool = False
    """One value at a time for each of its nouns: one dentist, one shoe size."""
    owner: bool = False
    """The owner's word suffices, whomever it is about."""
    volatility: Volatility = "medium"
    value: Value = "any"
    nouns: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    """Words of the objects by which it is told from others that share its verbs."""
    family: str | None = None
    denies_as: str | None = None
    """The attribute that a plain denial states: «I don't eat meat»."""
    general: tuple[str, ...] = ()
    """The nouns that ask for every kind: «pets», «siblings»."""
    relation: bool = False
    """Its object is somebody or some animal, whose kind is the noun."""
    symmetric: bool = False
    category: tuple[str, ...] = ()
    asked_as: tuple[str, ...] = ()
    or_else: tuple[str, ...] = ()
    """Attributes that answer instead where this one is not known."""


class Words(BaseModel):
    """Words that correct, begin or end what was said before, and words that leave open whether it is so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    past: frozenset[str] = frozenset()
    begins: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()
    starts: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    """Words of messages that correct or end something, whatever it is."""
    earlier: frozenset[str] = frozenset()
    """Words that ask for what held before."""
    fillers: frozenset[str] = frozenset()
    """Words of questions that say nothing of the matter."""
    first: frozenset[str] = frozenset()
    """Words that ask for what held at first."""


class Ontology:
    """All attributes, and the tables in which words are looked up."""

    def __init__(self, attributes: Iterable[Attribute], words: Words, digest: str) -> None:
        self.attributes: Mapping[str, Attribute] = {each.name: each for each in attributes}
        self.words = words
        self.digest = digest
        """SHA-256 of the data."""

    def get(self, name: str) -> Attribute | None:
        """Return the attribute with this id."""
        return self.attributes.get(name.split(":", 1)[0])

    @cached_property
    def by_noun(self) -> Mapping[str, Attribute]:
        """Noun → attribute."""
        return {noun: each for each in self.attributes.values() for noun in each.nouns}

    @cached_property
    def by_verb(self) -> Mapping[str, tuple[Attribute, ...]]:
        """Verb and preposition → attributes it states."""
        return _table((verb, each) for each in self.attributes.values() for verb in each.verbs)

    @cached_property
    def by_begin(self) -> Mapping[str, tuple[Attribute, ...]]:
        """Verb and preposition → attributes that it says to begin."""
        return _table((verb, each) for each in self.attributes.values() for verb in each.begins)

    @cached_property
    def by_end(self) -> Mapping[str, tuple[Attribute, ...]]:
        """Verb and preposition → attributes that it says to end."""
        return _table((verb, each) for each in self.attributes.values() for verb in each.ends)

    @cached_property
    def by_category(self) -> Mapping[str, tuple[Attribute, ...]]:
        """Category word → attributes."""
        return _table((word, each) for each in self.attributes.values() for word in each.category)

    @cached_property
    def families(self) -> Mapping[str, tuple[Attribute, ...]]:
        """Family → its attributes."""
        return _table((each.family, each) for each in self.attributes.values() if each.family)

    def family_of(self, attribute: Attribute) -> tuple[Attribute, ...]:
        """Return the attributes that end together with one; itself at least."""
        return self.families[attribute.family] if attribute.family else (attribute,)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    words: Words = Field(default_factory=Words)
    attributes: dict[str, Attribute]


def _table(pairs: Iterable[tuple[str, Attribute]]) -> dict[str, tuple[Attribute, ...]]:
    table: dict[str, list[Attribute]] = {}
    for word, attribute in pairs:
        table.setdefault(word, []).append(attribute)
    return {word: tuple(found) for word, found in table.items()}


def read_ontology(*texts: str) -> Ontology:
    """Read TOML; a later text replaces attributes of an earlier one and adds new ones.

    Raises:
        ValueError: A field or a value is not one of an attribute's.
    """
    merged: dict[str, Any] = {}
    for text in texts:
        for name, table in tomllib.loads(text).items():
            merged[name] = {**merged.get(name, {}), **table}
    words = merged.pop("words", {})
    read = _File.model_validate(
        {"words": words, "attributes": {name: {"name": name, **table} for name, table in merged.items()}}
    )
    return Ontology(read.attributes.values(), read.words, sha256("\0".join(texts).encode()).hexdigest())


@cache
def default_ontology() -> Ontology:
    """Return the ontology that comes with the room."""
    return read_ontology(files(__package__).joinpath("ontology.toml").read_text(encoding="utf-8"))
