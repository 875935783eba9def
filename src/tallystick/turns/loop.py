"""One agent turn: a model on one side, the gate on the other.

    prompt → call → gate → result into the prompt → decision → … → final answer → check → reply

This module does no I/O: the model, the gate's turn and the reply check are arguments. There are no automatic retries: a
malformed call ends the turn with its code, and the caller may start a new turn. `enveloped` is the loop for models that
answer in strict JSON, `native` the loop for APIs with tool calling.
"""

import re
from collections.abc import Callable, Iterable
from time import monotonic

from tallystick.turns.enveloped import run_enveloped
from tallystick.turns.model import Model
from tallystick.turns.native import run_native
from tallystick.turns.request import NO_POLICY, Checker, GateTurn, Progress, Request, TurnToolPolicy, Watch
from tallystick.turns.result import HandedBack, Injected, Rejected, RequiredBy, Step, TurnResult
from tallystick.turns.steps import Running

__all__ = [
    "NO_POLICY",
    "Checker",
    "GateTurn",
    "HandedBack",
    "Injected",
    "Progress",
    "Rejected",
    "Request",
    "Step",
    "TurnResult",
    "TurnToolPolicy",
    "Watch",
    "run_turn",
]


async def run_turn(
    request: Request,
    *,
    model: Model,
    turn: GateTurn,
    check: Checker,
    clock: Callable[[], float] = monotonic,
    watch: Watch | None = None,
) -> TurnResult:
    """Run one turn to its end.

    Args:
        request: The message, its agent and options.
        model: The model that answers.
        turn: The turn at the gate, already created with its limits (`limits.budget_for`).
        check: The reply check.
        clock: Measures the duration of each step, in seconds.
        watch: Callback for progress and for each finished step.
    """
    allowed = request.policy.allowed_tools if request.has_tools else frozenset[str]()
    if allowed is not None:
        # Restrict the tools at the gate itself: prompt and schema are derived from what the gate allows.
        turn.narrow(allowed)
    run = Running(request, model=model, turn=turn, check=check, clock=clock, watch=watch)
    result: TurnResult | None = None
    try:
        result = await _run(run)
    finally:
        # Close the turn however it ended, including cancellation; only a held call keeps it open for approval.
        if result is None or result.held is None:
            turn.close()
    return result


async def _run(run: Running) -> TurnResult:
    request = run.request
    entries = tuple(run.turn.tools())
    if not entries and request.tool_phase:
        return run.ended()
    if entries:
        run.required = required_by(request, (entry.card.name for entry in entries))
    speak = run_native if run.model.speech == "native" else run_enveloped
    return await speak(run, entries)


_PHRASES = ("return only the json tool call object", "respond with exactly one json object")
_TOOL_FIRST = re.compile(r"\buse the [`'\"]?([a-z0-9_.-]{1,128})[`'\"]? tool first\b")
_MAX_READ = 20_000
"""Characters searched at each end of a long message, because instructions are at its beginning or its end."""


def required_by(request: Request, names: Iterable[str]) -> RequiredBy | None:
    """Return why step one must be a call; None: no call is required.

    Args:
        request: Only its message is searched, never history or results.
        names: The tools of the turn; a tool that the turn does not have cannot be required.
    """
    if request.policy.require_tool or request.tool_phase:
        return "flag"
    message = request.message
    if len(message) > 2 * _MAX_READ:
        message = f"{message[:_MAX_READ]}\n{message[-_MAX_READ:]}"
    text = " ".join(message.casefold().split())
    if any(phrase in text for phrase in _PHRASES):
        return "heuristic"
    named = {_folded(name) for name in _TOOL_FIRST.findall(text)}
    return "heuristic" if named and not named.isdisjoint(map(_folded, names)) else None


def _folded(name: str) -> str:
    """Normalise a tool name, because prompts write `file-locator` for `file_locator`."""
    return name.casefold().replace("-", "_")
