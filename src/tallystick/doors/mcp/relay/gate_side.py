"""The gate's side of the relay: every call is a proposal, every response gets a receipt.

Loaded while the server starts; forwarding other messages does not need it.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from tallystick.app.gate import Gate
from tallystick.doors.mcp import answers, jsonrpc
from tallystick.doors.mcp.held_calls import INVALID_STATE, own_state
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.relay.answers import CHANGED, FAULTS, NEW, held_text, meta_of, refusal_text
from tallystick.doors.mcp.relay.approval_wait import ApprovalWait
from tallystick.doors.mcp.relay.default_policy import relay_settings, starting_policy, write_policy
from tallystick.doors.mcp.relay.messages import (
    SERVED,
    SHARED_CLIENT,
    CallCounters,
    RelayedCall,
    ServerGoneError,
    TooLongError,
    UnreadableError,
    Wires,
)
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.mcp.relay.refused_messages import BATCH, CANCELLED_EARLY
from tallystick.doors.mcp.relay.tools import CALLER, ServerTools, list_all, refresh
from tallystick.errors import TallyError, ToolError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import CANCELLED, FORMAT, MULTIPLE
from tallystick.gate.decide.approvals import OUTDATED
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.settings import CONFIG_NAME

Signature = tuple[int, int] | None
"""Time of the last change and size of a file; None if it is not there."""
LONGEST_NAME = 64
OTHER_GREETING = (
    "what the server says about itself (`instructions`) is not what it was; to see it: tally mcp review --workspace"
)


class GateKeeper:
    """Sends calls through the gate of one workspace."""

    def __init__(self, wrapping: Wrapping, wires: Wires, session_id: str) -> None:
        """Open the workspace; on the first connection this waits until the server has listed its tools.

        Raises:
            ConfigError: The configuration cannot be used.
            LedgerError: The journal cannot be used.
        """
        self.tally = CallCounters()
        self._wrapping = wrapping
        self._wires = wires
        self._session_id = session_id
        self._session: Session | None = None
        self._lock = asyncio.Lock()
        self._gate: Gate | None = None
        self._tools: ServerTools | None = None
        self._greeted = False
        self._met: tuple[Gate, ServerTools] | None = None
        """Gate and tools, set once nothing else has to be prepared before a call."""
        self._running: Counter[Gate] = Counter()
        """Calls under way, by the gate that decided about them."""
        self._policy_seen: Signature = None
        if wrapping.policy is not None or _workspace(wrapping).joinpath(CONFIG_NAME).exists():
            self._open()

    def close(self) -> None:
        """Close the gate, which writes the last checkpoint."""
        for gate in {self._gate, *self._running}:
            if gate is not None:
                gate.close()

    def changed(self) -> None:
        """Mark the tool list as stale, because the server announced a change."""
        if self._tools is not None:
            self._tools.stale = True

    async def listed(self, line: bytes, message: Message, request: Message) -> bytes:
        """Compare a tool list with the pins and remove tools that differ, before the client gets it."""
        _, tools = await self._ready(_own_meta(request))
        result = message.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return line
        whole = not answers.params_of(request).get("cursor") and not result.get("nextCursor")
        async with self._lock:
            hidden = await asyncio.to_thread(tools.take, result["tools"], whole=whole)
        if self._wrapping.gateway:
            # A strict client drops the whole list, and so all servers, for one definition that cannot be used.
            hidden |= frozenset(tools.unusable)
        if not hidden:
            return line
        shown = [one for one in result["tools"] if not (isinstance(one, dict) and _named_in(one, hidden))]
        return answers.with_tools(request, message, shown)

    async def answer(self, asked: RelayedCall) -> bytes:
        """Send one call through the gate and return the response line."""
        self.tally.calls += 1
        if self._gate is not None and _signature(self._policy_file) != self._policy_seen:
            await self._read_policy_again(_own_meta(asked.message))
        gate, tools = self._met or await self._ready(_own_meta(asked.message))
        self._running[gate] += 1
        try:
            return await self._answer(asked, gate, tools)
        finally:
            self._running[gate] -= 1
            if not self._running[gate]:
                del self._running[gate]
                if gate is not self._gate:
                    await asyncio.to_thread(gate.close)

    async def _answer(self, asked: RelayedCall, gate: Gate, tools: ServerTools) -> bytes:
        params = asked.params
        name = params.get("name")
        if isinstance(name, str) and not tools.knows(name):
            async with self._lock:
                await refresh(tools, self._wires, _own_meta(asked.message))
        session = self._session_of(asked)
        args = params.get("arguments")
        asked.decided = True
        wrong = tools.wrong_with(name, args) if isinstance(name, str) else None
        if wrong is not None:
            return await self._refuse_call(asked, str(name), wrong, gate, tools)
        SERVED.set(asked)
        # Admit refuses a name that is not a string.
        called: Any = self._wrapping.tool_id(name) if isinstance(name, str) else name
        given: Any = {} if args is None else args
        if own_state(params) is not None:
            held = await self._waiting(gate).continued(asked)
            if held is None:
                return await self._refuse_call(asked, str(name), INVALID_STATE, gate, tools)
            if held.rejection is None or held.rejection.reason != OUTDATED.reason:
                return self._told(asked, held)
            # The policy has changed since: the call is decided by what it says now.
        outcome = await gate.call(called, given, session=session)
        if outcome.held is not None:
            self.tally.held += 1
            waiting = self._waiting(gate)
            if waiting.asks_in_result(asked):
                return await waiting.ask(asked, outcome.held)
            outcome = await waiting.until_answered(asked, outcome, called, given, session)
        return self._told(asked, outcome)

    def _waiting(self, gate: Gate) -> ApprovalWait:
        return ApprovalWait(gate, self._wires, self._wrapping.hold_s)

    async def refused(self, text: bytes, reason: str) -> None:
        """Record a message that was refused before it became a call."""
        self.tally.refused += 1
        fault = {BATCH: MULTIPLE, CANCELLED_EARLY: CANCELLED}.get(reason, FORMAT)
        rejection = Rejection(fault=fault, reason=reason)
        if self._gate is None:
            async with self._lock:
                if self._gate is None:
                    # The server has not listed its tools, so there is no policy yet; a receipt needs none.
                    early = await asyncio.to_thread(self._open_gate)
                    try:
                        await self._record_refusal(early, rejection, text)
                    finally:
                        await asyncio.to_thread(early.close)
                    return
        await self._record_refusal(self._gate, rejection, text)

    async def _record_refusal(self, gate: Gate, rejection: Rejection, text: bytes) -> None:
        outcome = await gate.refuse(rejection, text, session=self._session or self._here())
        if outcome.failure is not None:
            self._wires.note(f"a refused message could not be recorded: {outcome.failure.message}")

    async def serve(self, **args: Any) -> Any:
        """Handle every relayed tool: forward the call and return the result unchanged."""
        asked = SERVED.get()
        same = args == (asked.params.get("arguments") or {})
        line = asked.line if same else jsonrpc.with_arguments(asked.message, args)
        try:
            answer, message = await self._wires.forward(asked, line)
        except TooLongError as error:
            raise ToolError(f"the server's answer has {error} bytes, more than it may") from None
        except UnreadableError:
            raise ToolError("the server's answer cannot be kept: half a character, or a number that is none") from None
        except ServerGoneError:
            raise ToolError("the server ended before it answered") from None
        asked.answer = answer
        if "result" not in message:
            asked.server_error = True
            raise ToolError(f"the server answered with a JSON-RPC error ({_error_code(message)})")
        # A fragment is recorded byte for byte, and checked by its parsed value.
        return orjson.Fragment(jsonrpc.result_bytes(answer, message))

    async def _ready(self, meta: Message) -> tuple[Gate, ServerTools]:
        if self._gate is None or self._tools is None:
            async with self._lock:
                if self._gate is None:
                    definitions = await list_all(self._wires, meta)
                    await asyncio.to_thread(self._begin, definitions)
        assert self._gate is not None and self._tools is not None  # noqa: S101, PT018 - both are set together
        if not self._tools.met:
            async with self._lock:
                if not self._tools.met:
                    # Pin the complete list first: the client may only request one page at a time.
                    await refresh(self._tools, self._wires, meta)
        if not self._greeted and self._wires.instructions is not None:
            self._greeted = True
            if not await asyncio.to_thread(self._tools.greet, self._wires.instructions):
                self._wires.note(f"{OTHER_GREETING} {self._wrapping.typed_workspace}", always=True)
        if self._greeted and self._tools.met:
            self._met = self._gate, self._tools
        return self._gate, self._tools

    def _begin(self, definitions: list[Any]) -> None:
        """On the first connection, write the policy from the server's tools and open the gate with it."""
        known = [one for one in definitions if isinstance(one, dict)]
        write_policy(_workspace(self._wrapping), self._first_policy(known))
        self._open()
        if self._tools is not None:
            self._tools.take(definitions, whole=True)

    def _first_policy(self, known: list[Message]) -> str:
        return starting_policy(self._wrapping, known, workspace=_workspace(self._wrapping))

    def _open(self) -> None:
        self._policy_seen = _signature(self._policy_file)
        gate = self._open_gate()
        self._tools = ServerTools(gate, self._wrapping, self.serve)
        self._gate = gate

    @property
    def _policy_file(self) -> Path:
        policy = self._wrapping.policy
        return _workspace(self._wrapping) / CONFIG_NAME if policy is None else _path(policy)

    async def _read_policy_again(self, meta: Message) -> None:
        """Take up a changed policy for the calls that follow; one that cannot be used changes nothing."""
        async with self._lock:
            seen = _signature(self._policy_file)
            if seen == self._policy_seen:
                return
            self._policy_seen = seen
            gate = None
            try:
                gate = await asyncio.to_thread(self._open_gate)
                tools = ServerTools(gate, self._wrapping, self.serve)
                await refresh(tools, self._wires, meta)
            except TallyError as error:
                self._wires.note(f"the policy stays as it was: {error}", always=True)
                unused = gate
            else:
                before, self._gate, self._tools, self._met = self._gate, gate, tools, None
                # A gate that still has calls under way is closed by the last of them.
                unused = None if before in self._running else before
            if unused is not None:
                await asyncio.to_thread(unused.close)

    def _open_gate(self) -> Gate:
        workspace = _workspace(self._wrapping)
        policy = self._wrapping.policy
        settings = relay_settings(workspace, None if policy is None else _path(policy))
        gate = Gate.open(workspace, settings=settings, plugins=False)
        gate.ledger.ack_after_fsync()
        return gate

    def _session_of(self, asked: RelayedCall) -> Session:
        client = answers.meta_of(asked.message).get(SHARED_CLIENT) if self._wrapping.port is not None else None
        if isinstance(client, dict):
            ident = f"{self._session_id}-{client['session']}" if client["session"] else self._session_id
            agent = "".join(filter(str.isprintable, client["name"]))[:LONGEST_NAME] or None
            return Session(session_id=ident, caller=CALLER, agent_id=agent)
        if self._session is None:
            self._session = self._here()
        return self._session

    def _here(self) -> Session:
        agent = (self._wires.client_name or "")[:LONGEST_NAME] or None
        return Session(session_id=self._session_id, caller=CALLER, agent_id=agent)

    async def _refuse_call(self, asked: RelayedCall, name: str, wrong: str, gate: Gate, tools: ServerTools) -> bytes:
        """Record and answer a call that is refused before policy is evaluated."""
        new = wrong == CHANGED and await asyncio.to_thread(tools.is_new, name)
        text = refusal_text(NEW if new else wrong, name, tools.unusable.get(name, ""), self._wrapping)
        # An id that no other tool can have: characters that ids do not allow are written as numbers.
        called = self._wrapping.tool_id(name)[:100]
        rejection = Rejection(fault=FAULTS[wrong], reason=NEW if new else wrong, proposed_tool=called)
        outcome = await gate.refuse(rejection, asked.line, session=self._session_of(asked))
        self.tally.refused += 1
        return answers.tool_error(asked.message, f"Tallystick: {text}", meta_of(outcome))

    def _told(self, asked: RelayedCall, outcome: Outcome) -> bytes:
        """Return the response line for the client: the server's own, or the reason why there is none."""
        if asked.answer is not None and (outcome.ok or (asked.server_error and _is_tools_fault(outcome))):
            self.tally.failed += asked.server_error
            return asked.answer
        if outcome.held is not None:
            text = held_text(outcome.held.approval_id, outcome.held.expires_at, _workspace(self._wrapping))
        elif outcome.rejection is not None:
            self.tally.refused += 1
            at = f" at {outcome.rejection.pointer}" if outcome.rejection.pointer else ""
            text = f"refused ({outcome.rejection.code}): {outcome.rejection.reason}{at}"
        else:
            self.tally.failed += 1
            failure = outcome.failure
            text = f"failed ({failure.fault.category}): {failure.message}" if failure else "failed"
        told = f"Tallystick: {text}\nReceipt: {outcome.receipt_id or 'none'}"
        return answers.tool_error(asked.message, told, meta_of(outcome))


def _named_in(definition: Message, names: frozenset[str]) -> bool:
    name = definition.get("name")
    return isinstance(name, str) and name in names


def _is_tools_fault(outcome: Outcome) -> bool:
    return outcome.failure is not None and outcome.failure.fault.ran


def _own_meta(request: Message) -> Message:
    """Return the client's `_meta` for the relay's own requests, without the progress token."""
    own = {"progressToken", SHARED_CLIENT}
    return {key: value for key, value in answers.meta_of(request).items() if key not in own}


def _error_code(message: Message) -> str:
    error = message.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return str(code) if type(code) is int else "no code"


def _signature(path: Path) -> Signature:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _path(name: str) -> Path:
    return Path(name).expanduser()


def _workspace(wrapping: Wrapping) -> Path:
    return _path(wrapping.workspace)
