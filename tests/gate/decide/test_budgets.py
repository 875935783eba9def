"""Budgets and rates: what is refused, and what is counted."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate import codes
from tallystick.gate.decide.budgets import (
    GRAIN_S,
    MAX_WINDOWS,
    NO_LIMITS,
    WINDOW_S,
    Meter,
    RateWindows,
    TaskMeters,
    limits_from,
    narrowed,
)
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.verdict import Context, Counters, Decision, Limits
from tallystick.gate.session import Session
from tallystick.settings import LimitSettings
from tests.gate.decide.calls import OWNER, a_call, a_card, a_policy

POLICY = a_policy()
SEARCH = a_card("search", spends="search")


def _ask(meter: Meter, now: float = 0.0, card: object = None) -> Decision:
    card = card or a_card()
    counters, limits = meter.begin(now, spends=card.spends)
    return decide(a_call(card), Context(roles=OWNER.roles, counters=counters, limits=limits), POLICY)


@pytest.mark.promise("decide.budgets")
def test_a_model_that_asks_a_thousand_times_is_stopped_at_the_budget_with_one_code() -> None:
    meter = Meter(started=0.0, limits=limits_from(LimitSettings()))
    decisions = [_ask(meter) for _ in range(1000)]
    assert [decision.verdict for decision in decisions[:6]] == ["allow"] * 6
    assert {(decision.fault, decision.reason) for decision in decisions[6:]} == {(codes.BUDGET, "step_budget_spent")}


@pytest.mark.promise("decide.budget-of-task")
def test_new_turns_and_sessions_of_a_task_do_not_refill_its_budget() -> None:
    tasks = TaskMeters()
    allowed = 0
    faults = set()
    for number in range(1000):
        session = Session(session_id=f"made-up-{number}", turn_id=f"turn-{number}", agent_id=f"a{number}", task_id="t1")
        task = tasks.of(session, limits=Limits(steps=10), now=float(number))
        turn = Meter(started=float(number), limits=Limits(steps=6), parent=task)
        decision = _ask(turn, float(number))
        allowed += decision.verdict == "allow"
        if decision.fault:
            faults.add((decision.fault, decision.reason))
    assert allowed == 10
    assert faults == {(codes.BUDGET, "step_budget_spent")}


@pytest.mark.promise("decide.budget-of-task")
def test_a_turn_meets_its_own_limit_before_its_tasks() -> None:
    task = Meter(started=0.0, limits=Limits(steps=10, named={"search": 3}))
    first = Meter(started=0.0, limits=Limits(steps=2), parent=task)
    assert [_ask(first, card=SEARCH).verdict for _ in range(3)] == ["allow", "allow", "deny"]
    second = Meter(started=0.0, limits=Limits(steps=6), parent=task)
    # The refused attempt of the first turn drew a search too; nothing ran for it, so it is given back.
    first.give_back("search")
    assert [_ask(second, card=SEARCH).reason for _ in range(2)] == ["allowed", "named_budget_spent"]


def test_a_session_without_a_task_has_no_task_meter_and_a_finished_task_is_let_go() -> None:
    tasks = TaskMeters(most=2)
    assert tasks.of(Session(session_id="s", turn_id="t", conference_id="c"), limits=NO_LIMITS, now=0.0) is None
    sessions = [Session(session_id="s", ticket_id=f"T{number}") for number in range(3)]
    first = tasks.of(sessions[0], limits=NO_LIMITS, now=0.0)
    assert tasks.of(sessions[0], limits=NO_LIMITS, now=1.0) is first
    tasks.forget(sessions[0])
    assert tasks.of(sessions[0], limits=NO_LIMITS, now=1.0) is not first
    for session in sessions:
        tasks.of(session, limits=NO_LIMITS, now=2.0)
    assert len(tasks._meters) == 2
    tasks.forget(Session(session_id="s"))


@pytest.mark.promise("decide.budgets")
@pytest.mark.parametrize(
    ("spent", "limits", "fault", "reason"),
    [
        ({"size": 100}, Limits(bytes=100), codes.OUTPUT_BUDGET, "output_budget_spent"),
        ({"tokens": 7}, Limits(tokens=7), codes.BUDGET, "token_budget_spent"),
        ({"cost_microusd": 3}, Limits(cost_microusd=2), codes.BUDGET, "cost_budget_spent"),
        ({"size": 99, "tokens": 6, "cost_microusd": 1}, Limits(bytes=100, tokens=7, cost_microusd=2), None, "allowed"),
    ],
)
def test_what_was_used_counts_against_the_next_call(
    spent: dict[str, int], limits: Limits, fault: codes.Fault | None, reason: str
) -> None:
    meter = Meter(started=0.0, limits=limits)
    assert _ask(meter).verdict == "allow"
    meter.spend(**spent)
    decision = _ask(meter)
    assert (decision.fault, decision.reason) == (fault, reason)


@pytest.mark.promise("decide.budgets")
def test_time_is_up_on_the_monotonic_clock() -> None:
    meter = Meter(started=100.0, limits=Limits(elapsed_ms=2000))
    assert _ask(meter, 101.999).verdict == "allow"
    assert _ask(meter, 102.0).reason == "wall_time_spent"
    assert _ask(meter, 90.0).verdict == "allow"


@pytest.mark.promise("decide.budgets")
def test_a_named_budget_is_drawn_by_the_tools_that_name_it() -> None:
    meter = Meter(started=0.0, limits=Limits(named={"search": 2}))
    assert [_ask(meter, card=SEARCH).verdict for _ in range(3)] == ["allow", "allow", "deny"]
    assert _ask(meter).verdict == "allow"


def test_of_many_calls_at_once_no_more_get_through_than_the_budget_has_left() -> None:
    meter = Meter(started=0.0, limits=Limits(steps=25), parent=Meter(started=0.0))
    with ThreadPoolExecutor(16) as pool:
        verdicts = list(pool.map(lambda _: _ask(meter).verdict, range(400)))
    assert verdicts.count("allow") == 25


def test_bytes_left_is_the_least_of_turn_and_task() -> None:
    task = Meter(started=0.0, limits=Limits(bytes=50))
    turn = Meter(started=0.0, limits=Limits(bytes=80), parent=task)
    assert turn.bytes_left() == 50
    turn.spend(size=45)
    assert turn.bytes_left() == 5
    turn.spend(size=45)
    assert turn.bytes_left() == 0
    assert Meter(started=0.0).bytes_left() is None


def test_limits_come_from_the_settings_and_a_turn_can_only_ask_for_less() -> None:
    given_by = limits_from(LimitSettings(tokens=100, wall_s=3, named={"search": 5}))
    assert given_by == Limits(steps=6, bytes=16_000, tokens=100, elapsed_ms=3000, named={"search": 5})
    asked = Limits(steps=60, bytes=10, cost_microusd=1, named={"search": 9, "mail": 1})
    assert narrowed(given_by, asked) == Limits(
        steps=6, bytes=10, tokens=100, cost_microusd=1, elapsed_ms=3000, named={"search": 5, "mail": 1}
    )


limit = st.none() | st.integers(0, 9)
some_limits = st.builds(
    Limits, steps=limit, bytes=limit, tokens=limit, cost_microusd=limit, elapsed_ms=limit,
    named=st.dictionaries(st.sampled_from(["search", "mail"]), st.integers(0, 3)),
)  # fmt: skip


@given(some_limits, some_limits, st.integers(0, 12))
def test_turn_and_task_together_refuse_exactly_when_one_of_them_would(turn: Limits, task: Limits, steps: int) -> None:
    parent = Meter(started=0.0, limits=task)
    meter = Meter(started=0.0, limits=turn, parent=parent)
    for step in range(steps):
        before = Counters(
            steps=step, bytes=step, tokens=step, cost_microusd=step, elapsed_ms=step, spent={"search": step}
        )
        each = [
            decide(a_call(SEARCH), Context(roles=OWNER.roles, counters=before, limits=limits), POLICY).verdict
            for limits in (turn, task)
        ]
        both = _ask(meter, step / 1000, card=SEARCH).verdict
        assert both == ("deny" if "deny" in each else "allow")
        meter.spend(size=1, tokens=1, cost_microusd=1)


@pytest.mark.promise("decide.rate")
def test_a_caller_over_the_rate_gets_in_again_when_the_window_has_moved_on() -> None:
    windows = RateWindows()
    policy = a_policy({"look": {"rate": 3}})

    def ask(now: float, caller: str = "ann", tool: str = "look") -> Decision:
        rate = windows.take(caller, tool, 3, now)
        return decide(a_call(a_card(tool)), Context(roles=OWNER.roles, counters=Counters(rate=rate)), policy)

    assert [ask(now).verdict for now in (0.0, 10.0, 20.0)] == ["allow"] * 3
    over = ask(59.0)
    assert (over.fault, over.reason) == (codes.RATE, "rate_reached")
    assert ask(59.5, caller="ben").verdict == "allow"
    assert ask(60.0).verdict == "allow"
    assert ask(60.1).fault is codes.RATE
    assert ask(70.0).verdict == "allow"


@pytest.mark.promise("decide.rate")
def test_a_rate_for_all_tools_counts_each_tool_and_a_tools_own_goes_first() -> None:
    policy = a_policy({"look": {"rate": 9}}, rate=2)
    assert policy.rule_for(a_card("look")).rate == 9
    assert policy.rule_for(a_card("list")).rate == 2
    assert a_policy().rule_for(a_card("list")).rate is None


@pytest.mark.promise("decide.rate")
@given(st.lists(st.floats(0, 30), max_size=120), st.integers(1, 6))
def test_no_minute_ever_holds_more_calls_than_the_rate(steps: list[float], limit: int) -> None:
    windows, now, passed = RateWindows(), 0.0, []
    for step in steps:
        now += step
        if windows.take("ann", "look", limit, now) < limit:
            passed.append(now)
    for first, last in zip(passed, passed[limit:], strict=False):
        assert last - first >= WINDOW_S * (1 - 1e-9)
    assert all(one <= other for one, other in pairwise(passed))


@pytest.mark.promise("decide.rate")
def test_windows_stay_small_whatever_comes() -> None:
    windows = RateWindows()
    for number in range(MAX_WINDOWS + 500):
        windows.take(f"caller-{number}", "look", 5, 0.0)
    assert len(windows._windows) == MAX_WINDOWS
    busy = RateWindows()
    for number in range(20_000):
        busy.take("ann", "look", 10**9, number / 200)
    (window,) = busy._windows.values()
    assert len(window._entries) <= 620
    assert busy.take("ann", "look", None, 0.0) == 0


def test_of_many_callers_at_once_no_more_get_through_than_the_rate() -> None:
    windows = RateWindows()
    with ThreadPoolExecutor(16) as pool:
        counts = list(pool.map(lambda _: windows.take("ann", "look", 40, 1.0), range(400)))
    assert sum(count < 40 for count in counts) == 40


def test_calls_in_a_steady_row_leave_the_window_one_after_the_other() -> None:
    rates, step = RateWindows(), GRAIN_S * 0.9
    many = int(2 * WINDOW_S / step)
    counts = [rates.take("ada", "look", 10**6, number * step) for number in range(many)]
    # What a minute and a grain hold at the most: nothing piles up, however close one call follows the other.
    assert max(counts) <= (WINDOW_S + 2 * GRAIN_S) / step + 1


def test_what_is_given_back_was_taken_before() -> None:
    meter = Meter(started=0.0)
    for _ in range(2):
        meter.give_back("search")
    counted = [meter.begin(0.0, spends="search")[0].spent for _ in range(2)]
    meter.give_back("search")
    counted.append(meter.begin(0.0, spends="search")[0].spent)
    assert [one.get("search", 0) for one in counted] == [0, 1, 1]
