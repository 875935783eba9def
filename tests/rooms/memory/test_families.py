"""Among many that stand in each other's way, only those are looked at again that a change can matter to."""

import random
from typing import Any

import pytest

from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.rivals import MOST_RIVALS, Precedence, successors
from tests.rooms.memory.remembering import DAY, START, Notebook
from tests.sizes import size

TOWNS = ("Lisbon", "Berlin", "Paris", "Rome", "Oslo")


def _life(seed: int) -> Notebook:
    """Somebody moves, is said to have moved, is doubted, grows old: a family of propositions that changes often."""
    chance, book, names = random.Random(seed), Notebook(), list[str]()
    for at in range(chance.randint(6, 18)):
        book.now += chance.choice((0, 3_600, DAY, 5 * DAY))
        seen = book.sources(f"event {at}", chance.randint(1, 4), chance.choice(("human", "document")))
        act = chance.random()
        if names and act < 0.25:
            (book.support if act < 0.12 else book.contradict)(chance.choice(names), *seen)
        elif act < 0.35:
            book.consolidate()
        else:
            more: dict[str, Any] = {}
            if chance.random() < 0.5:
                more["valid_from"] = stamp_of(START + chance.randint(-5, 40) * DAY)
            if chance.random() < 0.2:
                more["valid_to"] = stamp_of(START + chance.randint(41, 60) * DAY)
            if names and chance.random() < 0.25:
                more["supersedes"] = [chance.choice(names)]
            volatility = chance.choice(("static", "low"))
            names.append(book.propose(f"Ada lives_in {chance.choice(TOWNS)}", *seen, volatility=volatility, **more))
    # What time alone has changed is written down now; until then only who asks is told.
    book.consolidate()
    return book


@pytest.mark.promise("memory.rivals", "memory.crowds")
def test_what_is_not_looked_at_would_not_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = range(size(300, 4_000))
    lives = [list(_life(seed).state.propositions.bodies()) for seed in seeds]
    monkeypatch.setattr(Precedence, "concern", lambda *_: True)
    for seed in seeds:
        assert list(_life(seed).state.propositions.bodies()) == lives[seed], seed


@pytest.mark.promise("memory.rivals", "memory.crowds")
def test_one_of_very_many_rivals_names_a_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    book, looked = Notebook(), 0
    of = Precedence.of

    def counted(self: Precedence, one: Any) -> Any:
        nonlocal looked
        looked += 1
        return of(self, one)

    monkeypatch.setattr(Precedence, "of", counted)
    number = size(120, 1_000)
    said = (book.sources(f"town {at}", 2, "human") for at in range(number))
    names = [book.propose(f"Ada lives_in town-{at}", *seen) for at, seen in enumerate(said)]
    assert {book[name].status for name in names} == {"contested"}
    assert {len(book[name].rivals) for name in names} == {MOST_RIVALS}
    # Who is not among the first few by name changes nothing for the others.
    assert looked < number * number // 3
    # When all but one are refuted, that one is what is left.
    for name in names[1:]:
        book.result(book.test(name), "failed")
    assert (book[names[0]].status, book[names[0]].rivals) == ("accepted", ())


@pytest.mark.promise("memory.rivals")
def test_what_takes_the_place_of_a_successor_retires_the_first_too() -> None:
    book = Notebook()
    first = book.propose("Ada lives_in Lisbon", *book.sources("Lisbon", 3, "human"))
    book.consolidate()
    book.now += 60
    second = book.propose("Ada lives_in Berlin", *book.sources("Berlin", 3, "human"), supersedes=[first])
    book.now += 60
    book.propose("Ada lives_in Rome", *book.sources("Rome", 3, "human"), supersedes=[second])
    book.consolidate()
    assert [one.object for one in book.canonicals()] == ["Rome"]
    assert book[first].superseded_by == second


@pytest.mark.promise("memory.rivals")
def test_no_record_is_in_force_beside_that_of_a_successor() -> None:
    for seed in range(size(300, 4_000)):
        state = _life(seed).state
        for one in state.propositions.held.values():
            if one.canonical_id is not None:
                assert not any(after.canonical_id for after in successors(state, one)), seed
