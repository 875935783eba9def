"""What is to be looked at again for its age, in order: from the table as it was written, and from what changed since.

A memory that is old has something due at any time. To ask the table anew whenever a few are looked at, or to go through
all that changed, would cost more than looking at them.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush

from tallystick.rooms.memory.cached import CachedShelf
from tallystick.rooms.memory.nouns import Proposition

Entry = tuple[int, str]
"""When it is due, and its id."""
_BEFORE_ALL: Entry = (-(1 << 62), "")


class Agenda:
    """Made for one stand of the table; `begin_again` when that has changed."""

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
        """All that changed was written."""
        self._written: deque[Entry] = deque()
        self._read: Entry | None = _BEFORE_ALL
        """As far as was read; None: to the end."""
        self._new: list[Entry] = []

    def note(self, one: Proposition) -> None:
        """It was changed, and may be due at another time."""
        if one.due_at is not None:
            heappush(self._new, (one.due_at, one.id))

    def take(self, now: int, limit: int | None) -> list[str]:
        """Those that are due, the longest first; whoever takes them looks at them, and notes when they are due next."""
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
        """The next entry that still holds."""
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


class AgedShelf(CachedShelf[Proposition]):
    """The shelf of propositions, which tells its agenda what changed."""

    agenda: Agenda

    def put(self, key: str, thing: Proposition) -> None:
        """Keep it, and when it is due."""
        super().put(key, thing)
        self.agenda.note(thing)
