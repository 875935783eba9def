"""Call tools and check replies: the part of the gate that every program uses."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, TypedDict, TypeVar, overload
from weakref import WeakValueDictionary

from typing_extensions import Unpack

from tallystick.app.approvals import resume
from tallystick.app.replies import ReplyChecks
from tallystick.app.tool_files import ToolNames
from tallystick.app.wiring import Parts
from tallystick.errors import ConfigError, LedgerError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.cancellation import shielded
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.output import NotJsonError, to_output
from tallystick.gate.pipeline import Pipeline
from tallystick.gate.record.in_flight import session_of
from tallystick.gate.record.receipt import Draft
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.options import ReplyOptions
from tallystick.gate.session import Caller, Session, valid_session_id
from tallystick.turns.portal import Portal
from tallystick.turns.turn import Turn

Asked = tuple[str, Mapping[str, Any] | None]
"""A tool's id and its arguments."""


SESSION = "local"
"""The default session id."""

T = TypeVar("T")


class CallOptions(TypedDict, total=False):
    """Keyword arguments of `Gate.call` and `Gate.call_sync`; see `Gate.call` for their meaning."""

    session: str | Session
    caller: Caller | None
    dry_run: bool
    allowed_tools: Iterable[str] | None
    authenticated: bool


class GateCalls:
    """The calls of one open workspace; `Gate` adds opening, tools and turns."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._pipeline = parts.pipeline
        self._portal = Portal()
        self._turns: WeakValueDictionary[str, Turn] = WeakValueDictionary()
        self._replies = ReplyChecks(parts)
        self._names = ToolNames()

    @overload
    async def call(
        self, tool: str, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Outcome[Any]: ...
    @overload
    async def call(
        self,
        tool: Callable[..., Coroutine[Any, Any, T]],
        args: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[T]: ...
    @overload
    async def call(
        self, tool: Callable[..., T], args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Outcome[T]: ...
    async def call(
        self,
        tool: str | Callable[..., Any],
        args: Mapping[str, Any] | None = None,
        *,
        session: str | Session = SESSION,
        caller: Caller | None = None,
        dry_run: bool = False,
        allowed_tools: Iterable[str] | None = None,
        authenticated: bool = True,
    ) -> Outcome[Any]:
        """Propose one call and return its outcome.

        Args:
            tool: The tool's id, or the registered function itself; `unwrap` then returns the function's result type.
            args: The arguments, as JSON data.
            session: The session of the receipt: its id, or a `Session` that also names agent, task, run, ….
            caller: The caller; the local owner if not given.
            dry_run: Ask the tool to change nothing (only if the tool supports it).
            allowed_tools: Restricts this call to these tools.
            authenticated: False if auth is enabled and the request had no valid token.
        """
        at = standing_in(session, caller, allowed_tools, authenticated=authenticated)
        given = plain_args(args)
        if not callable(tool):
            return await self._pipeline.call(tool, given, at, dry_run=dry_run)
        name = self._names.name_of(tool)
        outcome = await self._pipeline.call(name, given, at, dry_run=dry_run)
        reader = self._names.reader_of(name)
        return outcome if reader is None else replace(outcome, reader=reader)

    async def call_many(
        self, calls: Iterable[Asked], *, session: str | Session = SESSION, caller: Caller | None = None
    ) -> list[Outcome]:
        """Propose several calls at once, each with its own receipts, and return their outcomes in order.

        Calls of one request may not see each other's effects: send dependent calls in a later request.
        """
        standing = standing_in(session, caller, None, authenticated=True)
        return await call_many(self._pipeline, calls, standing)

    @overload
    def call_sync(
        self, tool: str, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Outcome[Any]: ...
    @overload
    def call_sync(
        self,
        tool: Callable[..., Coroutine[Any, Any, T]],
        args: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[T]: ...
    @overload
    def call_sync(
        self, tool: Callable[..., T], args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Outcome[T]: ...
    def call_sync(
        self,
        tool: str | Callable[..., Any],
        args: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[Any]:
        """Blocking form of `call`; also works inside a running event loop."""
        return self._portal.run(self.call(tool, args, **options))

    async def refuse(
        self, rejection: Rejection, text: str | bytes, *, session: str | Session = SESSION, caller: Caller | None = None
    ) -> Outcome:
        """Record input that a door refused before it became a proposal."""
        return await self._pipeline.refuse(rejection, text, CallContext(session=session_for(session, caller)))

    async def resume(self, approval_id: str, *, caller: Caller | None = None) -> Outcome:
        """Run an approved held call once, as a new submission.

        Args:
            approval_id: The approval request of the held call.
            caller: The caller with current roles, if those may have changed since the call was held.
        """
        return await resume(self._parts, self._turns, approval_id, caller)

    def resume_sync(self, approval_id: str, *, caller: Caller | None = None) -> Outcome:
        """Blocking form of `resume`."""
        return self._portal.run(self.resume(approval_id, caller=caller))

    def check_reply(
        self, reply: str, *, session: str | Session = SESSION, agent: str | None = None, **options: Unpack[ReplyOptions]
    ) -> Findings:
        """Check the claims of a reply and record a `reply_check` receipt; see `ReplyOptions` for other arguments."""
        return self._replies.check(reply, session_for(session, None, agent=agent), **options)


AT_ONCE = 256
"""Calls in one batch: it blocks the event loop for some tens of milliseconds."""


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


def session_for(
    session: str | Session, caller: Caller | None, *, agent: str | None = None, turn_id: str | None = None
) -> Session:
    """Return the session of a call, given its id or a `Session`.

    Raises:
        ConfigError: The id is not usable as a folder name.
    """
    if isinstance(session, str):
        session = _owned(session)
        if caller is None and agent is None and turn_id is None:
            return session
    elif not valid_session_id(session.session_id):
        raise _bad_session(session.session_id)
    return session.within(caller=caller, agent_id=agent, turn_id=turn_id)


def standing_in(
    session: str | Session, caller: Caller | None, allowed_tools: Iterable[str] | None, *, authenticated: bool
) -> CallContext:
    """Build the context of a single call."""
    return CallContext(
        session=session_for(session, caller),
        authenticated=authenticated,
        allowed_tools=None if allowed_tools is None else frozenset(allowed_tools),
    )


@lru_cache(maxsize=1024)
def _owned(session_id: str) -> Session:
    """Return the local owner's session of this id; cached, since sessions are immutable and reused often."""
    if not valid_session_id(session_id):
        raise _bad_session(session_id)
    return Session(session_id=session_id)


def _bad_session(session_id: str) -> ConfigError:
    message = f"{session_id!r:.60} cannot be a session id: letters, digits, dot, dash, underscore"
    return ConfigError(message, code="session_id_invalid")


def plain_args(args: Mapping[str, Any] | None) -> Any:
    """Return a mapping as a dict and no arguments as `{}`; anything else is passed on for admit to refuse."""
    if args is None:
        return {}
    return dict(args) if isinstance(args, Mapping) else args


def report(parts: Parts, receipt_id: str, result: Any) -> str:
    """Record the result that a client reports and return the receipt's id; the gate does not verify the result.

    Raises:
        LedgerError: The receipt does not exist, its call was not handed back, or the result is not JSON.
    """
    handed = parts.ledger.find(receipt_id)
    if handed is None:
        raise LedgerError(f"There is no valid receipt {receipt_id:.60}.", code="receipt_unknown")
    if not (handed.header.get("outcome") or {}).get("handed_back"):
        raise LedgerError(f"{receipt_id} is no call that was handed back to a client.", code="not_handed_back")
    try:
        output = to_output(result)
    except NotJsonError:
        raise LedgerError("What is reported must be JSON.", code="result_not_json") from None
    draft = Draft(
        kind="report",
        session=session_of(handed.header),
        tool_id=handed.header.get("tool_id"),
        tool_version=handed.header.get("tool_version"),
        outcome={"status": "reported"},
        links={"outcome": receipt_id},
        outputs=output.data,
    )
    return parts.ledger.record_sync(draft).receipt_id
