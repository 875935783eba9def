"""The turn loop for APIs with tool calling: each call is a normal proposal, and the nonce stays on the server.

An answer without calls is the final answer. Text sent with a call is commentary: it is kept but has no effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from tallystick.gate.admit.envelope import MAX_ENVELOPE_BYTES, parse_json_object
from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import LONE_SURROGATE, refuse
from tallystick.gate.codes import MULTIPLE
from tallystick.turns.api_names import ApiNames, api_names
from tallystick.turns.model import Message, ModelError, NativeCall, Said
from tallystick.turns.prompt.catalogue import offers_of
from tallystick.turns.prompt.compose import opening_messages
from tallystick.turns.prompt.sections import forced_section
from tallystick.turns.result import HandedBack, TurnResult
from tallystick.turns.steps import STEP_LIMIT, Running, handed_back

SEVERAL = "several calls at once"
NOT_RUN = "This call was not run: the limit of this turn is reached."
_MAX_NAME = 100


async def run_native(run: Running, entries: Sequence[Entry]) -> TurnResult:
    """Run a turn of a model that calls tools through its API."""
    run.messages = opening_messages(run.request, entries, boundary=run.boundary, block=None, native=True)
    if not entries:
        return await _only_answer(run)
    # APIs restrict the characters of tool names more than we do, so the model sees and calls mapped names.
    names = api_names(tuple(entry.card.name for entry in entries))
    offers = tuple(replace(offer, name=names.shown(offer.name)) for offer in offers_of(entries, run.turn.wordings))
    reads = {names.shown(entry.card.name) for entry in entries if entry.card.effect == "read"}
    said = await run.ask(offers=offers, require_call=run.required is not None)
    while True:
        if isinstance(said, ModelError):
            return run.model_failed(said)
        if not said.calls:
            return await _without_calls(run, said)
        ended, limit = await _take_calls(run, said, reads, names)
        if ended is not None:
            return ended
        if limit is not None:
            return await _finish(run, limit)
        said = await run.ask(offers=offers)


async def _without_calls(run: Running, said: Said) -> TurnResult:
    """Handle an answer without calls: the gate refuses it if step one had to be a call."""
    if run.required is None or run.calls:
        return run.ended() if run.request.tool_phase else await run.answered(said)
    if run.turn.may_finish:
        return run.ended()
    outcome = await run.turn.submit(said.text)
    run.note_call(said.text, outcome)
    return run.ended_by(outcome) or run.ended()


async def _take_calls(
    run: Running, said: Said, reads: set[str], names: ApiNames
) -> tuple[TurnResult | None, str | None]:
    """Propose the calls of one answer; return the result if the turn ended, and the limit that was reached, if any."""
    calls = said.calls
    arguments = [_arguments(call) for call in calls]
    refused = _refusal(run, calls, arguments, reads)
    if refused is not None:
        outcome = await run.turn.refuse(refused, _written(calls))
        run.note_call(_written(calls), outcome, commentary=said.text)
        return run.ended_by(outcome) or run.ended(), None
    run.messages.append(Message(role="assistant", content=said.text, calls=calls))
    limit: str | None = None
    theirs: list[HandedBack] = []
    for place, (call, args) in enumerate(zip(calls, arguments, strict=True)):
        if limit is not None or run.at_limit:
            limit = limit or STEP_LIMIT
            run.messages.append(Message(role="tool", content=NOT_RUN, call_id=call.call_id))
            continue
        outcome = await run.turn.propose(names.meant(call.name), args if isinstance(args, Mapping) else {})
        run.note_call(call.arguments, outcome, commentary="" if place else said.text)
        if outcome.handed_back:
            theirs.append(handed_back(outcome, call.call_id))
            continue
        ended = run.ended_by(outcome)
        if ended is not None:
            return ended, None
        if outcome.must_finish:
            limit = STEP_LIMIT if outcome.rejection is None else outcome.rejection.reason
        run.messages.append(Message(role="tool", content=run.take_result(outcome), call_id=call.call_id))
    if theirs:
        return run.ended(handed_back=tuple(theirs)), None
    return None, STEP_LIMIT if limit is None and run.at_limit else limit


def _refusal(
    run: Running, calls: Sequence[NativeCall], arguments: Sequence[Mapping[str, Any] | Rejection], reads: set[str]
) -> Rejection | None:
    """Return why the whole answer is refused, if it is: no call runs if any call cannot be parsed."""
    if len(calls) > 1 and not (run.request.parallel_reads and all(call.name in reads for call in calls)):
        return Rejection(fault=MULTIPLE, reason=SEVERAL, proposed_tool=calls[0].name[:_MAX_NAME])
    for call, args in zip(calls, arguments, strict=True):
        if isinstance(args, Rejection):
            return replace(args, proposed_tool=call.name[:_MAX_NAME])
    return None


def _arguments(call: NativeCall) -> Mapping[str, Any] | Rejection:
    """Parse the arguments as strictly as an envelope."""
    try:
        return parse_json_object(call.arguments.encode(), MAX_ENVELOPE_BYTES)
    except UnicodeEncodeError:
        return refuse(LONE_SURROGATE)


def _written(calls: Sequence[NativeCall]) -> str:
    """Serialise calls for the receipt of their refusal."""
    written = [{"name": call.name, "arguments": call.arguments} for call in calls]
    try:
        return orjson.dumps(written).decode()
    except orjson.JSONEncodeError:
        return repr(written)


async def _finish(run: Running, why: str) -> TurnResult:
    """Force the final answer after a limit was reached."""
    if run.request.tool_phase:
        return run.ended(forced=True)
    run.says("user", forced_section(why, run.request.form))
    return await _only_answer(run, forced=True)


async def _only_answer(run: Running, *, forced: bool = False) -> TurnResult:
    """Ask for the answer without offering tools; the closed turn refuses any call."""
    run.turn.close()
    said = await run.ask(schema=run.request.schema)
    if isinstance(said, ModelError):
        return run.model_failed(said)
    if said.calls and not run.request.skip_tools:
        outcome = await run.turn.propose(said.calls[0].name, {})
        run.note_call(_written(said.calls), outcome, commentary=said.text)
        return run.ended_by(outcome) or run.ended(forced=forced)
    return await run.answered(said, forced=forced)
