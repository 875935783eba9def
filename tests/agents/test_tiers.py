"""Up by verified work at the limit, down by failures: as a machine, and by a second way of counting."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tallystick.agents.problem import Problem
from tallystick.agents.tiers import MOVES, Move, Result, Standing, TierPolicy
from tests.sizes import size

POLICY = TierPolicy()
R = Result


def after(*results: Result, tier: int = 1, policy: TierPolicy = POLICY) -> Standing:
    standing = Standing(agent_id="writer", model="m", tier=tier)
    for result in results:
        standing, _ = standing.after(result, policy)
    return standing


@pytest.mark.promise("agents.promotion")
def test_five_verified_runs_at_the_cap_go_up_one_tier() -> None:
    assert after(*[R.AT_CAP] * 4).tier == 1
    assert after(*[R.AT_CAP] * 5).tier == 2
    assert after(*[R.AT_CAP] * 10).tier == 3


@pytest.mark.promise("agents.promotion")
def test_runs_below_the_cap_neither_count_nor_set_back() -> None:
    assert after(*[R.VERIFIED] * 50).tier == 1
    assert after(*[R.AT_CAP, R.VERIFIED, R.NEUTRAL] * 5).tier == 2


@pytest.mark.promise("agents.promotion")
def test_a_failure_begins_the_count_anew() -> None:
    # Three tasks under the clamp count for nothing either.
    standing = after(*[R.AT_CAP] * 4, R.FAILED, *[R.AT_CAP] * 3)
    assert (standing.tier, standing.at_cap, standing.clamp_left) == (1, 0, 0)
    assert after(*[R.AT_CAP] * 4, R.FAILED, *[R.AT_CAP] * 8).tier == 2


@pytest.mark.promise("agents.clamp")
def test_the_first_failure_clamps_the_next_three_tasks() -> None:
    standing = after(R.FAILED, tier=4)
    allowed = []
    for _ in range(4):
        allowed.append(standing.caps(POLICY).tool_actions)
        standing, _ = standing.after(R.VERIFIED, POLICY)
    assert (standing.tier, allowed) == (4, [5, 5, 5, 7])


@pytest.mark.promise("agents.demotion")
def test_two_failures_in_ten_go_down_and_two_further_apart_do_not() -> None:
    assert after(R.FAILED, *[R.VERIFIED] * 8, R.FAILED, tier=3).tier == 2
    assert after(R.FAILED, *[R.VERIFIED] * 9, R.FAILED, tier=3).tier == 3


@pytest.mark.promise("agents.demotion")
def test_one_critical_failure_goes_down_at_once() -> None:
    assert after(R.CRITICAL, tier=6).tier == 5
    assert after(R.CRITICAL, R.CRITICAL, R.CRITICAL, tier=6).tier == 3


@pytest.mark.promise("agents.demotion")
def test_at_the_first_tier_a_way_down_is_a_clamp() -> None:
    standing = after(R.CRITICAL)
    assert (standing.tier, standing.clamp_left) == (1, 3)


@pytest.mark.promise("agents.promotion")
def test_nobody_goes_above_the_top() -> None:
    assert after(*[R.AT_CAP] * 100).tier == POLICY.top_tier


def test_a_policy_with_a_lower_top_is_felt_at_once() -> None:
    lower = TierPolicy(top_tier=2)
    assert after(tier=6).caps(lower) == lower.caps(2)
    assert after(R.CRITICAL, tier=6, policy=lower).tier == 1


def test_every_result_has_its_move() -> None:
    assert {result for result, _ in MOVES} == set(Result)
    assert set(MOVES.values()) == set(Move)


@pytest.mark.promise("agents.tier-policy")
@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"promote_after": 0}, "/promote_after"),
        ({"clamp_factor": 1.5}, "/clamp_factor"),
        ({"clamp_factor": True}, "/clamp_factor"),
        ({"top_tier": 2.5}, "/top_tier"),
        ({"unknown": 1}, "/unknown"),
        ({"steps": {"offset": 2, "mult": 3, "growth": 0.5, "ceiling": 40}}, "/steps/growth"),
        ({"steps": {"offset": 2, "mult": 3, "growth": 1.5}}, "/steps/ceiling"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_with_its_place(wrong: dict[str, object], pointer: str) -> None:
    problem = TierPolicy.from_dict(wrong)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.pointer) == ("tier_policy_invalid", pointer)


@pytest.mark.promise("agents.tier-policy")
def test_a_policy_survives_the_wire_and_what_is_left_out_is_as_usual() -> None:
    assert TierPolicy.from_dict(POLICY.as_dict()) == POLICY
    assert TierPolicy.from_dict({}) == POLICY
    changed = TierPolicy.from_dict({"promote_after": 7})
    assert isinstance(changed, TierPolicy)
    assert (changed.promote_after, changed.clamp_factor) == (7, 0.8)


@given(results=st.lists(st.sampled_from(list(Result)), max_size=60))
def test_a_standing_survives_the_wire(results: list[Result]) -> None:
    standing = after(*results)
    assert Standing.from_dict(standing.as_dict()) == standing


class Career(RuleBasedStateMachine):
    """An agent's tasks, counted a second time from the whole history since the tier began."""

    def __init__(self) -> None:
        super().__init__()
        self.standing = Standing(agent_id="writer", model="m", tier=3)
        self.seen: list[Result] = []
        """Since the tier began."""
        self.unclamped_at = 0
        """Place in `seen` from which on runs count again."""

    def _take(self, result: Result) -> Move:
        before = self.standing
        self.standing, move = before.after(result, POLICY)
        self.seen.append(result)
        assert abs(self.standing.tier - before.tier) <= 1
        assert (self.standing.tier > before.tier) == (move is Move.UP)
        assert (self.standing.tier < before.tier) == (move is Move.DOWN)
        if self.standing.tier != before.tier:
            self.seen = []
            self.unclamped_at = 0
        elif move is Move.CLAMP:
            self.unclamped_at = len(self.seen) + 3
        return move

    @rule(result=st.sampled_from([R.AT_CAP, R.AT_CAP, R.AT_CAP, R.VERIFIED, R.NEUTRAL]))
    def goes_well(self, result: Result) -> None:
        counting = self._counting(result)
        top = self.standing.tier == POLICY.top_tier
        move = self._take(result)
        assert (move is Move.UP) == (counting >= 5 and result is R.AT_CAP and not top)
        assert move is not Move.DOWN

    @rule()
    def fails(self) -> None:
        failures = sum(result in {R.FAILED, R.CRITICAL} for result in self.seen[-9:]) + 1
        lowest = self.standing.tier == 1
        assert self._take(R.FAILED) is (Move.DOWN if failures >= 2 and not lowest else Move.CLAMP)

    @precondition(lambda self: self.standing.tier > 1)
    @rule()
    def fails_badly(self) -> None:
        assert self._take(R.CRITICAL) is Move.DOWN

    @invariant()
    def stays_within_bounds(self) -> None:
        caps, whole = self.standing.caps(POLICY), POLICY.caps(self.standing.tier)
        assert 1 <= self.standing.tier <= POLICY.top_tier
        assert 0 <= self.standing.clamp_left <= POLICY.clamp_tasks
        assert len(self.standing.recent) <= POLICY.failure_window
        assert caps == (whole.clamped(0.8) if len(self.seen) < self.unclamped_at else whole)

    def _counting(self, result: Result) -> int:
        """Runs at the cap since the last failure and outside the clamp, this one included."""
        run = 0
        for place, one in enumerate([*self.seen, result]):
            if one in {R.FAILED, R.CRITICAL}:
                run = 0
            elif one is R.AT_CAP and place >= self._clamp_end(place):
                run += 1
        return run

    def _clamp_end(self, place: int) -> int:
        failed = [at for at, one in enumerate(self.seen[:place]) if one in {R.FAILED, R.CRITICAL}]
        return failed[-1] + 4 if failed else 0


TestCareer = pytest.mark.promise("agents.promotion", "agents.demotion", "agents.clamp")(Career.TestCase)
TestCareer.settings = settings(max_examples=size(60, 2000), stateful_step_count=60)
