"""Numbers from queries, held against counting by hand; on both databases."""

from collections import Counter
from decimal import Decimal
from statistics import median

import pytest

from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.query import chosen, query, where_field
from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.company import fill, group, tickets


def value(book: Figures, text: str) -> Decimal:
    found = book.value(text)
    assert found is not None, text
    return found


@pytest.mark.promise("insight.figures")
def test_every_measure_is_what_counting_by_hand_gives(store: Store) -> None:
    made = tickets()
    dataset_id = fill(store, made)
    run_id = group(store, dataset_id)
    book, d = Figures(store), f"dataset={dataset_id}"
    login = [one for one in made if one.category == "Login"]
    hours = [(one.resolved_at - one.created_at) / 3600 for one in made if one.resolved_at and one.created_at]
    customers = Counter(one.customer for one in made)
    assert value(book, f"tickets?{d}") == len(made)
    assert value(book, f"tickets?category=Login&{d}") == len(login)
    assert value(book, f"share?{d}&part.category=Login") == pytest.approx(Decimal(len(login) * 100) / len(made))
    assert value(book, f"tickets?cluster=1&{d}&run={run_id}") == len(login)
    assert float(value(book, f"median_hours?{d}")) == pytest.approx(median(hours))
    assert value(book, f"tickets?{d}&none=resolved") == sum(one.resolved_at is None for one in made)
    assert value(book, f"tickets?{d}&reassigned=1") == sum((one.reassignments or 0) >= 1 for one in made)
    assert value(book, f"tickets?{d}&says=refund") == sum("refund" in one.text.lower() for one in made)
    assert value(book, f"tickets?{d}&says_all=refund%7Cx") == 0
    assert value(book, f"tickets?{d}&extra.Channel=mail") == sum((one.extra or {})["Channel"] == "mail" for one in made)
    assert value(book, f"values?by=customer&{d}") == len(customers)
    assert value(book, f"repeat_customers?{d}") == sum(many > 1 for many in customers.values())
    assert (value(book, f"first_day?{d}"), value(book, f"last_day?{d}")) == (20240201, 20240331)
    assert value(book, f"tickets?{d}&month=2024-03") == value(book, f"tickets?{d}&since=2024-03-01&until=2024-04-01")
    assert value(book, f"per_day?{d}") == 10
    assert value(book, f"bad_rows?{d}") == 2
    assert value(book, f"run?of=silhouette&run={run_id}") == Decimal("0.41")


@pytest.mark.promise("insight.figures")
@pytest.mark.parametrize(
    "text",
    [
        "tickets?dataset=99",
        "nonsense?dataset=1",
        "tickets?dataset=1&colour=red",
        "tickets?dataset=x",
        "tickets?by=1",
        "share?dataset=1",
        "tickets?dataset=1&since=yesterday",
        "tickets?dataset=1&cluster=1&run=77",
        "mean?dataset=1&of=x",
        "tickets?dataset=1&repeated=perhaps",
        "p_mix?a.dataset=1&b.dataset=1",
        "run?run=9&of=silhouette",
        "tickets?dataset=1&none=colour",
        "values?dataset=1&by=colour",
        "tickets?dataset=1;drop",
        "tickets?dataset=-1",
    ],
)
def test_a_query_that_cannot_be_understood_has_no_number_and_never_a_wider_one(store: Store, text: str) -> None:
    fill(store, tickets(many=20))
    assert Figures(store).value(text) is None


def test_a_figure_is_shown_as_people_write_it_and_referred_to_by_digits(store: Store) -> None:
    dataset_id = fill(store, tickets(many=1_200))
    book = Figures(store)
    whole = chosen(dataset=dataset_id)
    count, day = book.figure(query("tickets", whole)), book.day(query("first_day", whole))
    assert count is not None
    assert day is not None
    assert (count.shown, count.written) == ("1,200", "1200")
    assert (day.shown, day.written) == ("2024-02-01", "20240201")
    share = book.figure(query("share", whole, {"part.category": "Login"}), places=1, unit=" %")
    assert share is not None
    assert share.shown == f"{share.written} %"


def test_values_with_any_name_are_found_again(store: Store) -> None:
    names = ["A & B", "50 % off; [x]", 'say "please"', "ü" * 150, "a|b", "~x", "x" * 400]
    dataset_id = fill(store, [NewTicket(external_id=None, created_at=None, text="t", category=name) for name in names])
    book = Figures(store)
    for name in names:
        asked = query("tickets", chosen(dataset=dataset_id), where_field("category", name))
        assert book.value(str(asked)) == 1, name


def test_a_dataset_without_dates_or_fields_gives_none_where_there_is_nothing_to_compute(store: Store) -> None:
    dataset_id = fill(store, [NewTicket(external_id=None, created_at=None, text="help me please")])
    book, d = Figures(store), f"dataset={dataset_id}"
    assert [book.value(f"{name}?{d}") for name in ("first_day", "median_hours", "mean_reassignments", "per_day")] == [
        None
    ] * 4
    assert value(book, f"tickets?{d}&none=created") == 1
    assert book.value(f"p_per_day?a.{d}&b.{d}") is None


def test_words_are_found_in_any_form_and_side_by_side(store: Store) -> None:
    texts = ["two refunds please", "refunded at last", "the parcel is late", "parcel lost, late driver", "nothing"]
    dataset_id = fill(store, [NewTicket(external_id=None, created_at=None, text=text) for text in texts])
    book, d = Figures(store), f"dataset={dataset_id}"
    assert value(book, f"tickets?{d}&says=refund") == 2
    assert value(book, f"tickets?{d}&says=late%20driver") == 1
    assert value(book, f"tickets?{d}&says_all=late|parcel") == 2
    assert value(book, f"tickets?{d}&says=late|refunds") == 4
