"""Notifies objects in a forked child, which has its parent's open files and locks but none of its threads."""

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """An object that must be reset before a forked child can use it."""

    def mark_forked(self) -> None:
        """Note that this process is a forked child of the one that created the object."""
        ...


_TOLD: WeakSet[Forkable] = WeakSet()


def tell_children(one: Forkable) -> None:
    """Call `mark_forked` in every forked child; comparing process ids instead would cost a system call each time."""
    _TOLD.add(one)


def _after_fork() -> None:
    for one in _TOLD:
        one.mark_forked()


os.register_at_fork(after_in_child=_after_fork)
