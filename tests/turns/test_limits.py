"""What a turn may spend: steps by tier, bytes by kind of turn, and a request that can only narrow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.turns.limits import budget_for

CONFIGURED = Limits(steps=6, bytes=16_000, tokens=1000)
numbers = st.one_of(st.none(), st.integers(0, 100_000))


@pytest.mark.promise("turns.budget")
def test_without_a_tier_a_turn_has_six_steps_and_the_usual_bytes() -> None:
    budget = budget_for(CONFIGURED)
    assert (budget.steps, budget.step_bytes, budget.limits.bytes, budget.limits.tokens) == (6, 8_000, 16_000, 1000)
    assert budget_for(UNLIMITED).limits == Limits(steps=6, bytes=16_000)


@pytest.mark.promise("turns.budget")
@pytest.mark.parametrize("cap", [3, 4, 5, 7, 9, 13])
def test_the_tiers_cap_is_the_step_limit_and_a_conference_has_a_floor(cap: int) -> None:
    assert budget_for(CONFIGURED, tool_actions=cap).steps == cap
    assert budget_for(CONFIGURED, tool_actions=cap, conference=True).steps == max(6, cap)


@pytest.mark.promise("turns.budget")
def test_a_conference_shows_more() -> None:
    budget = budget_for(CONFIGURED, conference=True)
    assert (budget.step_bytes, budget.limits.bytes) == (12_000, 48_000)
    wide = budget_for(Limits(bytes=100_000), 20_000, conference=True)
    assert (wide.step_bytes, wide.limits.bytes) == (20_000, 100_000)


@pytest.mark.promise("turns.budget")
@given(steps=numbers, tokens=numbers, conference=st.booleans(), cap=st.integers(1, 20))
def test_a_request_can_only_narrow(steps: int | None, tokens: int | None, *, conference: bool, cap: int) -> None:
    given_ = budget_for(CONFIGURED, tool_actions=cap, conference=conference)
    asked = budget_for(CONFIGURED, tool_actions=cap, conference=conference, asked=Limits(steps=steps, tokens=tokens))
    assert asked.steps <= given_.steps
    assert asked.limits.tokens is not None
    assert asked.limits.tokens <= 1000
