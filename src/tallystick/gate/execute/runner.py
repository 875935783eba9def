"""The handlers, and nothing else that could run a tool. Only the pipeline imports this module."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from tallystick.errors import RegistrationError, ToolError
from tallystick.gate.admit.names import Entry
from tallystick.gate.annotations import Codec
from tallystick.gate.codes import BAD_INPUT, BAD_RESULT, PART_MISSING, SPENT, TIMEOUT, TOOL_FAILED, Fault
from tallystick.gate.execute.call import SERVED, Call
from tallystick.gate.execute.child import (
    Address,
    ChildDiedError,
    ChildFailedError,
    TooMuchOutputError,
    address_of,
    run_in_process,
)
from tallystick.gate.execute.limits import OutOfTimeError, run_async, run_in_thread, run_inline
from tallystick.gate.execute.outcome import Failure, Output, Ran
from tallystick.gate.execute.output import NotJsonError, to_output
from tallystick.gate.execute.threads import Threads
from tallystick.gate.execute.typed_calls import typed
from tallystick.gate.tool import Card, How

_log = logging.getLogger("tallystick.execute")

PASSED_THROUGH = frozenset({404, 409})
"""Statuses of a tool's own error that the caller sees as they are."""
MEANT: Mapping[int, Fault] = {400: BAD_INPUT, 429: SPENT}
"""Statuses by which a tool says that what it was given is at fault (a file, say), or that its budget is spent."""


class Runner:
    """Holds the handlers. Made by app, given to the pipeline, seen by nobody else."""

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._ways: dict[str, How] = {}
        self._addresses: dict[str, Address] = {}
        self._threads = Threads()

    def add(self, card: Card, handler: Callable[..., Any], codec: Codec | None = None) -> None:
        """Take a handler for a registered card, with the conversions of its arguments and result.

        Raises:
            RegistrationError: The handler cannot be run the way the card says.
        """
        self._ways[card.name] = _way(card, handler)
        if card.how == "process":
            self._addresses[card.name] = address_of(handler, typed=codec is not None)
        self._handlers[card.name] = typed(handler, codec)

    def remove(self, name: str) -> None:
        """Forget a handler."""
        self._handlers.pop(name, None)
        self._ways.pop(name, None)
        self._addresses.pop(name, None)

    async def run(self, entry: Entry, args: dict[str, Any], call: Call) -> Ran:
        """Run the tool and check what it returns. Raises nothing but cancellation."""
        card = entry.card
        how = self._ways[card.name]
        # A tool may itself call the gate: afterwards the outer call is the current one again.
        before = SERVED.get()
        SERVED.set(call)
        try:
            if how == "async":
                value = await run_async(self._handlers[card.name], args, card.timeout_s)
            elif how == "inline":
                value = run_inline(self._handlers[card.name], args)
            else:
                value = await self._elsewhere(card, how, args, call)
            output = to_output(value)
        except BaseException as error:
            if _ends_the_caller(error):
                raise
            return Ran(failure=_failure(card, error))
        finally:
            SERVED.set(before)
        schema, value = entry.output, output.value
        fits = schema is None or schema.accepts(value)
        if fits and len(output.data) <= card.max_output_bytes:
            return Ran(output=output)
        return Ran(failure=_misfit(entry, output))

    def close(self) -> None:
        """Let the worker threads end."""
        self._threads.close()

    async def _elsewhere(self, card: Card, how: How, args: dict[str, Any], call: Call) -> Any:
        """On a thread, or in a process of its own."""
        if how == "thread":
            return await run_in_thread(self._threads, self._handlers[card.name], args, card.timeout_s)
        answer = await run_in_process(
            self._addresses[card.name], args, call=call, timeout_s=card.timeout_s, max_bytes=card.max_output_bytes
        )
        call.file_refs.extend(answer.file_refs)
        return answer.value


def _way(card: Card, handler: Callable[..., Any]) -> How:
    """How the handler is run: as the card says, but that a coroutine function always runs as one."""
    if inspect.iscoroutinefunction(handler):
        return "process" if card.how == "process" else "async"
    if card.how == "async":
        raise RegistrationError(f"{card.name}: how='async' needs an `async def` function", code="handler_not_async")
    return card.how


def _misfit(entry: Entry, output: Output) -> Failure:
    """What is wrong with a result; the result itself is not shown, as it may be anything."""
    limit = entry.card.max_output_bytes
    if len(output.data) > limit or entry.output is None:
        return Failure(fault=TOOL_FAILED, message=f"the tool returned more than {limit} bytes")
    pointer, rule = entry.output.explain(output.value)
    return Failure(fault=BAD_RESULT, message=f"the tool's result breaks its schema at '{pointer}' ({rule})")


def _ends_the_caller(error: BaseException) -> bool:
    """Whether it is not the tool that failed: the call was cancelled, or the program is ending."""
    if isinstance(error, asyncio.CancelledError):
        # One that nobody asked for was raised by the tool itself.
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, GeneratorExit)


def _failure(card: Card, error: BaseException) -> Failure:
    """What the caller is told of an error; a tool may raise anything, SystemExit too."""
    if isinstance(error, OutOfTimeError):
        return Failure(fault=TIMEOUT, message=f"no answer within {card.timeout_s:g} s")
    if isinstance(error, NotJsonError):
        return Failure(fault=BAD_RESULT, message="the tool returned something that is not JSON")
    if isinstance(error, ToolError):
        return _on_purpose(error)
    return _crashed(card.name, error)


def _on_purpose(error: ToolError) -> Failure:
    if error.unavailable:
        return Failure(fault=PART_MISSING, message=str(error), hint=error.hint)
    meant = MEANT.get(error.status or 0)
    if meant is not None:
        return Failure(fault=meant, message=str(error), hint=error.hint)
    status = error.status if error.status in PASSED_THROUGH else None
    return Failure(fault=TOOL_FAILED, message=str(error), status=status, hint=error.hint)


def _crashed(name: str, error: BaseException) -> Failure:
    if isinstance(error, TooMuchOutputError):
        return Failure(fault=TOOL_FAILED, message="the tool returned more than it may")
    if isinstance(error, ChildDiedError):
        return Failure(fault=TOOL_FAILED, message="the tool's process ended without an answer")
    if isinstance(error, ChildFailedError):
        _log.error("tool %s failed\n%s", name, error.stack)
        return Failure(fault=TOOL_FAILED, message=f"the tool failed ({error.kind})")
    # The message of a foreign exception may hold anything (paths, secrets); the log has the stack, the caller the kind.
    _log.error("tool %s failed", name, exc_info=error)
    return Failure(fault=TOOL_FAILED, message=f"the tool failed ({type(error).__name__})")
