"""A model that says what a test wrote down, and everything a turn of it needs."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from tallystick import Gate
from tallystick.gate.reply.findings import Findings
from tallystick.turns.agent import Agent
from tallystick.turns.loop import Request, TurnResult, run_turn
from tallystick.turns.model import Ask, Message, ModelError, NativeCall, Said, Usage
from tallystick.turns.turn import Turn

AGENT = Agent(
    agent_id="clerk", name="The Clerk", role="clerk", purpose="Answers from the log.",
    owns=("the log", "the book of hours"), must_not=("guess",), evidence_sources=("log.md",),
    abstain_when="the question is not about the log",
)  # fmt: skip

Answer = str | Said | ModelError | BaseException | Callable[[Ask], "str | Said | ModelError"]


class Scripted:
    """Says one answer after the other, and remembers what it was asked."""

    provider, name = "scripted", "script-1"

    def __init__(self, *answers: Answer, speech: str = "envelope") -> None:
        self.speech: Any = speech
        self.asked: list[Ask] = []
        self._answers = list(answers)

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        self.asked.append(ask)
        await asyncio.sleep(0)
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        said = answer(ask) if callable(answer) else answer
        return Said(text=said, usage=Usage(input_tokens=10, output_tokens=5)) if isinstance(said, str) else said

    @property
    def left(self) -> int:
        """Answers nobody asked for."""
        return len(self._answers)


def nonce_in(ask: Ask) -> str:
    """The nonce as a model finds it."""
    return ask.messages[-1].content.rsplit("TOOL_NONCE: ", 1)[1].split()[0]


def receipt_in(ask: Ask) -> str:
    """The last receipt that was shown."""
    seen = [message.content for message in ask.messages if "receipt_id=" in message.content]
    return seen[-1].rsplit("receipt_id=", 1)[1].split()[0]


def call(
    tool: str, args: Mapping[str, Any] | None = None, *, before: str = "", after: str = ""
) -> Callable[[Ask], str]:
    """A call in the form its step asks for."""

    def write(ask: Ask) -> str:
        later = '"action":"tool"' in ask.messages[-1].content
        fields = {"tool": tool, "args": dict(args or {}), "nonce": nonce_in(ask)}
        return before + json.dumps({"action": "tool", **fields} if later else fields) + after

    return write


def done(ask: Ask) -> str:
    """The wish to finish."""
    return json.dumps({"action": "final", "nonce": nonce_in(ask)})


def native(*calls: tuple[str, str], text: str = "") -> Said:
    """Native calls: (name, arguments as text)."""
    made = tuple(NativeCall(call_id=f"c{at}", name=name, arguments=args) for at, (name, args) in enumerate(calls))
    return Said(text=text, calls=made, usage=Usage(input_tokens=10, output_tokens=5))


def asked(message: str = "When was the lamp wound?", **more: Any) -> Request:
    return Request(message=message, agent=more.pop("agent", AGENT), **more)


class Checked:
    """The gate's own reply check, and what it was given."""

    def __init__(self, gate: Gate, turn: Turn) -> None:
        self.given: list[dict[str, Any]] = []
        self._gate = gate
        self._session = turn.session

    def __call__(self, reply: str, **more: Any) -> Findings:
        self.given.append({"reply": reply, **more})
        more.pop("receipts")
        return self._gate.check_reply(reply, session=self._session, **more)


async def play(gate: Gate, request: Request, model: Any, *, turn: Turn | None = None, **more: Any) -> TurnResult:
    """Run a turn of this model at this gate."""
    turn = turn or gate.turn(session="s1", agent=request.agent.agent_id, may_finish=request.tool_phase)
    more.setdefault("check", Checked(gate, turn))
    return await run_turn(request, model=model, turn=turn, **more)


def played(gate: Gate, request: Request, *answers: Answer, speech: str = "envelope", **more: Any) -> TurnResult:
    """The same to the end, with a script in which nothing may be left over."""
    model = Scripted(*answers, speech=speech)
    result = asyncio.run(play(gate, request, model, **more))
    assert model.left == 0
    return result


def texts(messages: tuple[Message, ...]) -> str:
    return "\n".join(message.content for message in messages)
