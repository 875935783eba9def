"""Expose the gate's tools to an agent of another framework and run its calls.

    langgraph          LangGraph, LangChain     pip install 'tallystick[langgraph]'
    openai_agents      OpenAI Agents SDK        pip install 'tallystick[agents]'
    pydantic_ai        Pydantic AI              pip install 'tallystick[pydantic_ai]'
    openai_functions   plain OpenAI function calling; no further requirements

Each of these modules converts `Governed` into the tools of its framework; `guard_tools` does it for plain functions.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

import orjson
from typing_extensions import Unpack

from tallystick.app.calls import SESSION
from tallystick.app.gate import Gate
from tallystick.doors.presentation.names import names_of
from tallystick.doors.presentation.refusals import Refusal, refusal_of
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import LONE_SURROGATE, parse_json_object, refuse
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import LOCAL_OWNER, Caller, Session
from tallystick.records import record
from tallystick.turns.portal import Portal

MAX_ARGUMENT_BYTES = 1024 * 1024
"""Maximum size of one call's arguments as JSON text."""
_MAX_NAME = 100


@record
class Offer:
    """One tool as offered to a model."""

    name: str
    """Letters, digits, `_` and `-`; a dot in the tool's id becomes `__`."""
    description: str
    schema: dict[str, Any]


@record
class CallAnswer:
    """The result of one call."""

    outcome: Outcome
    refusal: Refusal | None
    """None if the tool ran successfully."""

    @property
    def text(self) -> str:
        """The text for the model: the result, or the code and what to do."""
        if self.refusal is not None:
            return self.refusal.text
        value = self.outcome.result
        return value if isinstance(value, str) else orjson.dumps(value).decode()


AGENT = "agent"
"""The default agent name."""


class Governed:
    """The tools that one agent may call. The receipts of all its calls belong to one session."""

    def __init__(
        self,
        gate: Gate,
        *,
        session: str,
        agent: str = AGENT,
        only: Iterable[str] | None = None,
        caller: Caller = LOCAL_OWNER,
    ) -> None:
        """Bind an agent to the gate.

        Args:
            gate: The open workspace.
            session: The session of the receipts.
            agent: The agent's name in the receipts. It is never empty, because the calls come from a model and must
                not count as the owner's own.
            only: The ids of the tools it may call; all registered tools if not given. Others are refused, not just
                hidden.
            caller: On whose behalf it calls.
        """
        self._gate = gate
        self._session = Session(session_id=session, agent_id=agent, caller=caller)
        self._only = None if only is None else frozenset(only)
        self._portal = Portal()
        weakref.finalize(self, self._portal.close)

    def offers(self) -> tuple[Offer, ...]:
        """Return the tools that are currently registered and allowed."""
        names = names_of(self._gate)
        cards = [card for card in self._gate.tools() if self._only is None or card.name in self._only]
        return tuple(
            Offer(
                name=names.shown(card.name),
                description=card.description,
                schema={"type": "object", "properties": {}, **card.input_schema},
            )
            for card in cards
        )

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> CallAnswer:
        """Propose one call.

        Args:
            name: The tool's offered name or its id.
            arguments: An object, or the model's JSON text of one.
        """
        tool_id = names_of(self._gate).meant(name)
        args = _read(arguments) if isinstance(arguments, str) else arguments
        if isinstance(args, Rejection):
            refused = replace(args, proposed_tool=tool_id[:_MAX_NAME])
            outcome = await self._gate.refuse(refused, _written(arguments), session=self._session)
        else:
            outcome = await self._gate.call(tool_id, args, session=self._session, allowed_tools=self._only)
        return CallAnswer(outcome=outcome, refusal=refusal_of(outcome, self._gate))

    def call_sync(self, name: str, arguments: Mapping[str, Any] | str) -> CallAnswer:
        """Blocking form of `call`; also works inside a running event loop."""
        return self._portal.run(self.call(name, arguments))


class GuardOptions(TypedDict, total=False):
    """Keyword arguments of `guard_tools`; see `Governed` for their meaning."""

    session: str
    agent: str
    caller: Caller


def guard(gate: Gate, tools: Iterable[Callable[..., Any]], **options: Unpack[GuardOptions]) -> Governed:
    """Put functions behind the gate for one agent, which may call only these.

    Args:
        gate: The open workspace.
        tools: Typed functions, decorated with `@tool` or not (then their effect is `write`). Unregistered ones are
            registered.
        options: The session of the receipts, the agent's name in them, and on whose behalf it calls.

    Raises:
        RegistrationError: A function has no schema, or its name is taken.
    """
    given = tuple(tools)
    gate.register(*(function for function in given if gate.registered_name(function) is None))
    names = [name for function in given if (name := gate.registered_name(function)) is not None]
    return Governed(
        gate,
        session=options.get("session", SESSION),
        agent=options.get("agent", AGENT),
        only=names,
        caller=options.get("caller", LOCAL_OWNER),
    )


def _read(arguments: str) -> dict[str, Any] | Rejection:
    """Parse a model's arguments with the strict JSON parser; empty text means no arguments."""
    try:
        data = arguments.encode()
    except UnicodeEncodeError:
        return refuse(LONE_SURROGATE)
    return parse_json_object(data, MAX_ARGUMENT_BYTES) if data.strip() else {}


def _written(arguments: Mapping[str, Any] | str) -> bytes:
    return str(arguments).encode(errors="backslashreplace")
