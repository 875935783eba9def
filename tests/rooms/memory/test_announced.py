"""What is announced for later takes nobody's place before its time, and does when it has come."""

import pytest

from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.rivals import Precedence
from tests.rooms.memory.remembering import DAY, START, Notebook, Remembering

LATER = START + DAY


def _announced(book: Notebook, *, explicit: bool = False, functional: bool = True) -> tuple[str, str]:
    about = "Ada lives_in" if functional else "Ada drives"
    now = book.propose(f"{about} Lisbon", *book.sources("Lisbon", 4, "human"), volatility="static")
    more = {"supersedes": [now]} if explicit else {}
    then = book.propose(
        f"{about} Berlin", *book.sources("Berlin", 4, "human"), volatility="static", valid_from=stamp_of(LATER), **more
    )
    book.consolidate()
    return now, then


@pytest.mark.promise("memory.announced")
@pytest.mark.parametrize(("explicit", "functional"), [(False, True), (True, True), (True, False)])
def test_it_takes_its_place_when_the_time_has_come(*, explicit: bool, functional: bool) -> None:
    book = Notebook()
    now, then = _announced(book, explicit=explicit, functional=functional)
    assert (book[now].status, book[now].superseded_by, book[now].rivals) == ("accepted", None, ())
    assert (book[then].status, book[then].superseded_by, book[then].rivals) == ("accepted", None, ())
    assert {one.object for one in book.canonicals()} == {"Lisbon", "Berlin"}
    book.now = LATER - 1
    book.consolidate()
    assert book[now].superseded_by is None
    book.now = LATER
    book.consolidate()
    assert (book[now].status, book[now].superseded_by) == ("accepted", then)
    assert [one.object for one in book.canonicals()] == ["Berlin"]
    assert "Berlin" in book.history(now)[-1].words


@pytest.mark.promise("memory.announced")
def test_reading_tells_it_at_once_and_touching_it_writes_it_down() -> None:
    book = Notebook()
    now, then = _announced(book)
    book.now = LATER + DAY
    book.support(then, book.observe("Berlin it is.", "late", "human"))
    assert book[now].superseded_by == then


@pytest.mark.promise("memory.announced")
def test_two_that_are_announced_for_the_same_time_are_rivals() -> None:
    book = Notebook()
    given = {"volatility": "static", "valid_from": stamp_of(LATER)}
    one = book.propose("Ada lives_in Berlin", *book.sources("Berlin", 4, "human"), **given)
    other = book.propose("Ada lives_in Paris", *book.sources("Paris", 4, "human"), **given)
    assert (book[one].status, book[one].rivals) == ("contested", (other,))
    # One after the other is no quarrel, and neither has taken the other's place yet.
    third = book.propose(
        "Ada lives_in Rome", *book.sources("Rome", 4, "human"), volatility="static", valid_from=stamp_of(LATER + DAY)
    )
    assert (book[third].status, book[third].rivals, book[one].superseded_by) == ("accepted", (), None)
    places = Precedence([book[one], book[third]], functional=True, now=LATER + 2 * DAY)
    assert places.of(book[one]) == ((), third)


@pytest.mark.promise("memory.announced", "reading.present")
def test_who_asks_is_told_what_holds_at_the_moment(memory: Remembering) -> None:
    seen = [memory.observe(f"Ada lives in Lisbon, says {at}.", f"s{at}", "human") for at in range(4)]
    later = [memory.observe(f"Ada will live in Berlin, says {at}.", f"t{at}", "human") for at in range(4)]
    now = memory.propose(*seen, fact="Ada lives_in Lisbon", volatility="static")
    then = memory.propose(*later, fact="Ada lives_in Berlin", volatility="static", valid_from=stamp_of(LATER))
    for moment, taken in ((memory.now, None), (LATER - 1, None), (LATER, then)):
        told = memory.room.queries.explain(now, now=moment)
        assert told is not None
        assert (told["standing"]["status"], told["superseded_by"]) == ("accepted", taken)
        new = memory.room.queries.explain(then, now=moment)
        assert new is not None
        assert new["standing"]["label"] == ("accepted" if taken else "accepted, but only from 2024-01-02 on")
    before = memory.bytes()
    memory.projection.rebuild()
    assert memory.bytes() == before
