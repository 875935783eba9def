"""State of a running turn: messages, steps, results, usage so far, and how it ends."""

import inspect
import logging
from collections.abc import Callable
from typing import Any

from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.reply.leaks import is_abstention
from tallystick.turns.model import Ask, Message, Model, ModelError, Said, Usage
from tallystick.turns.prompt.results import boundary_of, injected_from, result_section
from tallystick.turns.prompt.sections import retry_section
from tallystick.turns.request import Checker, GateTurn, Progress, Request, Watch
from tallystick.turns.result import HandedBack, Injected, Rejected, RequiredBy, Step, StepKind, TurnResult
from tallystick.turns.stop_hooks import Hook, code_of, hook_of, stop_hook
from tallystick.turns.thought_blocks import put_aside

_log = logging.getLogger(__name__)

NOTHING = Usage()
CUT_OFF = "reply_cut_off"
"""The code of an answer that the token limit cut off."""
STEP_LIMIT = "step_limit"
"""The reason given to a model that has reached its limit of calls."""


class Running:
    """One running turn; both loops (enveloped and native) use it to ask the model, count usage and record steps."""

    def __init__(
        self,
        request: Request,
        *,
        model: Model,
        turn: GateTurn,
        check: Checker,
        clock: Callable[[], float],
        watch: Watch | None,
    ) -> None:
        self.request = request
        self.model = model
        self.turn = turn
        self.messages: list[Message] = []
        self.required: RequiredBy | None = None
        self.calls = 0
        """Number of proposed calls, which the step limit counts."""
        self.boundary = boundary_of(turn.nonce or turn.turn_id)
        self._check = check
        self._clock = clock
        self._watch = watch
        self._since = clock()
        self._steps: list[Step] = []
        self._receipts: list[str] = []
        self._results: list[Injected] = []
        self._spent = self._unclaimed = NOTHING
        self._model_name = model.name

    # -- the model -----------------------------------------------------------------------------------------------------

    async def ask(self, **more: Any) -> Said | ModelError:
        """Ask the model with the messages so far.

        Args:
            more: Further fields of `Ask`: schema, offers, whether a call is required.
        """
        self._since = self._clock()
        self._tell("asking")
        request = self.request
        ask = Ask(messages=tuple(self.messages), max_tokens=request.max_tokens, temperature=request.temperature, **more)
        said = await self.model.ask(ask)
        if isinstance(said, Said):
            usage = said.usage
            if usage != NOTHING:
                self.turn.spend(tokens=usage.input_tokens + usage.output_tokens, cost_microusd=usage.cost_microusd)
                self._spent, self._unclaimed = _sum(self._spent, usage), usage
            self._model_name = said.model or self._model_name
        return said

    def says(self, role: str, content: str) -> None:
        """Append a message to the prompt."""
        self.messages.append(Message(role="assistant" if role == "assistant" else "user", content=content))

    # -- the steps -----------------------------------------------------------------------------------------------------

    def note_call(self, text: str, outcome: Outcome, *, commentary: str = "") -> None:
        """Record a call or a decision with its outcome."""
        if outcome.final:
            return self._note("decision", text, outcome=outcome, receipt_id=outcome.receipt_id)
        self.calls += 1
        if outcome.status != "rejected":
            self._receipts.append(outcome.receipt_id)
        return self._note(
            "call",
            text,
            outcome=outcome,
            receipt_id=outcome.receipt_id or None,
            code=code_of(outcome),
            commentary=commentary,
        )

    def take_result(self, outcome: Outcome) -> str:
        """Store the result of a call and return it formatted for the prompt."""
        result = injected_from(outcome)
        if outcome.status != "rejected":
            self._results.append(result)
        return result_section(result, self.boundary)

    @property
    def at_limit(self) -> bool:
        """Whether the step limit is reached."""
        return self.calls >= self.request.max_steps

    # -- the end -------------------------------------------------------------------------------------------------------

    def ended_by(self, outcome: Outcome) -> TurnResult | None:
        """Return the turn result if this outcome ends the turn: held, refused, or handed back to the client."""
        if outcome.held is not None:
            return self.ended(held=outcome.held, stop_hook=hook_of(outcome))
        if outcome.handed_back:
            return self.ended(handed_back=(handed_back(outcome),))
        hook = hook_of(outcome)
        return None if hook is None else self.ended(stop_hook=hook)

    def model_failed(self, error: ModelError) -> TurnResult:
        """End the turn with a model error."""
        return self.ended(model_error=error, stop_hook=stop_hook(Hook.MODEL_ERROR, error.code))

    async def answered(self, said: Said, *, forced: bool = False) -> TurnResult:
        """End the turn with the model's answer, after the reply check; a rejected one may be written again."""
        # Close before reading the answer, so that nothing in it can be called.
        self.turn.close()
        result = await self._answer(said, forced=forced)
        for _ in range(self.request.reply_retries):
            findings = None if result.rejected is None else result.rejected.findings
            if findings is None:
                break
            self.says("user", retry_section(findings, self.request.form))
            again = await self.ask()
            if isinstance(again, ModelError) or again.calls:
                break
            result = await self._answer(again, forced=forced)
        return result

    async def _answer(self, said: Said, *, forced: bool) -> TurnResult:
        """Check one answer and return the end of the turn that it makes."""
        request = self.request
        # Raw text is not checked, so thinking in it would not be refused; strip it.
        strip = request.cot == "strip" or request.skip_tools
        text, thinking = put_aside(said.text) if strip else (said.text, "")
        self.says("assistant", said.text)
        if request.skip_tools:
            self._note("final", said.text, commentary=thinking)
            return self.ended(reply=text)
        if said.finish == "length":
            return self._cut_off(text, said, forced=forced)
        if is_abstention(text):
            self._note("final", said.text, commentary=thinking)
            return self.ended(abstained=True, forced=forced)
        self._tell("checking")
        ran = [*request.injected, *self._results]
        receipts = [result.receipt_id for result in ran if result.error is None]
        found = self._check(text, tools_ran=bool(receipts), receipts=receipts, conference=request.conference)
        findings = await found if inspect.isawaitable(found) else found
        code = None if findings.ok else findings.code or "format_error"
        self._note("final", said.text, code=code, receipt_id=findings.receipt_id or None, commentary=thinking)
        if code is None:
            return self.ended(reply=text, findings=findings, forced=forced)
        return self.ended(
            rejected=Rejected(text=text, code=code, findings=findings),
            findings=findings,
            stop_hook=stop_hook(Hook.REPLY_REJECTED, code),
            forced=forced,
        )

    def _cut_off(self, text: str, said: Said, *, forced: bool) -> TurnResult:
        """End the turn with an answer that the token limit cut off: it is not checked, and costs no credit."""
        limit = "the endpoint's own limit" if self.request.max_tokens is None else f"{self.request.max_tokens} tokens"
        reason = f"The answer was cut off at {limit}. Raise max_tokens of the agent's endpoint, or ask for less."
        self._note("final", said.text, code=CUT_OFF)
        rejected = Rejected(text=text, code=CUT_OFF, reason=reason)
        return self.ended(rejected=rejected, stop_hook=stop_hook(Hook.REPLY_REJECTED, CUT_OFF), forced=forced)

    def ended(self, **how: Any) -> TurnResult:
        """Build the turn result from the current state and the given ending."""
        return TurnResult(
            turn_id=self.turn.turn_id,
            receipts=tuple(self._receipts),
            steps=tuple(self._steps),
            usage=self._spent,
            required_by=self.required,
            results=tuple(self._results),
            messages=tuple(self.messages),
            model=self._model_name,
            provider=self.model.provider,
            **how,
        )

    def _note(self, kind: StepKind, text: str, **more: Any) -> None:
        now = self._clock()
        step = Step(
            index=len(self._steps) + 1,
            kind=kind,
            text=text,
            usage=self._unclaimed,
            elapsed_ms=max(0, round((now - self._since) * 1000)),
            **more,
        )
        # If one answer contains several calls, the first step carries the usage of the answer.
        self._unclaimed, self._since = NOTHING, now
        self._steps.append(step)
        self._tell(step)

    def _tell(self, what: Step | Progress) -> None:
        if self._watch is not None:
            try:
                self._watch(what)
            except Exception:  # noqa: BLE001 - a failing callback must never stop a turn
                _log.exception("a watcher failed; the turn is not affected")


def handed_back(outcome: Outcome, call_id: str | None = None) -> HandedBack:
    """Build the record of a call that the client runs itself."""
    return HandedBack(
        receipt_id=outcome.receipt_id, tool=outcome.tool or "", args=dict(outcome.args or {}), call_id=call_id
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_microusd=one.cost_microusd + other.cost_microusd,
    )
