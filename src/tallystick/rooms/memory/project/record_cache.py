"""Records kept in a database: recently used ones stay in memory, changed ones are written in batches.

`DueQueue` orders the propositions that age may have changed, from the table as it was written and from what changed
since. An old memory has something due at any time; querying the table again for every few of them, or scanning all
changes, would cost more than reviewing them.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import TypeVar

from tallystick.rooms.memory.ids import number_in
from tallystick.rooms.memory.model import Proposition
from tallystick.rooms.memory.weigh.state import RecordMap

T = TypeVar("T")
SIEVE_BITS = 25
"""Four megabytes: with a million keys, one lookup in three hundred of an unknown key is a false positive."""
HELD = 20_000
"""Records of one kind that stay in memory: more are seldom used, and a larger heap slows everything."""


class BloomFilter:
    """Tells that a key was never stored, without querying the database."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._bits = bytearray(1 << (SIEVE_BITS - 3))
        for number in numbers:
            self._add(number)

    def add(self, key: str) -> None:
        """Add a key."""
        self._add(number_in(key))

    def _add(self, number: int) -> None:
        for bit in _places(number):
            self._bits[bit >> 3] |= 1 << (bit & 7)

    def may_hold(self, key: str) -> bool:
        """Return False if the key was never added."""
        first, second = _places(number_in(key))
        return bool(self._bits[first >> 3] >> (first & 7) & 1 and self._bits[second >> 3] >> (second & 7) & 1)


def _places(number: int) -> tuple[int, int]:
    mask = (1 << SIEVE_BITS) - 1
    return number & mask, number >> 32 & mask


Fetch = Callable[[list[str]], Iterable[tuple[str, bytes]]]
Stream = Callable[[], Iterator[bytes]]
Numbers = Callable[[], Iterable[int]]
RecordReaders = tuple[Fetch, Stream, Callable[[bytes], T], Numbers | None]
"""How the records of a table are read."""


class RecordCache(RecordMap[T]):
    """A cache in front of a table."""

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
        self._sieve: BloomFilter | None = None

    def get(self, key: str) -> T | None:
        """Return the record, from memory or from the table."""
        found = self.held.get(key)
        if found is None and self.may_hold(key):
            self._take([key])
            found = self.held.get(key)
        return found

    def some(self, keys: Iterable[str]) -> dict[str, T]:
        """Return several records with one query; a round trip costs far more than a row."""
        wanted = list(keys)
        self._take([key for key in dict.fromkeys(wanted) if key not in self.held])
        return super().some(wanted)

    def _take(self, keys: list[str]) -> None:
        if keys:
            self.held.update((key, self._revive(body)) for key, body in self._fetch(keys))

    def may_hold(self, key: str) -> bool:
        """Return False if there is certainly no such record."""
        # The filter of a million keys takes seconds to build, and readers of known ids never need it.
        if self._numbers is None or (self._sieve is None and key in self.held):
            return True
        if self._sieve is None:
            self._sieve = BloomFilter(self._numbers())
            for known in self.held:
                self._sieve.add(known)
        return self._sieve.may_hold(key)

    def put(self, key: str, thing: T) -> None:
        """Store a record here, and write it with the next batch."""
        self.held[key] = self.changed[key] = thing
        if self._sieve is not None:
            self._sieve.add(key)

    def ordered(self) -> Iterator[T]:
        """Yield all written records, by key."""
        return map(self._revive, self._stream())

    def bodies(self) -> Iterator[bytes]:
        """Yield all written records as canonical JSON, by key."""
        return self._stream()

    def written(self) -> None:
        """Forget the changes that are now written, and drop the oldest records beyond `HELD`."""
        self.changed.clear()
        for key in list(self.held)[: max(len(self.held) - HELD, 0)]:
            del self.held[key]


Entry = tuple[int, str]
"""When it is due, and its id."""
_BEFORE_ALL: Entry = (-(1 << 62), "")


class DueQueue:
    """The propositions of one state of the table by due time; `begin_again` after a write."""

    def __init__(self, read_on: Callable[[Entry], Sequence[Entry]], changed: Mapping[str, Proposition]) -> None:
        """Say where entries come from.

        Args:
            read_on: Gives the next of the table after one, in order; none when there are no more.
            changed: What is no longer as it stands in the table.
        """
        self._read_on = read_on
        self._changed = changed
        self.begin_again()

    def begin_again(self) -> None:
        """Start again after all changes were written."""
        self._written: deque[Entry] = deque()
        self._read: Entry | None = _BEFORE_ALL
        """As far as was read; None: to the end."""
        self._new: list[Entry] = []

    def note(self, one: Proposition) -> None:
        """Note that a proposition changed and may be due at another time."""
        if one.due_at is not None:
            heappush(self._new, (one.due_at, one.id))

    def take(self, now: int, limit: int | None) -> list[str]:
        """Return the ids that are due, the longest first; the caller reviews them and notes when each is due next."""
        taken: dict[str, None] = {}
        while limit is None or len(taken) < limit:
            first = self._first()
            if first is None or first[0] > now:
                break
            if self._new and self._new[0] == first:
                heappop(self._new)
            else:
                self._written.popleft()
            taken[first[1]] = None
        return list(taken)

    def _first(self) -> Entry | None:
        """Return the next valid entry."""
        new, written, changed = self._new, self._written, self._changed
        while new and changed[new[0][1]].due_at != new[0][0]:
            heappop(new)
        while True:
            while written and written[0][1] in changed:
                written.popleft()
            if written or self._read is None:
                break
            written.extend(self._read_on(self._read))
            self._read = written[-1] if written else None
        return min((side[0] for side in (new, written) if side), default=None)


class PropositionCache(RecordCache[Proposition]):
    """The cache of propositions, which tells its queue what changed."""

    agenda: DueQueue

    def put(self, key: str, thing: Proposition) -> None:
        """Store a proposition, and when it is due."""
        super().put(key, thing)
        self.agenda.note(thing)
