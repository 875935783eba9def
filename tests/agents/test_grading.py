"""How a turn counts for the tier of its agent."""

import pytest

from tallystick.agents.tiers import Result, TierPolicy
from tallystick.agents.turn_records import grade
from tallystick.gate.codes import Bucket
from tallystick.gate.execute.outcome import Held
from tallystick.gate.reply.findings import Findings, Item, Matched
from tallystick.turns.model import ModelError
from tallystick.turns.result import Rejected, TurnResult

CAPS = TierPolicy().caps(1)
GOOD = Findings(
    ok=True, items=(Item(kind="structural", source="a.md:L1", ok=True, matched=Matched(path="a.md", sha256="0" * 64)),)
)


def rejected(code: str) -> Rejected:
    item = Item(kind="tool_result", source="x", ok=False, code=code)
    return Rejected(
        text="t", code="evidence_invalid", findings=Findings(ok=False, bucket=Bucket.EVIDENCE_INVALID, items=(item,))
    )


@pytest.mark.promise("agents.grading")
@pytest.mark.parametrize(
    ("turn", "result"),
    [
        (TurnResult(turn_id="t", reply="yes", findings=GOOD), Result.VERIFIED),
        (TurnResult(turn_id="t", reply="yes", findings=GOOD, receipts=("a", "b", "c")), Result.AT_CAP),
        (TurnResult(turn_id="t", reply="yes", findings=Findings(ok=True)), Result.NEUTRAL),
        (TurnResult(turn_id="t", reply="raw"), Result.NEUTRAL),
        (TurnResult(turn_id="t", abstained=True), Result.NEUTRAL),
        (
            TurnResult(
                turn_id="t", held=Held(approval_id="a", expires_at="x"), stop_hook="STOP_HOOK: approval_required"
            ),
            Result.NEUTRAL,
        ),
        (
            TurnResult(
                turn_id="t",
                model_error=ModelError(code="endpoint_timeout", message="m"),
                stop_hook="STOP_HOOK: model_unheard",
            ),
            Result.NEUTRAL,
        ),
        (TurnResult(turn_id="t", stop_hook="STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"), Result.FAILED),
        (TurnResult(turn_id="t", rejected=rejected("quote_not_found")), Result.FAILED),
        (TurnResult(turn_id="t", rejected=rejected("receipt_unknown")), Result.CRITICAL),
    ],
)
def test_only_what_was_verified_counts_for_and_only_what_the_agent_did_counts_against(
    turn: TurnResult, result: Result
) -> None:
    assert grade(turn, CAPS) is result
