"""What age may change is looked at in time, and not more often than that."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.memory.model import FULL
from tallystick.rooms.memory.project.record_cache import DueQueue
from tallystick.rooms.memory.weigh.scoring import freshness
from tallystick.rooms.memory.weigh.status_rules import REVIEWS, aged_share, decide, review_after
from tests.rooms.memory.evidence_cases import NOW, POLICY, evidence, weighed
from tests.rooms.memory.remembering import DAY, Notebook
from tests.sizes import size

AGEING = ("low", "medium", "high")


@pytest.mark.promise("memory.looks")
def test_what_is_not_looked_at_for_longer_than_an_eighth_of_its_half_life_stays_what_it_is() -> None:
    spared = 0
    for seed in range(size(1_500, 50_000)):
        chance = random.Random(seed)
        volatility = chance.choice(AGEING)
        found = [(seen, stance) for seen, stance in evidence(chance, 5) if stance == "support"]
        half_life = POLICY.half_life_s[volatility]
        now = NOW + chance.randrange(1 << 20)
        figures = weighed(found, volatility, now)
        status = decide(figures, POLICY).status
        again = review_after(status, figures, POLICY, half_life)
        assert half_life is not None
        if again == half_life // REVIEWS:
            continue  # within that, a change may be seen late
        assert status != "accepted"
        until = 40 * half_life if again is None else again
        moments = [now + until - 1, *(now + chance.randrange(until) for _ in range(6))]
        assert {decide(weighed(found, volatility, at), POLICY).status for at in moments} == {status}, seed
        spared += 1
    assert spared > size(1_500, 50_000) // 4


@given(st.integers(0, 10**7), st.integers(0, 40), st.integers(1_000, 10**6))
def test_freshness_falls_by_no_more_than_a_step_allows(age: int, steps: int, half_life: int) -> None:
    before, after = freshness(age, half_life), freshness(age + half_life * steps // REVIEWS, half_life)
    assert after >= before * aged_share(steps) // FULL - 2


@pytest.mark.promise("memory.looks", "memory.decay")
def test_one_report_is_looked_at_a_few_times_until_it_is_too_old() -> None:
    book = Notebook()
    name = book.propose("Ada seen_in Mill", book.observe("Ada was seen in the mill.", "paper", "document"))
    looks, was = 0, [book[name].status]
    for _ in range(40):
        before = book[name].scored_at
        book.now += DAY // 4
        book.consolidate()
        looks += book[name].scored_at != before
        was.append(book[name].status)
    assert list(dict.fromkeys(was)) == ["provisional", "tentative", "deprecated"]
    assert looks <= 6


@dataclass
class Due:
    """As much of a proposition as an agenda reads."""

    id: str
    due_at: int | None


@pytest.mark.promise("memory.looks")
@given(st.randoms(use_true_random=False), st.integers(1, 5))
def test_the_agenda_gives_what_a_search_through_everything_would(chance: random.Random, page: int) -> None:
    changed: dict[str, Any] = {}
    table: dict[str, int | None] = {}

    def read_on(after: tuple[int, str]) -> list[tuple[int, str]]:
        return sorted((due, name) for name, due in table.items() if due is not None and (due, name) > after)[:page]

    agenda, now = DueQueue(read_on, changed), 0

    def put(due: Due) -> None:
        changed[due.id] = due
        agenda.note(due)  # type: ignore[arg-type]

    for _ in range(60):
        move = chance.randrange(4)
        now += chance.randrange(3)
        if move == 0:
            table.update({name: one.due_at for name, one in changed.items()})
            changed.clear()
            agenda.begin_again()
        elif move == 1:
            put(Due(f"p{chance.randrange(12)}", chance.choice((None, now + chance.randrange(9), now))))
        else:
            stand = {**table, **{name: one.due_at for name, one in changed.items()}}
            limit = chance.choice((None, 1, 2, 5))
            due = sorted((when, name) for name, when in stand.items() if when is not None and when <= now)[:limit]
            taken = agenda.take(now, limit)
            assert taken == [name for _, name in due]
            for name in taken:
                put(Due(name, chance.choice((None, now + 1 + chance.randrange(9)))))
