"""The words of one dataset: the names of its columns, and their values."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from tallystick.records import record
from tallystick.rooms.insight.ingest.columns import HEADERS, plain
from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.query.model import DAYS, HOURS
from tallystick.text.folding import fold_case
from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS, STOP_WORDS, identifier_words, words

MOST_VALUES = 2_000
"""Of a column whose values are looked for in a question."""
NO_NAMES = frozenset({"customer"})
"""Columns whose values are placeholders."""
_PROSE = 0.05
"""A column whose values are more than this share of its tickets holds prose, not names."""
_NAMED_FIELDS = ("department", "product", "category", "priority", "status", "reassignments")
_TIME_WORDS = frozenset({"at", "on", "time", "date", "timestamp"})
_LINKED = frozenset(
    {"count", "share", "mean", "median", "sum", "distinct", "grow", "about", "ticket", "theme", "unresolved", "high"}
)
"""Kinds of the grammar whose words a word near in meaning may stand for."""
_FEW = 60
_GENERIC = frozenset(map(stem, ("id", "number", "name", "code", "key")))
"""Last words of column names that say nothing by themselves."""
_RANKED = re.compile(r"^[A-Za-z]?\d+\s*[-–.:)]\s+")  # noqa: RUF001 - both dashes
_AS_WRITTEN = ("open", "twice")
Stems = tuple[str, ...]


@record
class Grammar:
    """The closed list of words."""

    phrases: dict[Stems, str]
    """Stems of a phrase → what it means."""
    exact: dict[str, str]
    """Words whose written form matters: `open` is a state, `opened` an event."""
    columns: tuple[frozenset[str], ...]
    """Words that name the same kind of column."""
    degrees: dict[str, str]
    """Adjectives that are meant only as comparatives and superlatives → which way they look."""
    longest: int


@cache
def grammar() -> Grammar:
    """The list, read once."""
    given: dict[str, Any] = orjson.loads(files(__package__).joinpath("grammar.json").read_bytes())
    phrases = {
        _stems_of(phrase): kind
        for kind, listed in given["words"].items()
        if kind not in _AS_WRITTEN
        for phrase in listed
    }
    return Grammar(
        phrases=phrases,
        exact={**single_words(), **{word: kind for kind in _AS_WRITTEN for word in given["words"][kind]}},
        columns=tuple(frozenset(map(stem, group)) for group in given["columns"]),
        degrees={word: way for way, listed in given["degrees"].items() for word in listed},
        longest=max(map(len, phrases)),
    )


def _without_time_words(parts: Stems) -> Stems:
    """`first response` of `First Response At`."""
    while len(parts) > 1 and parts[-1] in _TIME_WORDS:
        parts = parts[:-1]
    return parts


def _holds_names(column: Column) -> bool:
    """Whether a column's values are names that questions may use."""
    few = len(column.values) <= max(1.0, _PROSE * column.filled)
    return len(column.values) <= MOST_VALUES and (few or column.key != "summary")


@cache
def single_words() -> dict[str, str]:
    """The words of the grammar as they are written, each with what it means."""
    given: dict[str, Any] = orjson.loads(files(__package__).joinpath("grammar.json").read_bytes())
    return {phrase: kind for kind, listed in given["words"].items() for phrase in listed if phrase.isalpha()}


def _stems_of(phrase: str) -> Stems:
    return ("%",) if phrase == "%" else tuple(map(stem, words(phrase)))


def _called_just(part: str, columns: list[Column]) -> list[Column]:
    """Those of the columns whose whole name is one word, where there are some."""
    return [one for one in columns if [stem(word) for word in identifier_words(plain(one.name))] == [part]] or columns


def _is_of_other_group(column: Column, group: frozenset[str]) -> bool:
    """`assignment group` is a team, though *assignment* and *assigned* share a stem."""
    named = {stem(word) for word in identifier_words(plain(column.name))}
    return any(not named.isdisjoint(other) for other in grammar().columns if other != group)


class Vocabulary:
    """Finds columns and values in the stems of a question."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._values: dict[Stems, list[tuple[Column, str]]] = {}
        self._names: dict[Stems, list[Column]] = {}
        self._partly_named: dict[str, list[Column]] = {}
        self._texts: set[Stems] = set()
        self._words: tuple[str, ...] | None = None
        self._part_of_value: dict[str, list[tuple[Column, str]]] = {}
        for column in columns.all:
            self._add_name(column)
        for column in columns.all:
            if column.kind == "value" and column.key not in NO_NAMES and _holds_names(column):
                self._add_values(column)
        self._add_headers()
        self.longest = max((len(key) for key in (*self._values, *self._names)), default=1)

    @property
    def named(self) -> list[str]:
        """The words of the columns' names."""
        return [word for column in self.columns.all for word in identifier_words(plain(column.name))]

    @property
    def words(self) -> tuple[str, ...]:
        """The single words of columns, values and grammar, by which a word near in meaning is known."""
        if self._words is None:
            named = list(self.named)
            short = [value for column in self.columns.all if len(column.values) <= _FEW for value in column.values]
            named += [fold_case(value) for value in short if value.isalpha()]
            named += [phrase for phrase, kind in single_words().items() if kind in _LINKED]
            kept = (word for word in named if len(word) > 2 and word not in STOP_WORDS and word not in _TIME_WORDS)  # noqa: PLR2004
            self._words = tuple(dict.fromkeys(kept))
        return self._words

    def values_at(self, stems: Sequence[str]) -> list[tuple[Column, str]]:
        """The values that are written so in full."""
        return self._values.get(tuple(stems), [])

    def value_by_part(self, part: str) -> list[tuple[Column, str]]:
        """The values that hold a word, where all of them are the same one."""
        found = self._part_of_value.get(part, [])
        return found if len({value for _, value in found}) == 1 else []

    def is_of_created(self, part: str) -> bool:
        """Whether a word stands in the name of the time at which tickets begin, and so speaks of that event."""
        created = self.columns.find("created_at")
        named = () if created is None else map(stem, identifier_words(plain(created.name)))
        return part in named and part not in _TIME_WORDS

    def is_text(self, part: str) -> bool:
        """Whether a word names the column of what customers wrote."""
        return (part,) in self._texts

    def columns_at(self, stems: Sequence[str]) -> list[Column]:
        """The columns that are called so in full."""
        return self._names.get(tuple(stems), [])

    def column_by_part(self, part: str) -> list[Column]:
        """The columns whose name holds a word, or a word that names the same kind of column."""
        found = self._partly_named.get(part)
        if found:
            return _called_just(part, found)
        for group in grammar().columns:
            if part in group:
                alike = [
                    column
                    for word in sorted(group)
                    for column in _called_just(word, self._partly_named.get(word, []))
                    if not _is_of_other_group(column, group)
                ]
                if alike:
                    return list(dict.fromkeys(alike))
        return []

    def _add_name(self, column: Column) -> None:
        if column.key in {HOURS, DAYS} or column.kind == "theme":
            return
        for name in dict.fromkeys((column.name, column.key.removeprefix("extra."))):
            parts = tuple(map(stem, identifier_words(plain(name))))
            if column.kind == "time":
                self._names.setdefault(_without_time_words(parts), []).append(column)
            if column.kind == "words":
                self._texts.add(parts)
            if parts and not (len(parts) == 1 and column.kind in {"words", "id"}):
                self._names.setdefault(parts, []).append(column)
        self._names = {key: list(dict.fromkeys(found)) for key, found in self._names.items()}
        if column.kind not in {"words", "id", "time"}:
            self._add_name_parts(column)

    def _add_name_parts(self, column: Column) -> None:
        named = identifier_words(plain(column.name))
        for word, part in ((word, stem(word)) for word in named):
            says_nothing = part in _GENERIC and len(named) > 1
            everyday = word in STOP_WORDS or (part,) in grammar().phrases or len(word) == 1
            if not says_nothing and (not everyday or any(part in group for group in grammar().columns)):
                known = self._partly_named.setdefault(part, [])
                known += [column] if column not in known else []

    def _add_headers(self) -> None:
        """The names that exports give a field mean its column, or the one that has a word of them in its name."""
        for field in _NAMED_FIELDS:
            column = self.columns.find(field)
            if column is None:
                continue
            for header in HEADERS[field]:
                parts = tuple(map(stem, header.split("_")))
                if len(parts) > 1:
                    self._names.setdefault(parts, self.column_by_part(parts[-1]) or [column])
                elif parts not in grammar().phrases and header not in STOP_WORDS:
                    self._partly_named.setdefault(parts[0], self.column_by_part(parts[0]) or [column])

    def _add_values(self, column: Column) -> None:
        for value in column.values:
            parts = tuple(map(stem, words(value)))
            # `2 - High` is said as `high`, too.
            for said in dict.fromkeys((parts, tuple(map(stem, words(_RANKED.sub("", value)))))):
                if said:
                    self._values.setdefault(said, []).append((column, value))
            if len(parts) > 1:
                self._add_parts(column, value, parts)

    def _add_parts(self, column: Column, value: str, parts: Iterable[str]) -> None:
        for part in set(parts):
            in_a_time = any(part in name for name, found in self._names.items() if found[0].kind == "time")
            if part.isalpha() and part not in QUERY_STOP_WORDS and (part,) not in grammar().phrases and not in_a_time:
                self._part_of_value.setdefault(part, []).append((column, value))
