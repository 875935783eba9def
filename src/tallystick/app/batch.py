"""Batches of calls: each call is decided, run and recorded on its own; their records are stored together."""

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
"""Calls in one batch: it blocks the event loop for some tens of milliseconds."""

Asked = tuple[str, Mapping[str, Any] | None]
"""A tool's id and its arguments."""


async def call_many(pipeline: Pipeline, calls: Iterable[Asked], standing: CallContext) -> list[Outcome]:
    """Run calls in batches of `AT_ONCE` and return their outcomes in order.

    Calls of one batch do not see each other's effects; a caller that needs that makes two requests.
    """
    outcomes: list[Outcome] = []
    rest = iter(calls)
    while some := list(islice(rest, AT_ONCE)):
        outcomes += await _some(pipeline, some, standing)
    return outcomes


async def _some(pipeline: Pipeline, calls: list[Asked], standing: CallContext) -> list[Outcome]:
    """Decide all calls, then run them as tasks; raise the first error after all have ended."""
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
    """Cancel calls and wait for their receipts.

    It runs as a task created after theirs, so every call has started by then.
    """
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
