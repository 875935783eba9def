"""Run one wrapped server from start to end; the gate itself loads after the client has sent `initialize`."""

import asyncio
import contextlib
import os
import selectors
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.mcp.relay.messages import Keeper, Upstream, Wires
from tallystick.doors.mcp.relay.names import shown_url
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.process import ServerProcess
from tallystick.doors.mcp.relay.relay import Relay
from tallystick.doors.mcp.relay.stdio import StdioUpstream
from tallystick.doors.presentation.counts import counted
from tallystick.errors import ConfigError, LedgerError, TallyError

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.gate_side import GateKeeper


OK, FAILED, CONFIG, LEDGER = 0, 1, 4, 5
"""Exit codes, the same as in the other commands."""


def run(wrapping: Wrapping, process: ServerProcess | None) -> int:
    """Relay until one side ends; return the exit code."""
    return run_before(wrapping, lambda: StdioUpstream(process) if process is not None else _web(wrapping))


def run_before(
    wrapping: Wrapping,
    make_upstream: Callable[[], Upstream],
    *,
    streams: tuple[int, int] = (0, 1),
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> int:
    """Relay before an upstream that is made in the event loop; return the exit code.

    Args:
        wrapping: The options.
        make_upstream: Connects to the server.
        streams: File descriptors of the client, for reading and for writing.
        beside: Runs as long as the relay; when it ends first, the relay ends.
    """
    try:
        with asyncio.Runner(loop_factory=wakeful_loop) as runner:
            return runner.run(_run(wrapping, make_upstream, streams, beside))
    except TallyError as error:
        return _complain(error)
    except KeyboardInterrupt:
        return 130


async def _run(
    wrapping: Wrapping,
    make_upstream: Callable[[], Upstream],
    streams: tuple[int, int],
    beside: Callable[[], Coroutine[Any, Any, None]] | None,
) -> int:
    upstream = make_upstream()
    opened: list[GateKeeper] = []

    async def open_keeper(wires: Wires) -> Keeper:
        keeper = await asyncio.to_thread(_open, wrapping, wires)
        # The gate is loaded by now, and this module with it.
        from tallystick.app.gc_tuning import stay  # noqa: PLC0415

        stay()
        opened.append(keeper)
        return keeper

    relay = Relay(wrapping, upstream, open_keeper, token=os.urandom(9).hex(), streams=streams)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Not available on every system nor outside the main thread; then the default action of the signal ends the
        # process.
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, relay.stop)
    try:
        async with _running(beside, relay.stop):
            await relay.run()
    finally:
        for keeper in opened:
            await asyncio.to_thread(keeper.close)
    _sum_up(wrapping, opened)
    if relay.fatal is not None:
        return _complain(relay.fatal)
    if upstream.unreached is not None:
        message = (
            f"{shown_url(wrapping.url or '')}: {upstream.unreached}. Start the server, or correct --url or --header."
        )
        return _complain(ConfigError(message, code="server_unreachable"))
    return FAILED if upstream.failed else OK


@contextlib.asynccontextmanager
async def _running(
    beside: Callable[[], Coroutine[Any, Any, None]] | None, on_end: Callable[[], None]
) -> AsyncIterator[None]:
    """Run something beside the relay, and end it with the relay."""
    if beside is None:
        yield
        return
    task = asyncio.ensure_future(beside())
    task.add_done_callback(lambda _: on_end())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _web(wrapping: Wrapping) -> Upstream:
    from tallystick.doors.mcp.relay.http import WebUpstream  # noqa: PLC0415 - only for a server with a URL

    return WebUpstream(wrapping.url or "", wrapping.headers)


def _open(wrapping: Wrapping, wires: Wires) -> "GateKeeper":
    from tallystick.doors.mcp.relay.gate_side import GateKeeper  # noqa: PLC0415 - loads while the server starts

    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return GateKeeper(wrapping, wires, f"{wrapping.name}-{stamp}-{os.urandom(3).hex()}")


def _sum_up(wrapping: Wrapping, opened: "list[GateKeeper]") -> None:
    if not opened or wrapping.quiet:
        return
    from tallystick.settings import CONTROL_ROOM  # noqa: PLC0415 - loaded with the gate by now

    tally = opened[0].tally
    failed = f", {tally.failed} failed" if tally.failed else ""
    done = f"tallystick: {counted(tally.calls, 'call')}, {tally.held} held, {tally.refused} refused{failed}"
    # A server that never started leaves no workspace to verify.
    there = Path(wrapping.workspace, CONTROL_ROOM).is_dir()
    _say(f"{done}; to check: tally audit verify {wrapping.typed_workspace}" if there else done)


def _complain(error: TallyError) -> int:
    _say(f"error: {error.code}: {error}")
    return LEDGER if isinstance(error, LedgerError) else CONFIG


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


AWAKE_S = 0.0015
"""Seconds to poll after the last event."""
CROWDED_S = 0.001
"""A yield that takes longer than this shows that another process needs the core; polling would only slow it down."""
REST_S = 0.1

_let_others = getattr(os, "sched_yield", None) or (lambda: time.sleep(0))


def wakeful_loop() -> asyncio.AbstractEventLoop:
    """Create the loop; the polling variant only on POSIX, where pipes and sockets can be polled."""
    if os.name != "posix":
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(WakefulSelector())


class WakefulSelector(selectors.DefaultSelector):
    """The default selector with a short polling phase before it blocks."""

    _rests_until = 0.0
    _seen = False
    """Whether the last poll found events."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the ready events, waiting at most `timeout` seconds, or without limit if it is None."""
        if timeout is not None and timeout <= 0 and self._seen:
            # The loop has callbacks to run: handle the events of the last poll before polling again.
            self._seen = False
            return []
        now = time.perf_counter()
        end = now + (AWAKE_S if timeout is None else min(AWAKE_S, timeout))
        while self._rests_until < now < end:
            if ready := super().select(0):
                self._seen = True
                return ready
            _let_others()
            before, now = now, time.perf_counter()
            if now - before > CROWDED_S:
                self._rests_until = now + REST_S
        ready = super().select(timeout)
        self._seen = bool(ready)
        return ready
