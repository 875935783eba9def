"""The order of the checks, shadow, and the shape of a decision."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate import codes
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import Fault
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.verdict import Context, Counters, Limits
from tests.gate.decide.calls import OWNER, a_call, a_card, a_context, a_policy


@dataclass
class World:
    """A call that passes everything, with one knob for each check that makes it fail there."""

    effect: str = "write"
    card: dict[str, Any] = field(default_factory=lambda: {"roles": frozenset({"clerk"}), "spends": "search"})
    context: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    roles: set[str] = field(default_factory=lambda: {"clerk", "second"})
    tool: dict[str, Any] = field(default_factory=lambda: {"roles": ["second"], "rate": 5})
    args: dict[str, Any] = field(default_factory=lambda: {"amount": 5})
    rules: list[dict[str, Any]] = field(default_factory=list)

    def build(self) -> tuple[Proposal, Context, Policy]:
        card = a_card("pay", self.effect, **self.card)
        context = a_context(
            *self.roles, counters=Counters(**self.counters), limits=Limits(**self.limits), **self.context
        )
        return a_call(card, **self.args), context, a_policy({"pay": {**self.tool, "rules": self.rules}})


def _unknown_effect(world: World) -> None:
    world.effect = "telepathy"


def _not_this_turn(world: World) -> None:
    world.context["allowed_tools"] = frozenset({"look"})


def _no_token(world: World) -> None:
    world.context["authenticated"] = False


def _no_role(world: World) -> None:
    world.roles.discard("clerk")


def _no_policy_role(world: World) -> None:
    world.roles.discard("second")


def _steps(world: World) -> None:
    world.limits["steps"] = world.counters["steps"] = 6


def _bytes(world: World) -> None:
    world.limits["bytes"] = world.counters["bytes"] = 16_000


def _tokens(world: World) -> None:
    world.limits["tokens"] = world.counters["tokens"] = 9


def _cost(world: World) -> None:
    world.limits["cost_microusd"] = world.counters["cost_microusd"] = 0


def _searches(world: World) -> None:
    world.limits["named"] = world.counters["spent"] = {"search": 5}


def _time(world: World) -> None:
    world.limits["elapsed_ms"], world.counters["elapsed_ms"] = 1000, 1001


def _rate(world: World) -> None:
    world.counters["rate"] = 5


def _denied(world: World) -> None:
    world.tool["decision"] = "deny"


def _argument(world: World) -> None:
    world.rules.append({"name": "small", "schema": {"properties": {"amount": {"maximum": 4}}}})


def _ask(world: World) -> None:
    world.rules.append({"otherwise": "ask", "schema": {"properties": {"amount": {"maximum": 3}}}})


ORDER: tuple[tuple[Callable[[World], None], Fault, str], ...] = (
    (_unknown_effect, codes.UNKNOWN_TOOL, "tool_not_known_to_policy"),
    (_not_this_turn, codes.NOT_ALLOWED, "tool_not_allowed_this_turn"),
    (_no_token, codes.NO_TOKEN, "token_missing_or_invalid"),
    (_no_role, codes.NO_ROLE, "role_missing"),
    (_no_policy_role, codes.NO_ROLE, "policy_role_missing"),
    (_steps, codes.BUDGET, "step_budget_spent"),
    (_bytes, codes.OUTPUT_BUDGET, "output_budget_spent"),
    (_tokens, codes.BUDGET, "token_budget_spent"),
    (_cost, codes.BUDGET, "cost_budget_spent"),
    (_searches, codes.BUDGET, "named_budget_spent"),
    (_time, codes.BUDGET, "wall_time_spent"),
    (_rate, codes.RATE, "rate_reached"),
    (_denied, codes.DENIED, "tool_denied"),
    (_argument, codes.DENIED, "small"),
    (_ask, codes.HELD, "approval_required"),
)
OF_POLICY = {"policy_role_missing", "rate_reached", "tool_denied", "small", "approval_required"}
some_failures = st.sets(st.integers(0, len(ORDER) - 1))


def _world(failures: set[int]) -> World:
    world = World()
    for place in failures:
        ORDER[place][0](world)
    return world


@pytest.mark.promise("decide.order")
@given(some_failures)
def test_the_first_check_that_fails_decides(failures: set[int]) -> None:
    decision = decide(*_world(failures).build())
    if not failures:
        assert (decision.verdict, decision.fault) == ("allow", None)
        return
    _, fault, reason = ORDER[min(failures)]
    assert (decision.fault, decision.reason) == (fault, reason)
    assert decision.verdict == ("ask" if fault is codes.HELD else "deny")


@pytest.mark.promise("decide.shadow")
@given(some_failures)
def test_shadow_lets_through_what_policy_stops_and_nothing_else(failures: set[int]) -> None:
    world = _world(failures)
    world.tool["shadow"] = True
    decision = decide(*world.build())
    firm = sorted(place for place in failures if ORDER[place][2] not in OF_POLICY)
    tried = sorted(failures.difference(firm))
    if firm:
        assert decision.reason == ORDER[firm[0]][2]
        assert not decision.shadowed
        return
    assert decision.verdict == "allow"
    assert decision.shadowed is bool(tried)
    assert decision.would == (ORDER[tried[0]][2] if tried else None)


@pytest.mark.promise("decide.shadow")
def test_shadow_for_all_tools_can_be_taken_back_for_one() -> None:
    policy = a_policy({"pay": {"decision": "deny", "shadow": False}}, shadow=True, write="deny")
    assert decide(a_call(a_card("pay", "write")), OWNER, policy).fault is codes.DENIED
    other = decide(a_call(a_card("write_file", "write")), OWNER, policy)
    assert (other.verdict, other.would) == ("allow", "tool_denied")


@pytest.mark.promise("decide.pure")
@given(some_failures)
def test_the_same_inputs_give_the_same_decision(failures: set[int]) -> None:
    first, second = _world(failures).build(), _world(failures).build()
    assert decide(*first) == decide(*first) == decide(*second)


@pytest.mark.promise("decide.defaults")
@pytest.mark.parametrize(("effect", "verdict"), [("read", "allow"), ("write", "allow"), ("external", "ask")])
def test_the_owner_reads_and_writes_and_is_asked_before_reaching_outside(effect: str, verdict: str) -> None:
    assert decide(a_call(a_card("any", effect)), OWNER, a_policy()).verdict == verdict


@pytest.mark.promise("decide.defaults")
def test_what_is_said_of_a_tool_goes_before_what_is_said_of_its_effect() -> None:
    policy = a_policy({"fetch": {"decision": "allow"}, "look": {"decision": "ask"}}, read="deny")
    assert decide(a_call(a_card("fetch", "external")), OWNER, policy).verdict == "allow"
    assert decide(a_call(a_card("look")), OWNER, policy).verdict == "ask"
    assert decide(a_call(a_card("list")), OWNER, policy).verdict == "deny"


def test_a_tool_is_known_by_its_exact_id_only() -> None:
    turn = a_context("owner", allowed_tools=frozenset({"Look", "look "}))
    assert decide(a_call(a_card("look")), turn, a_policy()).fault is codes.NOT_ALLOWED


def test_no_tool_is_allowed_in_a_turn_that_lists_none() -> None:
    turn = a_context("owner", allowed_tools=frozenset())
    assert decide(a_call(), turn, a_policy()).fault is codes.NOT_ALLOWED


def test_a_new_version_of_a_card_is_judged_anew() -> None:
    policy = a_policy()
    assert decide(a_call(a_card("send", "read")), OWNER, policy).verdict == "allow"
    assert decide(a_call(a_card("send", "external")), OWNER, policy).verdict == "ask"


def test_endless_new_cards_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.gate.decide.policy.MAX_RESOLVED", 8)
    policy = a_policy()
    for number in range(50):
        assert decide(a_call(a_card(f"tool_{number}")), OWNER, policy).verdict == "allow"
    assert len(policy._resolved) <= 8
