"""The run object given to a flow: recorded steps, sleep, events.

A step is stored as `{"ok": value}` or as `{"failed": …}`, never as an exception: so the flow gets the same value or the
same `StepFailed` the first time and after a crash.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dbos import DBOS

from tallystick.storage.durable.records import INNER
from tallystick.storage.durable.runs import EVENTS
from tallystick.storage.durable.stored_values import failure_from, failure_of, failure_record, plain_json
from tallystick.turns.durable import AsyncRun, Run
from tallystick.turns.runs import ONCE, DurableError, Retry, StepFailed

SLICE_S = 0.5
"""How long a sleeping async run may take to notice that its worker is stopping."""
OWNER_LOOK_S = 2.0
"""How often a sleeping run checks that its worker still owns it; each check is a query."""


class HandOver(BaseException):
    """Raised through a flow that this worker must leave: it is stopping, or the run was cancelled or taken over.

    Not an `Exception`, so that a flow's `except Exception` does not catch it.
    """


@dataclass(frozen=True, kw_only=True)
class WorkerContext:
    """What a run needs from its worker."""

    stopping: threading.Event
    owned: Callable[[], bool]
    """Whether this execution may still record; False once the run was cancelled or has another owner."""
    clock: Callable[[], float]
    """Seconds since the epoch."""

    def check_owned(self) -> None:
        """Raise HandOver if the run has another owner or the database is unavailable; another worker continues it."""
        try:
            owned = self.owned()
        except DurableError as error:
            raise HandOver from error
        if not owned:
            raise HandOver


class _Steps:
    """Common base of plain and async runs."""

    def __init__(self, run_id: str, around: WorkerContext) -> None:
        self._id = run_id
        self._around = around
        self._names: set[str] = set()
        self._sleeps = 0

    @property
    def id(self) -> str:
        return self._id

    def key(self, step: str) -> str:
        return f"{self._id}/{step}"

    def _enter(self, name: str) -> None:
        """Refuse a second step of the same name, because both would have the same key."""
        if name in self._names or not name:
            message = f"step '{name}' was there before in this run; give each its own name, e.g. add a number"
            raise DurableError(message, code="step_repeated")
        self._names.add(name)
        if self._around.stopping.is_set():
            raise HandOver

    def _next_sleep(self) -> str:
        self._sleeps += 1
        return f"{INNER}sleep:{self._sleeps}"

    def _left(self, seconds: float, wake_at: float) -> float:
        """Return the remaining seconds, never more than requested, even if the clock was set back."""
        return min(seconds, wake_at - self._around.clock())


class PlainRun(_Steps, Run):
    """A run of a plain flow."""

    def step(self, name: str, do: Callable[..., Any], *args: Any, retry: Retry = ONCE) -> Any:
        """Run the step, or return its recorded result."""
        if name.startswith(INNER) or inspect.iscoroutinefunction(do):
            message = f"step '{name}': a plain flow takes plain functions, and names that do not begin with {INNER}"
            raise DurableError(message, code="step_invalid")
        return self._step(name, do, args, retry)

    def sleep(self, seconds: float) -> None:
        """Sleep until the recorded wake-up time."""
        wake_at = self._step(self._next_sleep(), lambda: self._around.clock() + seconds, (), ONCE)
        while (left := self._left(seconds, wake_at)) > 0:
            if self._around.stopping.wait(min(left, OWNER_LOOK_S)):
                raise HandOver
            self._around.check_owned()

    def emit(self, event: Mapping[str, Any]) -> None:
        """Append an event to the run's stream."""
        DBOS.write_stream(EVENTS, plain_json(dict(event), "an event"))

    def cancelled(self) -> bool:
        """Query the database for whether the run was cancelled or taken over."""
        return not self._around.owned()

    def _step(self, name: str, do: Callable[..., Any], args: tuple[Any, ...], retry: Retry) -> Any:
        self._enter(name)
        return _opened(name, DBOS.run_step({"name": name}, partial(self._tries, name, do, args, retry)))

    def _tries(self, name: str, do: Callable[..., Any], args: tuple[Any, ...], retry: Retry) -> dict[str, Any]:
        attempt = 1
        while True:
            try:
                return {"ok": plain_json(do(*args), f"the result of step '{name}'")}
            except Exception as error:  # noqa: BLE001 - any exception of a step is its failure
                if _is_last(error, attempt, retry):
                    return _failed(error, attempt)
            if self._around.stopping.wait(retry.pause_after(attempt)):
                raise HandOver
            self._around.check_owned()
            attempt += 1


class LoopRun(_Steps, AsyncRun):
    """A run of an async flow."""

    async def step(self, name: str, do: Callable[..., Any], *args: Any, retry: Retry = ONCE) -> Any:
        """Run the step, or return its recorded result."""
        if name.startswith(INNER):
            raise DurableError(f"step '{name}': begin its name with something else", code="step_invalid")
        return await self._step(name, do, args, retry)

    async def sleep(self, seconds: float) -> None:
        """Sleep until the recorded wake-up time."""
        wake_at = await self._step(self._next_sleep(), _at_once(self._around.clock, seconds), (), ONCE)
        while (left := self._left(seconds, wake_at)) > 0:
            await self._pause(min(left, OWNER_LOOK_S))

    async def emit(self, event: Mapping[str, Any]) -> None:
        """Append an event to the run's stream."""
        await DBOS.write_stream_async(EVENTS, plain_json(dict(event), "an event"))

    async def cancelled(self) -> bool:
        """Query the database for whether the run was cancelled or taken over."""
        return not await asyncio.to_thread(self._around.owned)

    async def _step(self, name: str, do: Callable[..., Any], args: tuple[Any, ...], retry: Retry) -> Any:
        self._enter(name)

        async def tries() -> dict[str, Any]:
            return await self._tries(name, do, args, retry)

        return _opened(name, await DBOS.run_step_async({"name": name}, tries))

    async def _tries(self, name: str, do: Callable[..., Any], args: tuple[Any, ...], retry: Retry) -> dict[str, Any]:
        attempt = 1
        while True:
            try:
                return {"ok": plain_json(await _call(do, args), f"the result of step '{name}'")}
            except Exception as error:  # noqa: BLE001 - any exception of a step is its failure
                if _is_last(error, attempt, retry):
                    return _failed(error, attempt)
            await self._pause(retry.pause_after(attempt))
            attempt += 1

    async def _pause(self, seconds: float) -> None:
        while seconds > 0:
            if self._around.stopping.is_set():
                raise HandOver
            await asyncio.sleep(min(seconds, SLICE_S))
            seconds -= SLICE_S
        await asyncio.to_thread(self._around.check_owned)


async def _call(do: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    if inspect.iscoroutinefunction(do):
        return await do(*args)
    result = await asyncio.to_thread(do, *args)
    # A lambda or partial around a coroutine function returns its coroutine.
    return await result if inspect.isawaitable(result) else result


def _at_once(clock: Callable[[], float], seconds: float) -> Callable[[], Any]:
    async def wake_at() -> float:
        return clock() + seconds

    return wake_at


def _is_last(error: Exception, attempt: int, retry: Retry) -> bool:
    hopeless = isinstance(error, retry.never_on) or (isinstance(error, DurableError) and error.code == "not_json")
    return hopeless or attempt >= retry.attempts


def _failed(error: Exception, attempts: int) -> dict[str, Any]:
    return {"failed": failure_record(failure_of(error)), "attempts": attempts}


def _opened(name: str, outcome: Mapping[str, Any]) -> Any:
    if "ok" in outcome:
        return outcome["ok"]
    raise StepFailed(step=name, failure=failure_from(outcome["failed"]), attempts=outcome["attempts"])
