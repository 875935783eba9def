"""The gate's tools for one agent of another framework: what it is offered, and the results of its calls.

    langgraph          LangGraph, LangChain     pip install 'tallystick[langgraph]'
    openai_agents      OpenAI Agents SDK        pip install 'tallystick[agents]'
    pydantic_ai        Pydantic AI              pip install 'tallystick[pydantic_ai]'
    openai_functions   plain OpenAI function calling; needs nothing besides

Each of these modules turns `Governed` into what its framework calls a tool; `guard_tools` does it for functions.
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
"""Of one call, as the model wrote them."""
_MAX_NAME = 100


@record
class Offer:
    """One tool, as a model is told of it."""

    name: str
    """Letters, digits, `_` and `-`: a dot in the tool's id is shown as `__`."""
    description: str
    schema: dict[str, Any]


@record
class CallAnswer:
    """What came of one call."""

    outcome: Outcome
    refusal: Refusal | None
    """None: the tool ran, and its result stands."""

    @property
    def text(self) -> str:
        """For the model: the result, or the code and what to do."""
        if self.refusal is not None:
            return self.refusal.text
        value = self.outcome.result
        return value if isinstance(value, str) else orjson.dumps(value).decode()


AGENT = "agent"
"""Who calls, if nobody says."""


class Governed:
    """What one agent may call. All its calls leave their receipts in one session."""

    def __init__(
        self,
        gate: Gate,
        *,
        session: str,
        agent: str = AGENT,
        only: Iterable[str] | None = None,
        caller: Caller = LOCAL_OWNER,
    ) -> None:
        """Put the gate under an agent.

        Args:
            gate: The open workspace.
            session: The session of its receipts.
            agent: The agent's name in them. A model stands behind this door, so there always is one: what it says must
                not count as its owner's word.
            only: The tools it may call, by id; all registered ones if not given. Others are refused, not only hidden.
            caller: On whose behalf it calls.
        """
        self._gate = gate
        self._session = Session(session_id=session, agent_id=agent, caller=caller)
        self._only = None if only is None else frozenset(only)
        self._portal = Portal()
        weakref.finalize(self, self._portal.close)

    def offers(self) -> tuple[Offer, ...]:
        """The tools, as they are now."""
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
            name: As the tool was offered, or its id.
            arguments: An object, or the JSON text of one as the model wrote it.
        """
        tool_id = names_of(self._gate).meant(name)
        args = _read(arguments) if isinstance(arguments, str) else arguments
        if isinstance(args, Rejection):
            refused = replace(args, proposed_tool=tool_id[:_MAX_NAME])
            outcome = await self._gate.refuse(refused, _written(arguments), session=self._session)
        else:
            outcome = await self._gate.call(tool_id, args, session=self._session, allowed_tools=self._only)
        return CallAnswer(outcome=outcome, refusal=refusal_of(outcome, self._gate.workspace))

    def call_sync(self, name: str, arguments: Mapping[str, Any] | str) -> CallAnswer:
        """`call` without `await`; inside a running loop too."""
        return self._portal.run(self.call(name, arguments))


class GuardOptions(TypedDict, total=False):
    """Keyword arguments of `guard_tools`; what each means stands at `Governed`."""

    session: str
    agent: str
    caller: Caller


def guard(gate: Gate, tools: Iterable[Callable[..., Any]], **options: Unpack[GuardOptions]) -> Governed:
    """Put functions behind the gate for one agent, which may call these and no others.

    Args:
        gate: The open workspace.
        tools: Typed functions, decorated with `@tool` or not (then they count as `write`). Those that the gate does not
            have are registered.
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
    """A model's text, read as strictly as everywhere else. No arguments at all is a way to say none."""
    try:
        data = arguments.encode()
    except UnicodeEncodeError:
        return refuse(LONE_SURROGATE)
    return parse_json_object(data, MAX_ARGUMENT_BYTES) if data.strip() else {}


def _written(arguments: Mapping[str, Any] | str) -> bytes:
    return str(arguments).encode(errors="backslashreplace")
