"""The turn loop for models that call tools in text: one strict JSON object per step, with the nonce from the prompt.

step one       a call, or a plain answer if no call is required
after a result {"action":"tool",…} or {"action":"final"}, nothing else
at the end     the answer, in plain text
"""

from collections.abc import Sequence

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.toolsyntax import looks_like_tool_call
from tallystick.turns.model import ModelError, Said
from tallystick.turns.prompt.compose import opening_messages
from tallystick.turns.prompt.sections import final_section, first_step, forced_section, next_step
from tallystick.turns.result import TurnResult
from tallystick.turns.steps import STEP_LIMIT, Running


async def run_enveloped(run: Running, entries: Sequence[Entry]) -> TurnResult:
    """Run a turn of a model that writes its calls as text."""
    turn, required = run.turn, run.required is not None
    block = None
    if entries:
        block = first_step(turn.nonce or "", required=required, may_finish=turn.may_finish)
    run.messages = opening_messages(
        run.request, entries, boundary=run.boundary, block=block, native=False, wordings=turn.wordings
    )
    said = await run.ask(schema=turn.schema if required else run.request.schema)
    if isinstance(said, ModelError):
        return run.model_failed(said)
    if not entries or not (required or _attempts_a_call(said, entries)):
        return await run.answered(said)
    while True:
        ended = await _submitted(run, said)
        if ended is not None:
            return ended
        said = await run.ask(schema=turn.schema)
        if isinstance(said, ModelError):
            return run.model_failed(said)


async def _submitted(run: Running, said: Said) -> TurnResult | None:
    """Submit the model's answer to the gate; None: the result was added to the prompt and the turn continues."""
    turn = run.turn
    outcome = await turn.submit(said.text)
    run.note_call(said.text, outcome)
    ended = run.ended_by(outcome)
    if ended is not None:
        return ended
    run.says("assistant", said.text)
    if outcome.final:
        return await _finish(run, final_section(run.request.form))
    if outcome.must_finish:
        why = STEP_LIMIT if outcome.rejection is None else outcome.rejection.reason
        return await _finish(run, forced_section(why, run.request.form), forced=True)
    result = run.take_result(outcome)
    if run.at_limit:
        return await _finish(run, f"{result}\n\n{forced_section(STEP_LIMIT, run.request.form)}", forced=True)
    run.says("user", f"{result}\n\n{next_step(turn.nonce or '')}")
    return None


async def _finish(run: Running, content: str, *, forced: bool = False) -> TurnResult:
    """Ask for the final answer; the tool phase of a conference has none."""
    if run.request.tool_phase:
        return run.ended(forced=forced)
    run.turn.close()
    run.says("user", content)
    said = await run.ask()
    return run.model_failed(said) if isinstance(said, ModelError) else await run.answered(said, forced=forced)


def _attempts_a_call(said: Said, entries: Sequence[Entry]) -> bool:
    """Whether an answer looks like a call, even a malformed one; the gate then reports what is wrong with it."""
    if said.calls or said.text.lstrip().startswith("{"):
        return True
    return looks_like_tool_call(said.text, [entry.card.name for entry in entries])
