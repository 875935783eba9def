"""Answers of typed queries: they begin with how the question was read, and every number bears a check."""

import pytest

from tallystick.rooms.insight.analyse.analysis import AnalysisDependencies, AnalysisRequest, analyse
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.model import Analysis
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.company import fill, group, tickets

MADE = tickets()


@pytest.fixture
def company(store: Store) -> Store:
    group(store, fill(store, MADE))
    return store


def ask(store: Store, question: str, compare: int | None = None) -> Analysis:
    asked = AnalysisRequest(dataset_id=1, question=question, compare_dataset_id=compare)
    means = AnalysisDependencies(store=store, clean=lambda text: text, random=lambda size: b"x" * size, now=1)
    return analyse(asked, means)


@pytest.mark.promise("insight.analysis.offline")
@pytest.mark.parametrize(
    ("question", "begins", "holds"),
    [
        ("How many tickets are there?", "Number of tickets:", "600"),
        ("Tickets created 5 to 11 February 2024, by department", "Number of tickets created 5 to 11 February 2024, by", "Billing"),
        ("Which category has the longest median resolution time?", "Median hours to resolve of tickets, by category", "Login"),
        ("What share of tickets is about Login?", "Share of tickets, of which with category Login:", "%"),
        ("Compare the number of Login tickets in February and March", "Number of tickets with category Login; ", "p < 0.0001"),
        ("Show the 3 newest tickets", "The 3 tickets with the highest created_at", "says"),
        ("How many tickets are there per theme?", "Number of tickets, by theme:", "login, order"),
        ("How many tickets per day on average?", "Number of tickets, by day, average of all groups", "10"),
    ],
)  # fmt: skip
def test_an_answer_says_first_how_the_question_was_read(company: Store, question: str, begins: str, holds: str) -> None:
    answer = ask(company, question).answer
    assert answer["text"].startswith(begins)
    assert holds in answer["text"]
    assert (answer["answered"], answer["refused"]) == (True, [])
    for sentence in answer["sentences"]:
        for figure in sentence["figures"]:
            assert f"{Figures(company).value(figure['query']):f}".startswith(
                figure["value"].rstrip("0").rstrip(".")[:3]
            )


@pytest.mark.promise("insight.analysis.cannot")
def test_a_question_that_is_not_read_gets_no_number(company: Store) -> None:
    answer = ask(company, "How satisfied were the customers?").answer
    assert (answer["answered"], answer["sentences"], answer["query"]) == (False, [], None)
    assert "“satisfied”" in answer["text"]


@pytest.mark.promise("insight.analysis.offline")
def test_another_dataset_is_compared_with_shares_and_a_test(company: Store) -> None:
    other = fill(company, tickets(seed=8, many=300), file_hash="b" * 64)
    answer = ask(
        company, "Compare the number of Login tickets with the other month. Is that significant?", other
    ).answer
    assert answer["query"]["compare"]["dataset_id"] == other
    assert "not significant" in answer["text"]


@pytest.mark.promise("insight.recheck", "insight.query.sql")
def test_a_figure_of_an_answer_is_computed_again_from_its_reference(company: Store) -> None:
    [sentence, *_] = ask(company, "How many tickets does each department have?").answer["sentences"]
    book = Figures(company)
    assert [str(book.value(each["query"])) for each in sentence["figures"]] == [f["value"] for f in sentence["figures"]]
    assert book.value(sentence["figures"][0]["query"].replace("dataset=1", "dataset=99")) is None
