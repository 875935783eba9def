"""Periods in questions."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.analysis.periods import Span, before, find_periods

SPAN = Span(first=date(2023, 11, 20), last=date(2024, 3, 15))


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("in March", [("2024-03-01", "2024-03-31")]),
        ("in December", [("2023-12-01", "2023-12-31")]),
        ("February vs March 2024", [("2024-02-01", "2024-02-29"), ("2024-03-01", "2024-03-31")]),
        ("since 2024-03-10", [("2024-03-10", "2024-03-15")]),
        ("between 2024-01-05 and 2024-01-09", [("2024-01-05", "2024-01-09")]),
        ("before 2023-12-01", [("2023-11-20", "2023-11-30")]),
        ("after 2024-03-10", [("2024-03-11", "2024-03-15")]),
        ("after 10 March", [("2024-03-11", "2024-03-15")]),
        ("since March 10th, 2024", [("2024-03-10", "2024-03-15")]),
        ("before the 1st of December", [("2023-11-20", "2023-11-30")]),
        ("on 2024-02-02", [("2024-02-02", "2024-02-02")]),
        ("Q1 2024", [("2024-01-01", "2024-03-31")]),
        ("in 2023", [("2023-01-01", "2023-12-31")]),
        ("last week", [("2024-03-04", "2024-03-10")]),
        ("this month", [("2024-03-01", "2024-03-31")]),
        ("last month", [("2024-02-01", "2024-02-29")]),
        ("in the last 7 days", [("2024-03-09", "2024-03-15")]),
        ("the second half", [("2024-01-17", "2024-03-15")]),
        ("what may be wrong", []),
        ("the second ticket", []),
        ("since 2024-13-99", []),
    ],
)
def test_a_period_is_found_as_it_is_said(question: str, days: list[tuple[str, str]]) -> None:
    found = find_periods(question, SPAN)
    assert [(each.first.isoformat(), each.last.isoformat()) for each in found.periods] == days


@given(st.text(max_size=120))
def test_any_question_is_survived(question: str) -> None:
    found = find_periods(question, SPAN)
    assert len(found.rest) == len(question)
    assert all(each.first <= each.last for each in found.periods)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("in March", ("2024-02-01", "2024-02-29")),
        ("after 2024-03-10", ("2023-11-20", "2024-03-10")),
        ("between 2024-01-05 and 2024-01-09", ("2023-12-31", "2024-01-04")),
        ("between 2023-11-22 and 2023-11-30", ("2023-11-20", "2023-11-21")),
    ],
)
def test_a_period_is_held_against_what_came_before_it(question: str, days: tuple[str, str]) -> None:
    [named] = find_periods(question, SPAN).periods
    earlier = before(named, SPAN)
    assert earlier is not None
    assert (earlier.first.isoformat(), earlier.last.isoformat()) == days


def test_with_the_first_days_of_the_data_there_is_nothing_to_hold_against() -> None:
    [named] = find_periods("before 2023-12-01", SPAN).periods
    assert before(named, SPAN) is None
