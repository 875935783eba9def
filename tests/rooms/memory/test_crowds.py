"""A fact with thousands of sources weighs what it would if all were weighed, and one more costs no more than at first."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.memory.model import Observation
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.weigh.independence import WEIGHED, GroupRanks, Unit, independent
from tallystick.rooms.memory.weigh.scoring import Side
from tests.rooms.memory.evidence_cases import CLASSES, NOW, observation
from tests.rooms.memory.remembering import Notebook
from tests.sizes import size

HALF_LIVES = (None, 24 * 3_600, 168 * 3_600)


def _crowd(chance: random.Random, number: int, texts: int) -> list[Observation]:
    """Of some hundred groups, each with a few texts; some summaries of two groups."""
    found = []
    for at in range(number):
        one = replace(
            observation(chance, at), groups=(f"g{chance.randrange(number)}",), contents=(f"c{chance.randrange(texts)}",),
            observed_at=NOW - chance.randrange(3_000_000), derived_from=(),
        )  # fmt: skip
        if texts > number and chance.random() < 0.02:
            pair = tuple(sorted(f"g{at}" for at in chance.sample(range(number), 2)))
            one = replace(one, groups=pair, contents=pair, derived_from=("obs_parent",))
        found.append(one)
    return found


def _mass(found: list[Observation], half_life: int | None, *, ranked: bool = True) -> tuple[int, int, int, int]:
    side = Side(Policy())
    for one in found:
        side.add(one)
    if not ranked:
        side._ranks = None
    mass = side.mass(NOW, half_life)
    return mass.value, mass.groups, mass.best_class, mass.freshness


@pytest.mark.promise("memory.crowds")
def test_a_crowd_weighs_what_it_would_if_all_were_weighed() -> None:
    for seed in range(size(60, 1_000)):
        chance = random.Random(seed)
        found = _crowd(chance, chance.choice((80, 200, 400)), chance.choice((1, 3, 30, 100, 100_000)))
        half_life = chance.choice(HALF_LIVES)
        whole = _mass(found, half_life)
        assert whole == _mass(found, half_life, ranked=False), seed
        assert whole == _mass(chance.sample(found, len(found)), half_life), seed
        less = _mass(found[:-1], half_life)
        assert all(now >= before for now, before in zip(whole, less, strict=True)), seed


@pytest.mark.promise("memory.crowds")
@given(st.randoms(use_true_random=False))
def test_the_strongest_come_first_however_they_changed(chance: random.Random) -> None:
    side, policy = Side(Policy()), Policy()
    for one in _crowd(chance, 120, 40):
        side.add(replace(one, weighed_as=chance.choice(CLASSES[:5])))
    units = list(side._ranked(NOW, 24 * 3_600))
    assert len({unit.groups for unit in units}) == len(units)
    assert [unit.strength for unit in units] == sorted((unit.strength for unit in units), reverse=True)
    assert all(0 < unit.strength <= policy.cap for unit in units)


class _Weighing(GroupRanks):
    """Counts how many are weighed."""

    weighed = 0

    def strongest(self, strength):  # type: ignore[no-untyped-def]
        def counted(kind: str, level: int, when: int) -> int:
            _Weighing.weighed += 1
            return int(strength(kind, level, when))

        return super().strongest(counted)


@pytest.mark.promise("memory.crowds")
@pytest.mark.parametrize("copies", [False, True])
def test_one_more_source_does_not_make_all_be_weighed_again(monkeypatch: pytest.MonkeyPatch, copies: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr("tallystick.rooms.memory.weigh.scoring.GroupRanks", _Weighing)
    book = Notebook()
    number = size(600, 5_000)
    texts = ["two moons" if copies else f"two moons, says {at}" for at in range(number)]
    seen = [book.observe(text, f"s{at}") for at, text in enumerate(texts)]
    name = book.propose("Mars has two moons", seen[0])
    book.support(name, *seen[1:-1])
    before = _Weighing.weighed
    book.support(name, seen[-1])
    assert 0 < _Weighing.weighed - before <= WEIGHED + len(CLASSES) * 3
    assert (book[name].figures.support_groups, book[name].status) == (
        (1, "provisional") if copies else (64, "accepted")
    )
    # Nor does what models say, however many they are.
    assert independent(lambda: iter(()), [], texts=0, copied=False) == ([], 0)
    side = Side(Policy())
    for at in range(number):
        side.add(replace(observation(random.Random(at), at), weighed_as="model_inference", groups=(f"m{at}",)))
    assert len(side._model) == 8
    assert len(side.mass(NOW, None).evidence_ids) == 8


@pytest.mark.promise("memory.crowds")
def test_all_texts_given_is_the_end_of_the_search() -> None:
    asked = 0

    def ranked():  # type: ignore[no-untyped-def]
        nonlocal asked
        for at in range(1_000):
            asked += 1
            yield Unit(groups=(f"g{at}",), texts={"a" if at % 2 else "b"}, strength=5_000, observation_id=str(at))

    chosen, number = independent(ranked, [], texts=2, copied=True)
    assert (len(chosen), number, asked) == (2, 2, 2)
