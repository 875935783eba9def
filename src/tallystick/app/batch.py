"""Several calls at once: each is decided, run and recorded as by itself, and their records are stored together."""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from tallystick.app.sessions import plain_args
from tallystick.gate.decide.standing import Standing
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.stepping import together
from tallystick.gate.pipeline import Pipeline

AT_ONCE = 256
"""Calls that go together: some tens of milliseconds, in which nobody else in the loop gets a turn."""

Asked = tuple[str, Mapping[str, Any] | None]
"""A tool's id and its arguments."""


async def call_many(pipeline: Pipeline, calls: Iterable[Asked], standing: Standing) -> list[Outcome]:
    """What comes of each, in order.

    Of those that go together none sees what another has done: who needs that makes two lists of them.
    """
    outcomes: list[Outcome] = []
    rest = iter(calls)
    while some := list(islice(rest, AT_ONCE)):
        outcomes += await _some(pipeline, some, standing)
    return outcomes


async def _some(pipeline: Pipeline, calls: list[Asked], standing: Standing) -> list[Outcome]:
    made = {place: pipeline.call(tool, plain_args(args), standing) for place, (tool, args) in enumerate(calls)}
    # What may wait for more than the ledger (a thread, a network, a timer) needs a task of its own.
    quick = [place for place, (tool, _) in enumerate(calls) if pipeline.is_quick(tool)]
    came = dict(zip(quick, await together(made.pop(place) for place in quick), strict=True))
    came |= zip(made, await asyncio.gather(*made.values()), strict=True)
    return [came[place] for place in sorted(came)]
