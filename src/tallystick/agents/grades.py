"""Grade a task's turn for the agent's tier."""

from tallystick.agents.caps import Caps
from tallystick.agents.tiers import Result
from tallystick.turns.result import TurnResult

FORGED = "receipt_unknown"
"""The code of a citation whose receipt does not exist: receipt ids cannot be made up by accident."""


def grade(turn: TurnResult, caps: Caps) -> Result:
    """Return the result of a turn for the tier.

    Args:
        turn: The finished turn.
        caps: The caps it ran under.
    """
    if turn.rejected is not None:
        return Result.CRITICAL if _forges(turn) else Result.FAILED
    # A held call, a model error, a handed-back call or an abstention is neither success nor failure of the agent.
    if turn.held or turn.model_error or turn.handed_back or turn.abstained:
        return Result.NEUTRAL
    if turn.stop_hook is not None:
        return Result.FAILED
    if turn.reply is None or turn.findings is None or not any(item.ok for item in turn.findings.items):
        return Result.NEUTRAL
    used = caps.reached(steps=len(turn.steps), output_tokens=turn.usage.output_tokens, tool_actions=len(turn.receipts))
    return Result.AT_CAP if used else Result.VERIFIED


def _forges(turn: TurnResult) -> bool:
    findings = None if turn.rejected is None else turn.rejected.findings
    return findings is not None and any(item.code == FORGED for item in findings.items)
