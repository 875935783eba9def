"""A dataset as columns of numbers: read once, queried often."""

from array import array
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

from tallystick.rooms.insight.model import Ticket
from tallystick.text.stems import stems

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
NONE = -1
"""Stands where a ticket says nothing."""
FIELDS = ("department", "product", "category", "priority", "status", "customer")
TIMES = ("day", "week", "month", "weekday", "hour")
"""Fields that follow from when a ticket was written."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EXTRA = "extra."
MOST_VALUES = 200
"""A column of the file with more different values than this is free text or a number, and no field to count by."""
_DAY_S = 86_400
_MONDAY = 3
"""The first of January 1970 was a Thursday."""


class Coded:
    """A field: for each ticket the place of its value among the names, or none."""

    def __init__(self, names: tuple[str, ...], codes: Ints) -> None:
        self.names = names
        self.codes = codes
        self.place = {name: at for at, name in enumerate(names)}

    def has(self, *values: str) -> Mask:
        """Which tickets have one of these values."""
        return np.isin(self.codes, [self.place[value] for value in values if value in self.place])

    def counts(self, mask: Mask) -> dict[str, int]:
        """Value → how many of the chosen tickets have it; values that none has are left out."""
        chosen = self.codes[mask]
        many = np.bincount(chosen[chosen >= 0], minlength=len(self.names))
        return {name: int(count) for name, count in zip(self.names, many, strict=True) if count}


class Facts:
    """The countable columns of one dataset; immutable once read."""

    def __init__(self, store: "Store", dataset_id: int) -> None:
        self.dataset_id = dataset_id
        self._store = store
        reading = _Reading()
        for ticket in store.tickets(dataset_id):
            reading.add(ticket)
        self.ids = reading.ints("ids")
        self.created = reading.ints("created")
        self.resolved = reading.ints("resolved")
        self.reassigned = reading.ints("reassigned")
        self.words = reading.ints("words")
        self.repeated = reading.ints("repeated").astype(bool)
        """Whose text an earlier ticket has word for word."""
        self.checksum = int(reading.digest.hexdigest()[:13], 16)
        """Of everything in the tickets: changes when any letter of any of them does."""
        self._fields = reading.fields()
        self._said: dict[str, Mask] = {}
        self._runs: dict[int, Ints] = {}

    def __len__(self) -> int:
        """How many tickets there are."""
        return len(self.ids)

    @cached_property
    def all(self) -> Mask:
        """Every ticket."""
        return np.ones(len(self), dtype=bool)

    @cached_property
    def dated(self) -> Mask:
        """The tickets that say when they were written."""
        dated: Mask = self.created != NONE
        return dated

    @cached_property
    def hours(self) -> npt.NDArray[np.float64]:
        """Hours from creation to resolution; NaN where a time is missing or the order is wrong."""
        known = self.dated & (self.resolved != NONE) & (self.resolved >= self.created)
        return np.where(known, (self.resolved - self.created) / 3600.0, np.nan)

    @property
    def extras(self) -> list[str]:
        """The file's other columns that can be counted by."""
        return [name.removeprefix(EXTRA) for name in self._fields if name.startswith(EXTRA)]

    def field(self, name: str) -> Coded | None:
        """A field by its name; None: there is no such."""
        if name in TIMES and name not in self._fields:
            self._fields[name] = self._time(name)
        return self._fields.get(name)

    def filled(self, name: str) -> bool:
        """Whether any ticket has a value there."""
        found = self.field(name)
        return found is not None and bool((found.codes >= 0).any())

    def says(self, term: str) -> Mask:
        """Which tickets hold a word, in any of its forms, or words side by side."""
        self.look_for((term,))
        return self._said[term]

    def look_for(self, terms: tuple[str, ...]) -> None:
        """Find several terms in one reading of the texts."""
        wanted = {term: stems(term) for term in terms if term not in self._said}
        if not wanted:
            return
        found: dict[str, list[bool]] = {term: [] for term in wanted}
        for ticket in self._store.tickets(self.dataset_id):
            said = stems(f"{ticket.said.summary or ''} \n {ticket.said.text}")
            alone = set(said)
            for term, parts in wanted.items():
                found[term].append(_stands_in(parts, said, alone))
        self._said |= {term: np.array(places, dtype=bool) for term, places in found.items()}

    def clusters(self, run_id: int) -> Ints | None:
        """The cluster of each ticket in a grouping of this dataset; `NONE` where it has none."""
        if run_id not in self._runs:
            run = self._store.run(run_id)
            if run is None or run.dataset_id != self.dataset_id:
                return None
            given = dict(self._store.assignments(run_id))
            # Noise of a grouping is -1 there, and means the same here.
            self._runs[run_id] = np.array([given.get(int(one), NONE) for one in self.ids], dtype=np.int64)
        return self._runs[run_id]

    def _time(self, name: str) -> Coded:
        if name == "hour":
            names, codes = tuple(f"{hour:02}:00" for hour in range(24)), self.created // 3600 % 24
        elif name == "weekday":
            names, codes = WEEKDAYS, (self.created // _DAY_S + _MONDAY) % 7
        else:
            return self._spans(name)
        return Coded(names, np.where(self.dated, codes, NONE))

    def _spans(self, name: str) -> Coded:
        days = (self.created // _DAY_S).astype("datetime64[D]")
        if name == "week":
            # A week has the name of its Monday.
            days = days - ((days.astype(np.int64) + _MONDAY) % 7)
        spans = days.astype("datetime64[M]") if name == "month" else days
        names, codes = np.unique(spans[self.dated], return_inverse=True)
        placed = np.full(len(self), NONE, dtype=np.int64)
        placed[self.dated] = codes
        return Coded(tuple(str(one) for one in names), placed)


class _Coder:
    """Numbers values in order of appearance."""

    def __init__(self, before: int = 0) -> None:
        self.codes = array("q", [NONE] * before)
        self.places: dict[str, int] = {}

    def add(self, value: str | None) -> None:
        self.codes.append(NONE if value is None else self.places.setdefault(value, len(self.places)))

    def coded(self) -> Coded:
        return Coded(tuple(self.places), np.array(self.codes, dtype=np.int64))


class _Reading:
    """Reads the columns."""

    def __init__(self) -> None:
        self.columns: dict[str, array[int]] = {
            name: array("q") for name in ("ids", "created", "resolved", "reassigned", "words", "repeated")
        }
        self.coders = {name: _Coder() for name in FIELDS}
        self.extras: dict[str, _Coder] = {}
        self.digest = sha256()
        self._texts: set[int] = set()

    def add(self, ticket: Ticket) -> None:
        said = ticket.said
        self.digest.update(orjson.dumps([ticket.ticket_id, said], default=dict))
        text = hash(" ".join(said.text.casefold().split()))
        row = {
            "ids": ticket.ticket_id,
            "created": said.created_at,
            "resolved": said.resolved_at,
            "reassigned": said.reassignments,
            "words": len(said.text.split()),
            "repeated": int(text in self._texts),
        }
        self._texts.add(text)
        for name, value in row.items():
            self.columns[name].append(NONE if value is None else value)
        for name, coder in self.coders.items():
            coder.add(getattr(said, name))
        self._add_extras(said.extra or {})

    def _add_extras(self, given: Mapping[str, str]) -> None:
        before = len(self.columns["ids"]) - 1
        for name in given.keys() - self.extras.keys():
            self.extras[name] = _Coder(before)
        for name, coder in self.extras.items():
            if len(coder.places) <= MOST_VALUES:
                coder.add(given.get(name) or None)

    def ints(self, name: str) -> Ints:
        return np.array(self.columns[name], dtype=np.int64)

    def fields(self) -> dict[str, Coded]:
        few = {f"{EXTRA}{name}": self.extras[name] for name in sorted(self.extras)}
        kept: dict[str, Any] = self.coders | {name: one for name, one in few.items() if len(one.places) <= MOST_VALUES}
        return {name: coder.coded() for name, coder in kept.items()}


def _stands_in(parts: list[str], stems: list[str], alone: set[str]) -> bool:
    if len(parts) == 1:
        return parts[0] in alone
    if not parts or not alone.issuperset(parts):
        return False
    return any(stems[at : at + len(parts)] == parts for at in range(len(stems) - len(parts) + 1))
