"""Calling tools and checking replies: the part of the gate that every program uses."""

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
"""The session of calls that name none."""

T = TypeVar("T")


class CallOptions(TypedDict, total=False):
    """Keyword arguments of `Gate.call` and `Gate.call_sync`; what each means stands at `call`."""

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
        """Propose one call and see what comes of it.

        Args:
            tool: The tool's id; or the registered function itself, whose result type `unwrap` then gives.
            args: Its arguments, as JSON data.
            session: The session the receipt belongs to: its id, or a `Session` that also names agent, task, run, ….
            caller: Who calls, if not the local owner.
            dry_run: Ask the tool to change nothing (only where it offers that).
            allowed_tools: Closes the world further for this call.
            authenticated: False: auth is on and no valid token came.
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
        """Propose several calls at once, each with receipts of its own; what comes of each, in order.

        None sees what another of them does: calls that build on others come after those.
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
        """`call` for scripts; works inside a running loop too."""
        return self._portal.run(self.call(tool, args, **options))

    async def refuse(
        self, rejection: Rejection, text: str | bytes, *, session: str | Session = SESSION, caller: Caller | None = None
    ) -> Outcome:
        """Record what a door refused before there was a proposal."""
        return await self._pipeline.refuse(rejection, text, CallContext(session=session_for(session, caller)))

    async def resume(self, approval_id: str, *, caller: Caller | None = None) -> Outcome:
        """Run a held call that a person let through, as a submission of its own; once.

        Args:
            approval_id: The held call.
            caller: The caller with their present roles, if those may have changed since the call was held.
        """
        return await resume(self._parts, self._turns, approval_id, caller)

    def resume_sync(self, approval_id: str, *, caller: Caller | None = None) -> Outcome:
        """`resume` for scripts."""
        return self._portal.run(self.resume(approval_id, caller=caller))

    def check_reply(
        self, reply: str, *, session: str | Session = SESSION, agent: str | None = None, **options: Unpack[ReplyOptions]
    ) -> Findings:
        """Check what a reply claims, and leave a `reply_check` receipt. `ReplyOptions` names the other arguments."""
        return self._replies.check(reply, session_for(session, None, agent=agent), **options)
