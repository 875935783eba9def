"""Random bytes for ids and salts, drawn in batches: one system call for many receipts instead of one for each."""

import os
from collections.abc import Callable
from weakref import WeakSet

BATCH = 64


class RandomPool:
    """Pieces of equal length, each handed out once, to any thread.

    A forked child starts with an empty stock: it must not hand out what its parent holds as well.
    """

    def __init__(self, random: Callable[[int], bytes], length: int) -> None:
        self._random = random
        self._length = length
        self._stock: list[bytes] = []
        _STOCKS.add(self)

    def draw(self) -> bytes:
        """The next piece."""
        try:
            return self._stock.pop()  # atomic, so that no two threads get the same
        except IndexError:
            drawn, length = self._random(BATCH * self._length), self._length
            self._stock.extend(drawn[at : at + length] for at in range(length, len(drawn), length))
            return drawn[:length]

    def forget(self) -> None:
        """Empty the stock."""
        self._stock = []


_STOCKS: WeakSet[RandomPool] = WeakSet()


def _after_fork() -> None:
    for stock in _STOCKS:
        stock.forget()


os.register_at_fork(after_in_child=_after_fork)
