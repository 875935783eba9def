"""What must hold of any evidence: on random cases, under other hash seeds, on other Pythons, by hypothesis."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memory.attacks import ATTACKS
from benchmarks.memory.honest import honest
from benchmarks.memory.stage import Stage
from tallystick.rooms.memory.policy import SWITCHES, Policy
from tallystick.rooms.memory.project.fold import replay
from tests.rooms.memory.evidence_cases import check, check_models, check_one_bad_source, digest
from tests.rooms.memory.remembering import Notebook
from tests.sizes import size

ROOT = Path(__file__).parents[3]
CASES = size(2_000, 100_000)
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")


@pytest.mark.promise("reading.properties")
def test_the_properties_hold_on_many_random_cases() -> None:
    for seed in range(CASES):
        check(seed)


@pytest.mark.promise("reading.properties")
@given(st.integers(min_value=0))
def test_the_properties_hold_on_cases_that_hypothesis_makes_up(seed: int) -> None:
    check(seed)


@pytest.mark.promise("reading.properties")
def test_no_crowd_of_models_makes_a_fact_and_no_bad_source_unmakes_one() -> None:
    for seed in range(size(20, 500)):
        check_models(seed)
        check_one_bad_source(seed)


@pytest.mark.promise("reading.properties")
@given(st.randoms(use_true_random=False))
def test_a_status_does_not_depend_on_the_order_of_its_evidence(chance: random.Random) -> None:
    kinds = ["document", "human", "tool_external", "model_inference"]
    plan = [(chance.choice(kinds), f"g{chance.randrange(4)}", chance.random() < 0.6) for _ in range(6)]
    plan.append(("document", "first", True))

    def status(order: list[int]) -> tuple[str, str, int]:
        book = Notebook()
        seen = [book.observe(f"text {at}", group, kind) for at, (kind, group, _) in enumerate(plan)]
        name = book.propose("Ada owns mill", seen[-1])
        for at in order:
            (book.support if plan[at][2] else book.contradict)(name, seen[at])
        return book[name].status, book[name].rule, book[name].figures.belief

    straight = list(range(len(plan) - 1))
    assert status(straight) == status(chance.sample(straight, len(straight)))


def _digest_by(python: str, hash_seed: str) -> str | None:
    """What another interpreter makes of the same cases; None: it lacks what ours has installed."""
    places = [str(ROOT / "src"), str(ROOT)]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(places)}
    command = [python, "-m", "tests.rooms.memory.evidence_cases", str(size(300, 5_000))]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@pytest.mark.promise("reading.same-bytes")
def test_three_hash_seeds_give_the_same_bytes() -> None:
    ours = digest(size(300, 5_000))
    assert {_digest_by(sys.executable, seed) for seed in ("0", "1", "4242")} == {ours}


@pytest.mark.promise("reading.same-bytes")
def test_other_pythons_give_the_same_bytes() -> None:
    ours = digest(size(300, 5_000))
    others = [found for name in PYTHONS if (found := shutil.which(name)) is not None]
    results = {name: _digest_by(name, "7") for name in others}
    ran = {name: result for name, result in results.items() if result is not None}
    if not ran:
        pytest.skip("left out: other Pythons, none is here that has the dependencies")
    assert set(ran.values()) == {ours}


@pytest.mark.promise("reading.poisoning")
@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_no_attack_works(attack: str) -> None:
    for seed in range(size(2, 10)):
        assert not ATTACKS[attack](Stage(), random.Random(seed), size(200, 10_000)), (attack, seed)


@pytest.mark.promise("reading.poisoning")
@pytest.mark.parametrize(
    ("rule", "attack"),
    [
        ("agent_ceiling", "boasting_agent"), ("best_class", "poor_sources"), ("conflict", "even_fight"),
        ("copies", "copied_page"), ("decay", "stale_truth"), ("independence", "sock_puppets"),
        ("lineage", "summaries"), ("model_cap", "flood_and_page"), ("rereading", "own_notes"),
        ("rivals", "two_values"), ("saturation", "thin_evidence"), ("two_groups", "one_liar"),
    ],
)  # fmt: skip
def test_each_rule_is_what_stops_an_attack(rule: str, attack: str) -> None:
    assert ATTACKS[attack](Stage(Policy().without(rule)), random.Random(1), 200)


@pytest.mark.promise("reading.honest")
def test_an_honest_stream_is_learnt_and_its_mistakes_are_not() -> None:
    figures = honest(Policy(), facts=size(40, 300))
    assert figures["wrong"] == 0
    assert figures["promoted"] >= 0.6
    assert figures["updates_followed"] >= 0.5
    assert figures["owner_promoted"] == 1.0
    assert honest(Policy().without("owner"), facts=20)["owner_promoted"] == 0.0
    assert "owner" in SWITCHES


@pytest.mark.promise("reading.properties")
def test_replaying_a_stage_gives_the_same_state() -> None:
    book = Notebook()
    name = book.propose("Ada lives_in Lisbon", *book.sources("yes", 3))
    book.contradict(name, *book.sources("no", 2, "human"))
    book.consolidate()
    again = replay(book.events)
    assert list(again.propositions.bodies()) == list(book.state.propositions.bodies())
