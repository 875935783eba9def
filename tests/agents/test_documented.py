"""The page on tiers and credits says what the code does."""

import re
from pathlib import Path

import pytest

from tallystick.agents.credits import POINTS
from tallystick.agents.tiers import Result, TierPolicy

PAGE = (Path(__file__).parents[2] / "docs" / "tiers-and-tasks.md").read_text(encoding="utf-8")


@pytest.mark.promise("agents.caps")
@pytest.mark.parametrize("name", ["steps", "active_issues", "output_tokens", "tool_actions"])
def test_the_table_of_caps_is_that_of_the_code(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name.replace('_', ' ')} |"))
    numbers = [float(cell) for cell in row.strip("| ").split("|")[1:]]
    policy = TierPolicy()
    curve = getattr(policy, name)
    tiers = [float(curve.at(tier)) for tier in range(1, policy.top_tier + 1)]
    assert numbers == [curve.offset, curve.mult, curve.growth, curve.ceiling, *tiers]


@pytest.mark.promise("agents.credit-points")
def test_the_tables_of_results_and_points_are_those_of_the_code() -> None:
    points = dict(re.findall(r"^\| `(\w+)`[^|]* \| ([+−]?\d) \|$", PAGE, re.MULTILINE))
    assert {name: int(number.replace("−", "-")) for name, number in points.items()} == {
        str(m): p for m, p in POINTS.items()
    }
    assert set(re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)) >= {str(result) for result in Result}
