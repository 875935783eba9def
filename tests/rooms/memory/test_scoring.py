"""The numbers of the scoring, one by one; what must hold for all of them is shown elsewhere by many cases."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.memory.model import CLASSES, FULL, Figures, Observation
from tallystick.rooms.memory.policy import HOUR, Policy
from tallystick.rooms.memory.weigh.independence import WEIGHED, Unit, independent
from tallystick.rooms.memory.weigh.scoring import Side, dempster, freshness, noisy_or
from tallystick.rooms.memory.weigh.status_rules import TABLE, decide, explain
from tests.rooms.memory.remembering import DAY, Notebook
from tests.sizes import size

P = st.integers(0, FULL)


@pytest.mark.promise("memory.scoring")
def test_freshness_halves_with_each_half_life_and_is_straight_in_between() -> None:
    for half_life in (168 * HOUR, 72 * HOUR, 24 * HOUR):
        ages = [freshness(half_life * at // 2, half_life) for at in range(7)]
        assert ages == [10_000, 7500, 5000, 3750, 2500, 1875, 1250]
    assert freshness(10**12, None) == FULL
    assert freshness(-5, HOUR) == FULL
    assert freshness(14 * HOUR, HOUR) == 0


@pytest.mark.promise("memory.scoring")
@given(st.integers(0, 10**7), st.integers(0, 10**5), st.integers(1, 10**6))
def test_freshness_never_rises(age: int, more: int, half_life: int) -> None:
    assert 0 <= freshness(age + more, half_life) <= freshness(age, half_life) <= FULL


@pytest.mark.promise("memory.scoring")
@given(st.lists(P, max_size=8), P)
def test_noisy_or_knows_no_order_and_only_rises(strengths: list[int], more: int) -> None:
    total = noisy_or(strengths)
    assert total == noisy_or(reversed(strengths))
    assert max(strengths, default=0) <= total <= noisy_or([*strengths, more]) <= FULL
    assert noisy_or(strengths, 9900) == min(total, 9900)


@pytest.mark.promise("memory.scoring")
@given(P, P, P)
def test_dempster_rises_with_support_and_falls_with_contradiction(pro: int, con: int, more: int) -> None:
    belief, disbelief, conflict = dempster(pro, con)
    assert belief + disbelief <= FULL
    assert conflict == pro * con // FULL
    assert dempster(con, pro)[:2] == (disbelief, belief)
    if (pro, con) != (FULL, FULL) and max(pro, more) < FULL:
        assert dempster(max(pro, more), con)[0] >= belief
    if max(con, more) < FULL:
        assert dempster(pro, max(con, more))[0] <= belief


@pytest.mark.promise("memory.scoring")
@pytest.mark.parametrize(
    ("kind", "support"),
    [("human", 6300), ("tool_internal", 5950), ("document", 4900), ("tool_external", 3500), ("model_inference", 1400)],
)
def test_one_observation_of_each_class_weighs_what_its_class_does(kind: str, support: int) -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", book.observe("x", "s", kind))
    assert book[name].figures.support == support
    assert book[name].figures.support_groups == (0 if kind == "model_inference" else 1)


@pytest.mark.promise("memory.scoring")
def test_a_group_saturates_with_three_texts_and_copies_add_nothing() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", book.observe("first", "paper"))
    seen = [book[name].figures.support]
    for text in ("second", "third", "fourth", "SECOND", "  second "):
        book.support(name, book.observe(text, "paper", age=60))
        seen.append(book[name].figures.support)
    assert seen == [4900, 6300, 7000, 7000, 7000, 7000]
    assert book[name].status == "provisional"


@pytest.mark.promise("memory.scoring")
def test_groups_combine_and_the_cap_is_kept() -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", *book.sources("two", 2))
    assert book[name].figures.support == 7399
    book.support(name, *book.sources("and", 20))
    assert book[name].figures.belief == 9900


@pytest.mark.promise("memory.scoring")
def test_what_is_measured_without_a_rule_is_what_the_rule_buys() -> None:
    def figures(*off: str, age: int = 0) -> Figures:
        book = Notebook(Policy().without(*off))
        page = book.observe("Two moons.", "a", age=age)
        copy = book.observe("Two moons.", "b", age=age)
        told = book.observe("2!", "c", derived_from=[page], age=age)
        guess = book.observe("guess", "m", "model_inference", age=age)
        return book[book.propose("Mars has two moons", page, copy, told, guess)].figures

    plain = figures()
    for rule in ("lineage", "independence", "copies", "saturation", "model_cap"):
        weighed = figures(rule)
        assert (weighed.support, weighed.support_groups) > (plain.support, plain.support_groups), rule
    assert figures("decay", age=DAY).support > figures(age=DAY).support


@pytest.mark.promise("memory.laundering")
def test_many_groups_that_share_few_texts_count_as_few() -> None:
    book = Notebook()
    texts = ["one", "two", "three"]
    seen = [book.observe(text, f"mirror-{at}") for at in range(6) for text in texts]
    name = book.propose("Mars has two moons", *seen)
    assert book[name].figures.support_groups == 3
    for at in range(WEIGHED):
        book.support(name, book.observe(f"text {at}", "mirror-0"))
    assert book[name].figures.support_groups == 4


@pytest.mark.promise("memory.laundering")
def test_a_long_chain_of_copies_is_matched_to_its_end() -> None:
    """Each mirror has its own text and its neighbour's; whoever comes last moves all the others on by one."""
    number = 3_000
    units = [
        Unit(groups=(f"g{at:05}",), texts={f"t{at:05}", f"t{at + 1:05}"}, strength=1 + at % 2, observation_id=str(at))
        for at in range(number)
    ]
    chosen, most = independent(lambda: iter(units), [], texts=10_000, copied=True)
    assert len(chosen) == most == WEIGHED
    few = [Unit(groups=(f"g{at}",), texts={"a", "b"}, strength=9, observation_id=str(at)) for at in range(number)]
    assert independent(lambda: iter(few), [], texts=10_000, copied=True)[1] == 2


@pytest.mark.promise("memory.states")
@pytest.mark.parametrize(
    ("figures", "rule"),
    [
        (Figures(failed_test=True, belief=9900, support_groups=8, best_class=9000), "S1-failed-test"),
        (Figures(disbelief=8000, contradiction_groups=2), "S2-disbelief"),
        (Figures(disbelief=8000, contradiction_groups=1), "S8-tentative"),
        (Figures(owner=True, conflict=5000), "S3-owner"),
        (Figures(conflict=2500, belief=6999, disbelief=6999), "S4-conflict"),
        (Figures(conflict=2500, belief=7000, support_groups=2, best_class=7000, freshness=9000), "S5-accepted"),
        (Figures(conflict=2499, belief=4000, freshness=2000), "S7-provisional"),
        (Figures(belief=7000, support_groups=2, best_class=7000, disbelief=5000, freshness=9000), "S7-provisional"),
        (Figures(belief=7000, support_groups=1, best_class=7000, freshness=9000), "S7-provisional"),
        (Figures(belief=7000, support_groups=2, best_class=6999, freshness=9000), "S7-provisional"),
        (Figures(belief=6999, support_groups=2, best_class=7000, freshness=9000), "S7-provisional"),
        (Figures(belief=4500, once=4500, freshness=1999), "S6-aged"),
        (Figures(belief=3999, once=3999, freshness=100), "S8-tentative"),
        (Figures(), "S8-tentative"),
    ],
)
def test_the_first_row_that_holds_decides(figures: Figures, rule: str) -> None:
    row = decide(figures, Policy())
    assert row.rule == rule
    assert "{" not in explain(row, figures)


@pytest.mark.promise("memory.states")
def test_the_table_ends_with_a_row_that_always_holds() -> None:
    assert [row.rule.split("-")[0] for row in TABLE] == [f"S{at}" for at in (1, 2, 3, 3, 4, 5, 6, 7, 8)]
    assert TABLE[-1].holds(Figures(), Policy())


@pytest.mark.promise("memory.scoring")
def test_one_group_alone_comes_to_what_choosing_among_groups_would_make_of_it() -> None:
    policies = [Policy(), *(Policy().without(rule) for rule in ("copies", "lineage", "saturation", "decay"))]
    for seed in range(size(2_000, 50_000)):
        chance = random.Random(seed)
        policy = chance.choice(policies)
        side = Side(policy)
        for _ in range(chance.randint(1, 4)):
            kind = chance.choice(CLASSES[:-1])
            side.add(
                Observation(
                    id=f"o{chance.randrange(6)}", text="t", source_id="s", claimed=kind, weighed_as=kind, groups=("g",),
                    contents=(f"c{chance.randrange(3)}",), observed_at=chance.randrange(30 * DAY), episode_id="default",
                    derived_from=("x",) if chance.random() < 0.3 else (), seq=1, receipt_id="r", at=1,
                )
            )  # fmt: skip
        now, half_life = chance.randrange(90 * DAY), chance.choice([None, DAY, 7 * DAY])
        mass, ranked = side.mass(now, half_life), list(side._ranked(now, half_life))
        chosen, number = independent(lambda units=ranked: iter(units), [], texts=9, copied=False, cap=policy.cap)
        assert mass.value == noisy_or((unit.strength for unit in chosen), policy.cap)
        assert (mass.groups, mass.evidence_ids) == (number, tuple(unit.observation_id for unit in chosen))
