"""What the owner has corrected stays corrected, whoever repeats it."""

import pytest

from benchmarks.memory.corrections import play
from tests.rooms.memory.remembering import DAY, Notebook
from tests.sizes import size


@pytest.mark.promise("reading.corrections")
def test_a_corrected_fact_is_never_returned_and_hardly_another_is_lost() -> None:
    found = play(range(size(40, 1_000)))
    assert found["corrected"] > 100
    assert found["returned"] == 0
    assert found["lost"] <= 0.005 * found["others"]


@pytest.mark.promise("reading.corrections")
def test_what_the_owner_denies_of_the_owner_is_no_fact_however_many_say_so() -> None:
    book = Notebook()
    name = book.propose("owner lives_in Oslo", book.observe("I live in Oslo.", "owner", "human"))
    book.now += DAY
    book.contradict(name, book.observe("I do not live in Oslo.", "owner", "human"))
    book.support(name, *book.sources("Oslo", 5))
    assert (book[name].status, book[name].rule) == ("deprecated", "S3-owner-denied")
    book.now += DAY
    book.support(name, book.observe("I live in Oslo again.", "owner", "human"))
    assert (book[name].status, book[name].rule) == ("accepted", "S3-owner")


@pytest.mark.promise("reading.corrections")
def test_an_agent_cannot_deny_in_the_owners_name() -> None:
    book = Notebook()
    name = book.propose("owner lives_in Oslo", book.observe("I live in Oslo.", "owner", "human"))
    book.now += DAY
    book.contradict(name, book.observe("I do not live in Oslo.", "owner", "human", agent="helper"))
    assert (book[name].status, book[name].rule) == ("accepted", "S3-owner")


@pytest.mark.promise("reading.corrections")
@pytest.mark.parametrize("last", ["yes", "no"])
def test_of_two_words_of_the_owner_in_one_second_the_later_in_the_log_counts(last: str) -> None:
    book = Notebook()
    name = book.propose("owner lives_in Oslo", book.observe("I live in Oslo.", "owner", "human"))
    book.contradict(name, book.observe("No, not in Oslo.", "owner", "human"))
    if last == "yes":
        book.support(name, book.observe("In Oslo after all.", "owner", "human"))
    assert book[name].status == ("accepted" if last == "yes" else "deprecated")
