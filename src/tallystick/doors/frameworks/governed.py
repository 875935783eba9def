"""The gate's tools for one agent of another framework: what it is offered, and what comes of its calls."""

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

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
class Answer:
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

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> Answer:
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
        return Answer(outcome=outcome, refusal=refusal_of(outcome, self._gate.workspace))

    def call_sync(self, name: str, arguments: Mapping[str, Any] | str) -> Answer:
        """`call` without `await`; inside a running loop too."""
        return self._portal.run(self.call(name, arguments))


def _read(arguments: str) -> dict[str, Any] | Rejection:
    """A model's text, read as strictly as everywhere else. No arguments at all is a way to say none."""
    try:
        data = arguments.encode()
    except UnicodeEncodeError:
        return refuse(LONE_SURROGATE)
    return parse_json_object(data, MAX_ARGUMENT_BYTES) if data.strip() else {}


def _written(arguments: Mapping[str, Any] | str) -> bytes:
    return str(arguments).encode(errors="backslashreplace")
