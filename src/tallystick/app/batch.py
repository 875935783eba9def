"""Several calls at once: each is decided, run and recorded as by itself, and their records are stored together."""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from tallystick.app.sessions import plain_args
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.stepping import shielded
from tallystick.gate.pipeline import Pipeline

AT_ONCE = 256
"""Calls that go together: some tens of milliseconds, in which nobody else in the loop gets a turn."""

Asked = tuple[str, Mapping[str, Any] | None]
"""A tool's id and its arguments."""


async def call_many(pipeline: Pipeline, calls: Iterable[Asked], standing: CallContext) -> list[Outcome]:
    """What comes of each, in order.

    Of those that go together none sees what another has done: who needs that makes two lists of them.
    """
    outcomes: list[Outcome] = []
    rest = iter(calls)
    while some := list(islice(rest, AT_ONCE)):
        outcomes += await _some(pipeline, some, standing)
    return outcomes


async def _some(pipeline: Pipeline, calls: list[Asked], standing: CallContext) -> list[Outcome]:
    """Decide all of them, then run them as tasks; an error of one is raised when the others have ended."""
    decided = [pipeline.call(tool, plain_args(args), standing) for tool, args in calls]
    tasks = [asyncio.ensure_future(call) for call in decided]
    try:
        outcomes = await asyncio.shield(asyncio.gather(*tasks, return_exceptions=True))
    except asyncio.CancelledError:
        await shielded(_cancelled(tasks))
        raise
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [task.result() for task in tasks]


async def _cancelled(tasks: Iterable[asyncio.Task[Outcome]]) -> None:
    """Cancel calls and wait for their receipts; as a task made after theirs, it runs when each of them has begun."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
