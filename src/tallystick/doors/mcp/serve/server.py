"""`tally mcp serve`: the registry's tools for MCP clients, with every call through the gate and receipts as resources.

    tools/list       the cards, under names that are valid for clients
    tools/call       gate.call; a refusal is a result with isError, its code first; a held call waits a while
    resources/*      receipts
    completion       ids for the resource templates
    list changes     sent to every client that listed tools, and on the streams of the newest protocol revision

The official SDK implements the protocol; `stdio.py` and `http.py` add its transports.
"""

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

import tallystick
from tallystick.app.gate import Gate
from tallystick.doors.mcp import held_calls
from tallystick.doors.mcp.answers import WITH_SESSION
from tallystick.doors.mcp.serve.caller import Visit, visit_of
from tallystick.doors.mcp.serve.resources import TEMPLATES, complete, list_resources, read_resource, session_uri
from tallystick.doors.mcp.serve.tools import error_of, offer_of, result_of
from tallystick.doors.presentation.approval_wait import WAIT_S, settled
from tallystick.doors.presentation.names import names_of
from tallystick.doors.presentation.refusals import refusal_of
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS
from tallystick.gate.execute.call import current_call
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.progress import LISTENER, Progress
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.gate.session import Session
from tallystick.gate.tool import Tool, tool

Ctx = ServerRequestContext[Any, Any]

CALM_S = 0.05
"""Seconds within which several registry changes are announced as one."""
TELL_S = 5.0
"""Maximum seconds to wait for a client that does not read."""
MOST_CLIENTS = 1024
"""Maximum clients that are notified of changes; the one that listed tools longest ago is dropped first."""
INSTRUCTIONS = (
    "Every call is checked, decided by policy and recorded. A result with isError names a code: fix the call, or where "
    "it says approval_required let a person run the command it names and make the same call again. The receipt of a "
    "call is in _meta under tallystick/receipt and can be read at tally://receipts/{receipt_id}."
)
_log = logging.getLogger("tallystick.mcp")


class Serving:
    """Serves one gate to MCP clients."""

    def __init__(self, gate: Gate, *, session_id: str, wait_s: float = WAIT_S, show_receipts: bool = False) -> None:
        """Register the built-in tools.

        Args:
            gate: The open workspace.
            session_id: The session id of a connection that is a single session.
            wait_s: Seconds that a held call waits for approval.
            show_receipts: Also put the receipt's id in the text of results, for models that cite it.
        """
        register_own(gate)
        self._gate = gate
        self._session_id = session_id
        self._wait_s = wait_s
        self._show_receipts = show_receipts
        self._bus = InMemorySubscriptionBus()
        self._clients: OrderedDict[str, ServerSession] = OrderedDict()

    def server(self) -> Server[None]:
        """Return the SDK's server with our handlers."""
        return _Server(
            "tallystick",
            version=tallystick.__version__,
            title="Tallystick",
            instructions=INSTRUCTIONS,
            lifespan=self._while_served,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_completion=self.complete,
            on_list_prompts=_no_prompts,
            on_get_prompt=_no_such_prompt,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    # -- tools ---------------------------------------------------------------------------------------------------------

    async def list_tools(self, ctx: Ctx, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List all tools: a registry fits on one page."""
        visit = self._visit(ctx)
        self._clients[visit.session.session_id] = ctx.session
        self._clients.move_to_end(visit.session.session_id)
        while len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        names = names_of(self._gate)
        return types.ListToolsResult(tools=[offer_of(card, names.shown(card.name)).tool for card in self._gate.tools()])

    async def call_tool(
        self, ctx: Ctx, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Send one call through the gate; a held call asks the client's user, or waits for approval."""
        visit, name = self._visit(ctx), params.name
        # Only a name with underscores can stand for another; most calls skip the lookup.
        tool_id = names_of(self._gate).meant(name) if "_" in name else name
        async with heard(ctx):
            state = held_calls.own_state({held_calls.STATE: params.request_state})
            if state is None:
                outcome = await self._gate.call(tool_id, params.arguments or {}, session=visit.session)
                if outcome.held is not None and _takes_forms(ctx):
                    return await self._ask(outcome, visit, params)
            else:
                outcome = await self._continued(state, visit, params)
            outcome = await settled(
                self._gate, outcome, caller=visit.caller, wait_s=self._wait_s, tell=self._say_that_it_waits
            )
        await self._bus.publish(ResourceUpdated(uri=session_uri(visit.session.session_id)))
        refusal = refusal_of(outcome, self._gate)
        if refusal is not None:
            return error_of(refusal)
        card = next((card for card in self._gate.tools() if card.name == outcome.tool), None)
        offer = None if card is None else offer_of(card, names_of(self._gate).shown(card.name))
        return result_of(outcome, offer, show_receipt=self._show_receipts)

    async def _ask(
        self, outcome: Outcome, visit: Visit, params: types.CallToolRequestParams
    ) -> types.InputRequiredResult:
        """Return the form that tells the client's user how to approve a held call."""
        refusal, held = refusal_of(outcome, self._gate), outcome.held
        assert refusal is not None and held is not None  # noqa: S101, PT018 - the call is held
        states = await asyncio.to_thread(held_calls.RequestStates, self._gate.workspace)
        form = held_calls.waiting_form(params.name, refusal.approve or "")
        result = held_calls.input_required(form, states.seal(held, _call(visit, params), {}))
        return types.InputRequiredResult.model_validate(result)

    async def _continued(self, state: str, visit: Visit, params: types.CallToolRequestParams) -> Outcome:
        """Continue a held call that the client makes again after the form."""
        states = await asyncio.to_thread(held_calls.RequestStates, self._gate.workspace)
        held = states.read(state, _call(visit, params))
        if held is None:
            rejection = Rejection(fault=BAD_ARGS, reason=held_calls.INVALID_STATE)
            return await self._gate.refuse(rejection, params.name, session=visit.session)
        return await self._gate.resume(held.approval_id, caller=visit.caller)

    async def _say_that_it_waits(self, outcome: Outcome) -> None:
        """Send the approval command as progress, so that the user sees it before the wait ends."""
        refusal, listener = refusal_of(outcome, self._gate), LISTENER.get()
        if refusal is not None and listener is not None:
            listener(Progress(done=0, message=f"Waits for a person: {refusal.approve}"))

    # -- receipts ------------------------------------------------------------------------------------------------------

    async def list_resources(self, ctx: Ctx, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Return one page of sessions."""
        cursor = None if params is None else params.cursor
        return await asyncio.to_thread(list_resources, self._gate.ledger, self._visit(ctx), cursor)

    async def list_templates(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the URI templates of receipts."""
        return types.ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return a receipt, the receipts of a session, or a proof."""
        return await asyncio.to_thread(read_resource, self._gate.ledger, self._visit(ctx), str(params.uri))

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return ids for the templates."""
        return await asyncio.to_thread(complete, self._gate.ledger, self._visit(ctx), params)

    # -- changes -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _while_served(self, _server: Server[None]) -> AsyncIterator[None]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        # A tool may be registered from any thread.
        end = self._gate.watch_tools(lambda: _wake(loop, changed))
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._tell_changes, changed)
                yield
                group.cancel_scope.cancel()
        finally:
            end()

    async def _tell_changes(self, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            await asyncio.sleep(CALM_S)
            changed.clear()
            await self._bus.publish(ToolsListChanged())
            for session_id, client in tuple(self._clients.items()):
                await self._tell(session_id, client)

    async def _tell(self, session_id: str, client: ServerSession) -> None:
        try:
            with anyio.fail_after(TELL_S):
                await client.send_tool_list_changed()
        except Exception:  # noqa: BLE001 - a closed transport may raise any exception
            _log.debug("a client could not be told of new tools")
            self._clients.pop(session_id, None)

    def _visit(self, ctx: Ctx) -> Visit:
        return visit_of(ctx, session_id=self._session_id)


def _takes_forms(ctx: Ctx) -> bool:
    """Return whether the client takes a form as the result of a call: it declares forms, and has no session."""
    can = ctx.session.client_capabilities
    elicits = None if can is None else can.elicitation
    return (
        ctx.protocol_version not in WITH_SESSION
        and elicits is not None
        and (elicits.url is None or elicits.form is not None)
    )


def _call(visit: Visit, params: types.CallToolRequestParams) -> held_calls.Call:
    return visit.caller.subject, params.name, params.arguments


async def _no_prompts(_ctx: Ctx, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """Return an empty list: there are no prompts, and clients that ask anyway should not get an error."""
    return types.ListPromptsResult(prompts=[])


async def _no_such_prompt(_ctx: Ctx, _params: types.GetPromptRequestParams) -> types.GetPromptResult:
    raise MCPError(types.INVALID_PARAMS, "there are no prompts here")


class _Server(Server[None]):
    """Announces tool list changes as a capability on every transport."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True), experimental_capabilities, extensions
        )


def _wake(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    loop.call_soon_threadsafe(changed.set)


VERIFY_S = 600.0
"""Verifying a million receipts takes about a minute on a slow disk."""
PROBLEMS_SHOWN = 20
PREFIX = "tally."
"""Prefix of the built-in names if the workspace has tools with the same names."""


def register_own(gate: Gate) -> None:
    """Register both tools; the workspace's own tools keep their names."""
    taken = {card.name for card in gate.tools()}
    for make in (_verify, _evidence_check):
        plain = make.__name__.removeprefix("_")
        name = f"{PREFIX}{plain}" if plain in taken else plain
        if name not in taken:
            gate.register(make(gate, name))


def _verify(gate: Gate, name: str) -> Tool:
    @tool(name=name, effect="read", roles=AUDIT_ROLES, timeout_s=VERIFY_S)
    def verify(receipt_id: str | None = None) -> dict[str, Any]:
        """Verify the ledger: every signature, the chain, the tree, the checkpoints. With receipt_id: that receipt."""
        if receipt_id is not None:
            proof = gate.ledger.prove(receipt_id)
            known = {"receipt_id": receipt_id, "ok": proof is not None}
            return known if proof is None else {**known, "proof": proof.as_dict()}
        report = gate.verify(gate.workspace)
        return {
            "ok": report.ok,
            "size": report.size,
            "root": report.root,
            "proved_up_to": report.proved_up_to,
            "problems": [problem.as_dict() for problem in report.problems[:PROBLEMS_SHOWN]],
        }

    return verify


def _evidence_check(gate: Gate, name: str) -> Tool:
    @tool(name=name, effect="read", roles=EVERY_ROLE)
    def evidence_check(reply: str, agent: str | None = None) -> dict[str, Any]:
        """Check what a reply claims: every quote, line, absence and receipt it cites must be there.

        The reply ends with a line like: Evidence: "quoted words" path/file.md:L12, or cites receipts of this session.
        """
        call = current_call()
        session = Session(session_id="mcp") if call is None else call.session
        return gate.check_reply(reply, session=session, agent=agent).as_dict()

    return evidence_check


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
