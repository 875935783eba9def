"""Drawing tickets: spread over themes and months, the same for the same seed, within the budget."""

from collections import Counter

import pytest

from tallystick.rooms.insight.analyse.sampling import OVERHEAD, Sample, draw, tokens_in
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.themes import themes_of
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.company import fill, group, tickets


def drawn(store: Store, dataset_id: int, *, most: int = 50, budget: int = 1_000_000, seed: str = "s") -> Sample:
    book = Figures(store)
    facts = book.facts(dataset_id)
    assert facts is not None
    return draw(book, facts, facts.all, themes_of(store, facts), most=most, token_budget=budget, seed=seed)


@pytest.mark.promise("insight.analysis.sample")
def test_every_theme_and_month_has_its_part(store: Store) -> None:
    made = tickets()
    dataset_id = fill(store, made)
    group(store, dataset_id)
    found = [ticket.said for ticket in drawn(store, dataset_id, most=60).tickets]
    assert len(found) == 60
    whole = Counter((one.category, (one.created_at or 0) >= 1_709_251_200) for one in made)
    part = Counter((one.category, (one.created_at or 0) >= 1_709_251_200) for one in found)
    assert all(abs(part[key] - many / 10) <= 1 for key, many in whole.items())


@pytest.mark.promise("insight.analysis.sample")
def test_the_seed_decides_and_nothing_else(store: Store) -> None:
    dataset_id = fill(store, tickets())
    once = [ticket.ticket_id for ticket in drawn(store, dataset_id).tickets]
    assert once == [ticket.ticket_id for ticket in drawn(store, dataset_id).tickets]
    assert once != [ticket.ticket_id for ticket in drawn(store, dataset_id, seed="t").tickets]
    assert once[:20] == [ticket.ticket_id for ticket in drawn(store, dataset_id, most=20).tickets]


@pytest.mark.promise("insight.analysis.sample")
def test_the_token_budget_ends_it_and_says_so(store: Store) -> None:
    dataset_id = fill(store, tickets(many=80))
    whole = drawn(store, dataset_id, most=100)
    assert (len(whole.tickets), whole.truncated) == (80, False)
    assert whole.tokens == sum(tokens_in(ticket.said.text) + OVERHEAD for ticket in whole.tickets)
    less = drawn(store, dataset_id, most=100, budget=whole.tokens // 2)
    assert less.truncated
    assert less.tokens <= whole.tokens // 2
    assert whole.tickets[: len(less.tickets)] == less.tickets
    none = drawn(store, dataset_id, budget=5)
    assert (none.tickets, none.truncated) == ((), True)
