"""Many proposals, in order: those of one kind that follow each other go to the gate together."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from itertools import groupby, islice
from typing import Any

from tallystick.gate.execute.outcome import Outcome

Proposed = tuple[Any, Any]
"""A tool's id and its payload; or whatever else a door makes of what came, with a kind of its own."""
CallMany = Callable[[list[Proposed]], Awaitable[list[Outcome]]]
"""Proposes several at once at the gate; none of them sees what another does."""
AT_ONCE = 256


async def propose_all(call_many: CallMany, proposals: Iterable[Proposed]) -> AsyncIterator[Outcome]:
    """What comes of each, as it comes.

    A proposal of another kind sees all that stands before it, so a proposition may cite observations of the same list.
    """
    for _, alike in groupby(proposals, key=lambda one: one[0]):
        while some := list(islice(alike, AT_ONCE)):
            for outcome in await call_many(some):
                yield outcome
