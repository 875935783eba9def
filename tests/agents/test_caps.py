"""The four curves, and what a clamp leaves of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.caps import Caps, Curve
from tallystick.agents.tiers import TierPolicy

POLICY = TierPolicy()


@pytest.mark.promise("agents.caps")
def test_the_tool_actions_of_the_first_six_tiers_come_out_of_the_formula() -> None:
    assert [POLICY.caps(tier).tool_actions for tier in range(1, 7)] == [3, 4, 5, 7, 9, 13]


@pytest.mark.promise("agents.caps")
def test_the_other_caps_come_out_of_the_formula_too() -> None:
    assert [POLICY.caps(tier).steps for tier in range(1, 9)] == [5, 6, 8, 11, 15, 21, 30, 40]
    assert [POLICY.caps(tier).active_issues for tier in range(1, 9)] == [3, 3, 4, 5, 7, 9, 11, 14]
    assert [POLICY.caps(tier).output_tokens for tier in range(1, 9)] == [600, 960, 1536, 2458, 3932, 6291, 10066, 12000]


@pytest.mark.promise("agents.caps")
def test_at_the_top_tier_every_cap_has_met_its_ceiling() -> None:
    top, above = POLICY.caps(POLICY.top_tier), POLICY.caps(POLICY.top_tier + 1)
    assert top == above == Caps(steps=40, active_issues=14, output_tokens=12_000, tool_actions=20)


@pytest.mark.promise("agents.caps")
@given(tier=st.integers(1, 50), growth=st.floats(1, 10), mult=st.floats(0.5, 1e6), ceiling=st.integers(1, 10**7))
def test_a_higher_tier_never_has_a_lower_cap_and_none_is_above_the_ceiling(
    tier: int, growth: float, mult: float, ceiling: int
) -> None:
    curve = Curve(offset=0, mult=mult, growth=growth, ceiling=ceiling)
    assert 1 <= curve.at(tier) <= curve.at(tier + 1) <= ceiling


@pytest.mark.promise("agents.clamp")
@given(
    caps=st.builds(
        Caps, **{name: st.integers(1, 10_000) for name in ("steps", "active_issues", "output_tokens", "tool_actions")}
    ),
    factor=st.floats(0.01, 1),
)
def test_a_clamp_never_leaves_more_and_never_nothing(caps: Caps, factor: float) -> None:
    clamped = caps.clamped(factor).as_dict()
    assert all(1 <= clamped[name] <= cap for name, cap in caps.as_dict().items())
    assert all(clamped[name] <= max(1, cap * factor + 1e-6) for name, cap in caps.as_dict().items())


@pytest.mark.promise("agents.clamp")
def test_the_clamp_takes_a_fifth() -> None:
    assert POLICY.caps(1).clamped(0.8) == Caps(steps=4, active_issues=2, output_tokens=480, tool_actions=2)
    assert Caps(steps=100, active_issues=1, output_tokens=1, tool_actions=1).clamped(0.29).steps == 29


def test_a_run_is_at_its_cap_when_it_used_all_of_one() -> None:
    caps = POLICY.caps(1)
    assert not caps.reached(steps=4, tool_actions=2, output_tokens=599)
    assert caps.reached(tool_actions=3)
    assert caps.reached(output_tokens=600)
    assert caps.reached(steps=5)
