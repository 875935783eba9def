"""Random bytes for ids and salts, drawn in batches: one system call for many receipts instead of one per receipt."""

import os
from collections.abc import Callable
from weakref import WeakSet

BATCH = 64


class RandomPool:
    """Thread-safe pool of random values of equal length, each returned once.

    A forked child starts with an empty pool, so that it never returns a value that its parent also holds.
    """

    def __init__(self, random: Callable[[int], bytes], length: int) -> None:
        self._random = random
        self._length = length
        self._stock: list[bytes] = []
        _STOCKS.add(self)

    def draw(self) -> bytes:
        """Return the next value."""
        try:
            return self._stock.pop()  # atomic, so no two threads get the same value
        except IndexError:
            drawn, length = self._random(BATCH * self._length), self._length
            self._stock.extend(drawn[at : at + length] for at in range(length, len(drawn), length))
            return drawn[:length]

    def forget(self) -> None:
        """Empty the pool."""
        self._stock = []


_STOCKS: WeakSet[RandomPool] = WeakSet()


def _after_fork() -> None:
    for stock in _STOCKS:
        stock.forget()


os.register_at_fork(after_in_child=_after_fork)
