"""What a forked child must be told: it has its parent's open files and locks, and none of its threads."""

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """Something that a child cannot go on using as its parent does."""

    def mark_forked(self) -> None:
        """This process is a child of the one that made it."""
        ...


_TOLD: WeakSet[Forkable] = WeakSet()


def tell_children(one: Forkable) -> None:
    """Mark it in every child; to ask for the process id instead would cost a call each time."""
    _TOLD.add(one)


def _after_fork() -> None:
    for one in _TOLD:
        one.mark_forked()


os.register_at_fork(after_in_child=_after_fork)
