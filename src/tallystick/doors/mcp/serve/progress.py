"""Forward a tool's progress reports as `notifications/progress`."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

from tallystick.gate.execute.progress import LISTENER, Progress

WAITING = 256
"""Maximum queued reports per call; more are dropped, so that the tool never waits."""


@asynccontextmanager
async def heard(ctx: ServerRequestContext[Any, Any]) -> AsyncIterator[None]:
    """Forward the progress reports of a call; they reach the client before the result."""
    if ctx.meta is None or "progress_token" not in ctx.meta:
        yield
        return
    queue, reports = anyio.create_memory_object_stream[Progress](WAITING)
    loop, here = asyncio.get_running_loop(), threading.get_ident()

    def take(report: Progress) -> None:
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            queue.send_nowait(report)

    def hear(report: Progress) -> None:
        if threading.get_ident() == here:
            take(report)
        else:
            loop.call_soon_threadsafe(take, report)

    async def pass_on() -> None:
        last = -inf
        async with reports:
            async for report in reports:
                # The protocol requires the progress value to increase.
                if report.done > last:
                    last = report.done
                    await ctx.session.report_progress(report.done, report.total, report.message)

    before = LISTENER.set(hear)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(pass_on)
            with queue:
                yield
    finally:
        LISTENER.reset(before)
