"""The only module that can run a tool: it has the handlers. Only the pipeline imports it."""

import asyncio
import inspect
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tallystick.errors import ConfigError, RegistrationError, ToolError
from tallystick.gate.admit.names import Entry
from tallystick.gate.annotations import Codec
from tallystick.gate.codes import BAD_INPUT, BAD_RESULT, PART_MISSING, SPENT, TIMEOUT, TOOL_FAILED, Fault
from tallystick.gate.execute.call import SERVED, Call
from tallystick.gate.execute.child import (
    ChildDiedError,
    ChildFailedError,
    HandlerPath,
    TooMuchOutputError,
    handler_path,
    run_in_process,
)
from tallystick.gate.execute.limits import OutOfTimeError, run_async, run_in_thread, run_inline
from tallystick.gate.execute.outcome import Failure, Output, Ran
from tallystick.gate.execute.output import NotJsonError, to_output
from tallystick.gate.execute.threads import Threads
from tallystick.gate.execute.typed_calls import typed
from tallystick.gate.tool import Card, How

_log = logging.getLogger("tallystick.execute")
_MASKED = "[argument]"
_SHORTEST_MASKED = 3
"""Shorter values are not masked: they occur everywhere in a stack."""

PASSED_THROUGH = frozenset({404, 409})
"""Statuses of a `ToolError` that are passed through to the caller."""
MEANT: Mapping[int, Fault] = {400: BAD_INPUT, 429: SPENT}
"""Statuses of a `ToolError` that mean invalid input, such as an unreadable file, or an exhausted budget."""


class Runner:
    """Holds and runs the handlers. Created by app and passed only to the pipeline."""

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._ways: dict[str, How] = {}
        self._addresses: dict[str, HandlerPath] = {}
        self._threads = Threads()

    def add(self, card: Card, handler: Callable[..., Any], codec: Codec | None = None) -> None:
        """Add the handler of a registered card, with the codec of its arguments and result.

        Raises:
            RegistrationError: The handler cannot be run in the way the card specifies.
        """
        self._ways[card.name] = _way(card, handler)
        if card.how == "process":
            self._addresses[card.name] = handler_path(handler, typed=codec is not None)
        self._handlers[card.name] = typed(handler, codec)

    def remove(self, name: str) -> None:
        """Remove a handler."""
        self._handlers.pop(name, None)
        self._ways.pop(name, None)
        self._addresses.pop(name, None)

    async def run(self, entry: Entry, args: dict[str, Any], call: Call) -> Ran:
        """Run the tool and check its result. Raises only if the caller is cancelled or closed."""
        card = entry.card
        how = self._ways[card.name]
        # A tool may itself call the gate: restore the outer call afterwards.
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
            return Ran(failure=_failure(card, error, args))
        finally:
            SERVED.set(before)
        schema, value = entry.output, output.value
        fits = schema is None or schema.accepts(value)
        if fits and len(output.data) <= card.max_output_bytes:
            return Ran(output=output)
        return Ran(failure=_misfit(entry, output))

    def close(self) -> None:
        """Stop the worker threads."""
        self._threads.close()

    async def _elsewhere(self, card: Card, how: How, args: dict[str, Any], call: Call) -> Any:
        """Run the tool on a thread or in a separate process."""
        if how == "thread":
            return await run_in_thread(self._threads, self._handlers[card.name], args, card.timeout_s)
        answer = await run_in_process(
            self._addresses[card.name], args, call=call, timeout_s=card.timeout_s, max_bytes=card.max_output_bytes
        )
        call.file_refs.extend(answer.file_refs)
        return answer.value


def _way(card: Card, handler: Callable[..., Any]) -> How:
    """Return how to run the handler: as the card says, but a coroutine function is `async` unless it is `process`."""
    if inspect.iscoroutinefunction(handler):
        return "process" if card.how == "process" else "async"
    if card.how == "async":
        raise RegistrationError(f"{card.name}: how='async' needs an `async def` function", code="handler_not_async")
    return card.how


def _misfit(entry: Entry, output: Output) -> Failure:
    """Describe why a result is invalid, without the result itself, which may contain anything."""
    limit = entry.card.max_output_bytes
    if len(output.data) > limit or entry.output is None:
        return Failure(fault=TOOL_FAILED, message=f"the tool returned more than {limit} bytes")
    pointer, rule = entry.output.explain(output.value)
    return Failure(fault=BAD_RESULT, message=f"the tool's result breaks its schema at '{pointer}' ({rule})")


def _ends_the_caller(error: BaseException) -> bool:
    """Whether the error is not the tool's: the call was cancelled, or the program is exiting."""
    if isinstance(error, asyncio.CancelledError):
        # Without a cancellation request, the tool raised it itself.
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, GeneratorExit)


def _failure(card: Card, error: BaseException, args: Mapping[str, Any]) -> Failure:
    """Convert an error to the failure reported to the caller; a tool may raise anything, even SystemExit."""
    if isinstance(error, OutOfTimeError):
        return Failure(fault=TIMEOUT, message=f"no answer within {card.timeout_s:g} s")
    if isinstance(error, NotJsonError):
        return Failure(fault=BAD_RESULT, message="the tool returned something that is not JSON")
    if isinstance(error, ToolError):
        return _on_purpose(error)
    return _crashed(card.name, error, args)


def _on_purpose(error: ToolError) -> Failure:
    if error.unavailable:
        return Failure(fault=PART_MISSING, message=str(error), hint=error.hint)
    meant = MEANT.get(error.status or 0)
    if meant is not None:
        return Failure(fault=meant, message=str(error), hint=error.hint)
    status = error.status if error.status in PASSED_THROUGH else None
    return Failure(fault=TOOL_FAILED, message=str(error), status=status, hint=error.hint)


def _crashed(name: str, error: BaseException, args: Mapping[str, Any]) -> Failure:
    if isinstance(error, TooMuchOutputError):
        return Failure(fault=TOOL_FAILED, message="the tool's output exceeds its size limit")
    if isinstance(error, ChildDiedError):
        return Failure(fault=TOOL_FAILED, message="the tool's process ended without an answer")
    if isinstance(error, ChildFailedError):
        _log.error("tool %s failed\n%s", name, _without_arguments(error.stack, args))
        return Failure(fault=TOOL_FAILED, message=f"the tool failed ({error.kind})")
    # An exception's message may contain paths or secrets: the caller is told only its type.
    stack = "".join(traceback.format_exception(error))
    _log.error("tool %s failed\n%s", name, _without_arguments(stack, args))
    # The texts of configuration errors are ours and say what to do.
    hint = f"{error.code}: {error}" if isinstance(error, ConfigError) else None
    return Failure(fault=TOOL_FAILED, message=f"the tool failed ({type(error).__name__})", hint=hint)


def _without_arguments(stack: str, args: Mapping[str, Any]) -> str:
    """Mask the call's argument values in a logged stack: errors often repeat them, and one may be a password."""
    for value in sorted({text for text in _leaves(args) if len(text) >= _SHORTEST_MASKED}, key=len, reverse=True):
        stack = stack.replace(value, _MASKED)
        quoted = repr(value)[1:-1]
        stack = stack.replace(quoted, _MASKED) if quoted != value else stack
    return stack


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        now = waiting.pop()
        if isinstance(now, Mapping):
            waiting.extend(now.values())
        elif isinstance(now, list | tuple):
            waiting.extend(now)
        elif isinstance(now, str | int | float) and not isinstance(now, bool):
            yield str(now)
