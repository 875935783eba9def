"""Replies by authors who did not see the check: it must not get worse on any part.

`dev` and `held` were read while the check was written, `reworded` while its last rules were. `fresh` and `reworded_unread`
were only ever counted, never read: do not read their misses, or they measure nothing any more. In the `reworded` parts
honest and false replies are free rewordings that share as many words with their quote; rules over words fail there.
"""

from pathlib import Path

import pytest

from benchmarks.reply_sets import score

SETS = Path(__file__).parents[2] / "vectors" / "replies"


@pytest.mark.promise("reply.claims-need-their-evidence")
@pytest.mark.parametrize(
    ("part", "most_accepted", "most_refused", "fewest"),
    [
        ("dev", 0.05, 0.04, 100),
        ("held", 0.11, 0.11, 100),
        ("fresh", 0.16, 0.15, 100),
        ("reworded", 0.30, 0.34, 50),
        ("reworded_unread", 0.38, 0.52, 50),
    ],
)
def test_lies_and_truths_are_told_apart_as_well_as_measured(
    part: str, most_accepted: float, most_refused: float, fewest: int
) -> None:
    cases = list(score(SETS, part))
    bad = [case for case in cases if case["label"] == "bad"]
    good = [case for case in cases if case["label"] == "good"]
    assert len(bad) > fewest
    assert len(good) > fewest
    accepted = [case["id"] for case in bad if case["verdict"] != "right"]
    refused = [case["id"] for case in good if case["verdict"] != "right"]
    assert len(accepted) <= most_accepted * len(bad), accepted
    assert len(refused) <= most_refused * len(good), refused
