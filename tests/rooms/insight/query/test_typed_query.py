"""Typed queries: the two forms, what is refused, and numbers that plain Python gives, too, on both databases."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ToolError
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.query.execution import QueryResult
from tallystick.rooms.insight.query.model import NotAQuery, query_from, query_from_line
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.company import fill, group, tickets

MADE = tickets()


@pytest.fixture
def company(store: Store) -> Store:
    group(store, fill(store, MADE))
    return store


def run(store: Store, **given_query: Any) -> QueryResult:
    return Figures(store).result(query_from({"dataset_id": 1, **given_query}))


def values(result: QueryResult) -> dict[tuple[str, ...], float | None]:
    return {row.key: row.now.value for row in result.rows}


def hours(ticket: NewTicket) -> float | None:
    if ticket.resolved_at is None or ticket.created_at is None:
        return None
    return (ticket.resolved_at - ticket.created_at) / 3600


@pytest.mark.promise("insight.query.sql")
def test_groups_are_counted_as_plain_python_counts_them(company: Store) -> None:
    found = values(run(company, by=[{"column": "category"}, {"column": "Channel"}]))
    assert found == Counter((t.category, (t.extra or {})["Channel"]) for t in MADE)


@pytest.mark.promise("insight.query.sql")
@pytest.mark.parametrize(
    ("bucket", "name"),
    [
        ("day", lambda at: at.strftime("%Y-%m-%d")),
        ("month", lambda at: at.strftime("%Y-%m")),
        ("weekday", lambda at: at.strftime("%A")),
        ("hour", lambda at: at.strftime("%H:00")),
        ("year", lambda at: at.strftime("%Y")),
    ],
)
def test_times_fall_into_their_buckets(company: Store, bucket: str, name: Callable[[datetime], str]) -> None:
    for column in ("created_at", "resolved_at"):
        found = values(run(company, by=[{"column": column, "bucket": bucket}]))
        moments = [moment for t in MADE if (moment := getattr(t, column)) is not None]
        assert found == Counter((name(datetime.fromtimestamp(moment, UTC)),) for moment in moments)


@pytest.mark.promise("insight.query.sql")
def test_weeks_start_on_monday(company: Store) -> None:
    rows = run(company, by=[{"column": "created_at", "bucket": "week"}]).rows
    assert all(datetime.fromisoformat(row.key[0]).weekday() == 0 for row in rows)
    assert sum(row.now.tickets for row in rows) == len(MADE)


@pytest.mark.promise("insight.query.sql")
def test_medians_and_percentiles_are_interpolated(company: Store) -> None:
    found = values(run(company, measure="median", of="resolution_hours", by=[{"column": "department"}]))
    for (name,), value in found.items():
        known = [spent for t in MADE if t.department == name and (spent := hours(t)) is not None]
        assert value == pytest.approx(median(known))
    [row] = run(company, measure="percentile", percent=90, of="resolution_hours").rows
    known = sorted(spent for t in MADE if (spent := hours(t)) is not None)
    place = (len(known) - 1) * 0.9
    low, high = known[int(place)], known[int(place) + 1]
    assert row.now.value == pytest.approx(low + (high - low) * (place - int(place)))


@pytest.mark.promise("insight.query.sql")
def test_a_share_has_its_part_and_its_whole(company: Store) -> None:
    [row] = run(
        company,
        measure="share",
        where=[{"column": "product", "op": "is", "values": ["app"]}],
        part=[{"column": "reassignments", "op": "over", "values": [1]}],
    ).rows
    app = [t for t in MADE if t.product == "App"]
    assert row.now.value == pytest.approx(100 * sum((t.reassignments or 0) > 1 for t in app) / len(app))


@pytest.mark.promise("insight.query.sql")
def test_words_are_found_inflected_and_never_inside_another_word(company: Store) -> None:
    def mentions(*words: str) -> int:
        return run(company, where=[{"column": "text", "op": "mentions", "values": list(words)}]).total

    assert mentions("parcel") == sum("parcel" in t.text.lower() for t in MADE)
    assert mentions("log") == sum("log in" in t.text or "logs me" in t.text for t in MADE)
    assert mentions("arc", "ogi") == 0
    assert mentions("lost?", "vat number") > 0


@pytest.mark.promise("insight.query.sql")
def test_two_periods_are_compared_with_their_difference(company: Store) -> None:
    sides = {
        name: [{"column": "created_at", "bucket": "month", "op": "is", "values": [month]}]
        for name, month in (("first", "2024-02"), ("second", "2024-03"))
    }
    [row] = run(company, where=[{"column": "category", "op": "is", "values": ["Login"]}], compare=sides).rows
    assert row.first is not None
    assert (row.first.value, row.now.value) == tuple(
        sum(t.category == "Login" and datetime.fromtimestamp(t.created_at or 0, UTC).month == month for t in MADE)
        for month in (2, 3)
    )
    assert row.cell("difference") == row.now.value - row.first.value  # type: ignore[operator]


@pytest.mark.promise("insight.query.sql")
def test_groups_are_bounded_ordered_cut_and_summed_up(company: Store) -> None:
    by = [{"column": "category"}]
    counts = Counter(t.category for t in MADE)
    most = max(counts.values())
    assert [row.key[0] for row in run(company, by=by, order="highest", limit=1).rows] == [counts.most_common(1)[0][0]]
    assert run(company, by=by, having={"op": "at_least", "number": most}).groups == 1
    assert run(company, by=by, summarise="mean").summary == pytest.approx(len(MADE) / len(counts))
    bounded = run(company, by=by, having={"op": "over", "number": 1, "times_of": "Invoice"})
    assert {row.key[0] for row in bounded.rows} == {name for name in counts if counts[name] > counts["Invoice"]}


@pytest.mark.promise("insight.query.sql")
def test_themes_are_a_column_and_tickets_a_list(company: Store) -> None:
    by_theme = run(company, by=[{"column": "theme"}])
    assert by_theme.grouped == len(MADE)
    listed = run(company, measure="tickets", of="resolution_hours", order="highest", limit=3)
    longest = sorted((spent for t in MADE if (spent := hours(t)) is not None), reverse=True)[:3]
    assert [value for _, value in listed.tickets] == pytest.approx(longest)


@pytest.mark.promise("insight.query.typed")
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"by": [{"column": "colour"}]}, "no column 'colour'"),
        ({"where": [{"column": "category", "op": "is", "values": ["Refunds"]}]}, "no value 'Refunds'"),
        ({"where": [{"column": "category", "op": "over", "values": [3]}]}, "has no order"),
        ({"measure": "mean", "of": "category"}, "holds no numbers"),
        ({"measure": "mean"}, "needs a column"),
        ({"measure": "share"}, "A share needs"),
        ({"where": [{"column": "created_at", "op": "over", "values": ["soon"]}]}, "is no time"),
        ({"where": [{"column": "category", "op": "mentions", "values": ["refund"]}]}, "does not fit"),
        ({"by": [{"column": "category", "bucket": "month"}]}, "is no time"),
        ({"measure": "tickets", "by": [{"column": "category"}]}, "has no groups"),
    ],
)
def test_what_the_dataset_does_not_have_is_refused_with_what_it_has(
    company: Store, bad: dict[str, Any], says: str
) -> None:
    with pytest.raises(ToolError, match=says) as refused:
        run(company, **bad)
    assert refused.value.status == 400
    assert refused.value.hint


NAMES = st.text(min_size=1, max_size=12)
FILTERS = st.lists(
    st.builds(
        lambda column, op, given_values, bucket: {"column": column, "op": op, "values": given_values, "bucket": bucket},
        NAMES,
        st.sampled_from(["is", "over", "mentions"]),
        st.lists(NAMES, min_size=1, max_size=3),
        st.sampled_from([None, "day", "month"]),
    ),
    max_size=3,
)


@pytest.mark.promise("insight.query.typed")
@given(where=FILTERS, part=FILTERS, of=NAMES, by=NAMES, times=NAMES)
def test_both_forms_hold_the_same_query(where: Any, part: Any, of: str, by: str, times: str) -> None:
    query = query_from(
        {
            "dataset_id": 7,
            "measure": "share",
            "of": of,
            "where": where,
            "part": part,
            "by": [{"column": by, "bucket": "week"}],
            "having": {"op": "over", "number": 1.5, "times_of": times},
            "compare": {"first": where, "dataset_id": 3, "show": "ratio"},
        }
    )
    assert query_from(query.as_dict()) == query
    line = query.line(row="a", cell="value")
    assert query_from_line(line) == (query, {"row": "a", "cell": "value"})


@pytest.mark.promise("insight.query.typed")
@given(st.text(max_size=80))
def test_any_other_line_is_no_query(text: str) -> None:
    with pytest.raises(NotAQuery):
        query_from_line(f"query?{text}&dataset=x")


@pytest.mark.promise("insight.query.typed")
def test_a_column_of_the_file_may_have_the_name_of_a_field(store: Store) -> None:
    made = [NewTicket(external_id=None, created_at=None, text="x", department="A", extra={"product": "n"})]
    fill(store, made)
    assert values(run(store, by=[{"column": "extra.product"}])) == {("n",): 1}
