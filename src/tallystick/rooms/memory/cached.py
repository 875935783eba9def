"""Shelves whose things lie in a database: what is used stays at hand, what changed is written in batches."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import orjson

from tallystick.rooms.memory.naming import number_in
from tallystick.rooms.memory.nouns import Figures
from tallystick.rooms.memory.state import Shelf

T = TypeVar("T")
SIEVE_BITS = 25
"""Four megabytes: of a million keys that were never stored, one in three hundred is looked for in vain."""
HELD = 20_000
"""Things of one kind that stay at hand: more are seldom asked for, and all that lies about makes everything slower."""


class Overtaken(Exception):  # noqa: N818 - a signal to whoever folds, not an error
    """Another process has written the tables further than this one's stand."""


class Sieve:
    """Tells that a key was surely never stored, without asking the database (a Bloom filter)."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._bits = bytearray(1 << (SIEVE_BITS - 3))
        for number in numbers:
            self._add(number)

    def add(self, key: str) -> None:
        """Remember a key."""
        self._add(number_in(key))

    def _add(self, number: int) -> None:
        for bit in _places(number):
            self._bits[bit >> 3] |= 1 << (bit & 7)

    def may_hold(self, key: str) -> bool:
        """False: it was never added."""
        first, second = _places(number_in(key))
        return bool(self._bits[first >> 3] >> (first & 7) & 1 and self._bits[second >> 3] >> (second & 7) & 1)


def _places(number: int) -> tuple[int, int]:
    mask = (1 << SIEVE_BITS) - 1
    return number & mask, number >> 32 & mask


Fetch = Callable[[list[str]], Iterable[tuple[str, bytes]]]
Stream = Callable[[], Iterator[bytes]]
Numbers = Callable[[], Iterable[int]]
Ways = tuple[Fetch, Stream, Callable[[bytes], T], Numbers | None]
"""How the things of a table are read: what a shelf is made of."""


class CachedShelf(Shelf[T]):
    """A shelf in front of a table."""

    def __init__(
        self, fetch: Fetch, stream: Stream, revive: Callable[[bytes], T], sieve: Numbers | None = None
    ) -> None:
        """Say how things are read.

        Args:
            fetch: Gives keys with their stored bytes, of those that are stored.
            stream: All stored bytes, by key.
            revive: Makes a thing of its bytes.
            sieve: The numbers of all stored keys, if misses are frequent and the keys are hashes.
        """
        super().__init__()
        self.changed: dict[str, T] = {}
        self._fetch = fetch
        self._stream = stream
        self._revive = revive
        self._numbers = sieve
        self._sieve: Sieve | None = None

    def get(self, key: str) -> T | None:
        """The thing, from here or from the table."""
        found = self.held.get(key)
        if found is None and self.may_hold(key):
            self._take([key])
            found = self.held.get(key)
        return found

    def some(self, keys: Iterable[str]) -> dict[str, T]:
        """Several at once. Asking the database costs far more than what it answers, so it is asked once for all."""
        wanted = list(keys)
        self._take([key for key in dict.fromkeys(wanted) if key not in self.held])
        return super().some(wanted)

    def _take(self, keys: list[str]) -> None:
        if keys:
            self.held.update((key, self._revive(body)) for key, body in self._fetch(keys))

    def may_hold(self, key: str) -> bool:
        """False: there is surely no such thing."""
        # A sieve of a million keys takes seconds to make. Who only reads what is there never needs it.
        if self._numbers is None or (self._sieve is None and key in self.held):
            return True
        if self._sieve is None:
            self._sieve = Sieve(self._numbers())
            for known in self.held:
                self._sieve.add(known)
        return self._sieve.may_hold(key)

    def put(self, key: str, thing: T) -> None:
        """Keep it here, and write it with the next batch."""
        self.held[key] = self.changed[key] = thing
        if self._sieve is not None:
            self._sieve.add(key)

    def ordered(self) -> Iterator[T]:
        """All that was written, by key."""
        return map(self._revive, self._stream())

    def bodies(self) -> Iterator[bytes]:
        """The same as bytes."""
        return self._stream()

    def written(self) -> None:
        """What was changed lies in the table now; what was not used for long may go."""
        self.changed.clear()
        for key in list(self.held)[: max(len(self.held) - HELD, 0)]:
            del self.held[key]


def reviver(noun: Callable[..., T]) -> Callable[[bytes], T]:
    """Makes a noun of its canonical JSON."""

    def revive(body: bytes) -> T:
        return noun(**{name: _frozen(name, value) for name, value in orjson.loads(body).items()})

    return revive


def _frozen(name: str, value: Any) -> Any:
    if type(value) is list:
        return tuple(value)
    return Figures(**value) if name == "figures" else value
