"""Call tools and check replies: the part of the gate that every program uses."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, overload
from weakref import WeakValueDictionary

from typing_extensions import Unpack

from tallystick.app.batch import Asked, call_many
from tallystick.app.replies import ReplyChecks
from tallystick.app.resume import resume
from tallystick.app.sessions import plain_args, session_for, standing_in
from tallystick.app.tool_names import ToolNames
from tallystick.app.wiring import Parts
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.options import ReplyOptions
from tallystick.gate.session import Caller, Session
from tallystick.turns.portal import Portal
from tallystick.turns.turn import Turn

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
