"""Replies by authors who did not see the check: it must not get worse on any part.

`dev` and `held` were read while the check was written. `fresh` was written later and only ever counted, never read: do
not read its misses, or it measures nothing any more.
"""

from pathlib import Path

import pytest

from benchmarks.reply_sets import score

SETS = Path(__file__).parents[2] / "vectors" / "replies"


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize(
    ("part", "most_accepted", "most_refused"), [("dev", 0.05, 0.04), ("held", 0.19, 0.16), ("fresh", 0.18, 0.17)]
)
def test_lies_and_truths_are_told_apart_as_well_as_measured(
    part: str, most_accepted: float, most_refused: float
) -> None:
    cases = list(score(SETS, part))
    bad = [case for case in cases if case["label"] == "bad"]
    good = [case for case in cases if case["label"] == "good"]
    assert len(bad) > 100
    assert len(good) > 100
    accepted = [case["id"] for case in bad if case["verdict"] != "right"]
    refused = [case["id"] for case in good if case["verdict"] != "right"]
    assert len(accepted) <= most_accepted * len(bad), accepted
    assert len(refused) <= most_refused * len(good), refused
