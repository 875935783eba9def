"""Answers from numbers: what is asked is answered, every sentence is borne out, and what cannot be said is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.own_text import NOTHING_WRITTEN
from tallystick.rooms.insight.analysis.checked import TicketSources, _NoReceipts, bear_out, ticket_text_of
from tallystick.rooms.insight.analysis.desk import Desk, span_of
from tallystick.rooms.insight.analysis.offline import Answer, answer
from tallystick.rooms.insight.analysis.question import understand
from tallystick.rooms.insight.analysis.sentence import Quote, Sentence, say
from tallystick.rooms.insight.figures.book import Figures
from tallystick.rooms.insight.figures.themes import themes_of
from tallystick.rooms.insight.nouns import NewTicket
from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.rooms.insight.company import fill, group, tickets
from tests.sizes import size

MADE = tickets()


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("company")
    engine = open_engine(Settings.model_validate({"storage": {"database_url": f"sqlite:///{folder / 'a.db'}"}}), folder)
    migrate_with(engine, "insight")
    store = Store(engine)
    fill(store, MADE)
    fill(store, tickets(seed=3, many=200), name="before.csv", file_hash="b" * 64)
    group(store, 1)
    yield store
    engine.dispose()


def desk_for(store: Store, question: str, dataset_id: int = 1) -> Desk:
    book = Figures(store)
    facts, dataset = book.facts(dataset_id), store.dataset(dataset_id)
    assert facts is not None
    assert dataset is not None
    return Desk(book, dataset, understand(question, facts, span_of(facts)), facts, themes_of(store, facts))


def ask(store: Store, question: str, **more: object) -> Answer:
    desk = desk_for(store, question)
    said = answer(desk, **more)  # type: ignore[arg-type]
    kept, refused = bear_out(said.sentences, desk.book)
    assert (kept, refused) == (said.sentences, ())
    return said


def text(said: Answer) -> str:
    return " ".join(sentence.text for sentence in said.sentences)


LOGIN = sum(one.category == "Login" for one in MADE)
MARCH_BILLING = sum(one.department == "Billing" and (one.created_at or 0) >= 1_709_251_200 for one in MADE)


@pytest.mark.promise("insight.analysis.offline")
@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("How many tickets are there?", ["600 tickets", "2024-02-01"]),
        ("How many tickets did Billing get in March?", [f"{MARCH_BILLING} tickets with department Billing"]),
        ("What share of the tickets is about login?", [f"{LOGIN} tickets", f"{LOGIN / 6:.1f} %"]),
        ("What are the top themes?", ["refund, order", "197 tickets (32.8 %)", "A typical ticket"]),
        ("Which departments get the most tickets?", ["Billing with 308 tickets"]),
        ("Which channel do customers use most?", ["mail with", "chat with"]),
        ("Is the volume of login tickets rising?", ["rose from 1.0", "to 3.8", "p < 0.0001"]),
        ("What changed between February and March?", ["Login rose from 10.0 % to 38.1 %", "chi-squared", "Holm"]),
        ("Which themes are growing?", ["Theme login, order rose"]),
        ("How long does it take to resolve tickets, by department?", ["Half of the", "Technical", "Logistics"]),
        ("How often are tickets reassigned?", ["reassigned at least once", "0.57"]),
        ("Why do people complain about the password?", ["mention password", '"The password reset mail']),
        ("Compare Billing and Logistics", ["Billing has 308 tickets, Logistics 145"]),
        ("How good is the data quality?", ["2 rows of the file could not be read"]),
        ("How many customers write again?", ["316 customers", "169"]),
        ("How complex are the tickets?", ["17.3 %"]),
        ("Give me an overview", ["600 tickets", "most frequent theme"]),
        ("On which weekday do most tickets come?", ["Friday with 90 tickets"]),
        ("Did login problems rise in March?", ["rose: February 2024 has", "March 2024", "more than chance"]),
        ("What changed after 1 March?", ["2024-02-01 to 2024-03-01 has", "Login rose"]),
        ("How many tickets came on weekends?", ["with weekday Saturday or Sunday"]),
        ("Which department resolves fastest?", ["the lowest first"]),
        ("Which department has the most spaceship tickets?", ["0 of the 600 tickets mention spaceship"]),
        ("Has the share of login problems gone up?", ["from 10.0 % in February 2024 to 38.1 %"]),
    ],
)  # fmt: skip
def test_a_question_is_answered_with_the_right_numbers(company: Store, question: str, holds: list[str]) -> None:
    said = ask(company, question)
    assert said.answered
    for each in holds:
        assert each in text(said), text(said)
    assert all(sentence.figures or sentence.quotes for sentence in said.sentences)


@pytest.mark.promise("insight.analysis.cannot")
@pytest.mark.parametrize(
    "question",
    [
        "How satisfied are our customers?", "How many tickets will there be next month?", "What was the revenue?",
        "Which agents answered fastest?", "What do customers say about spaceships?", "xyzzy plugh",
        "Which status do most tickets have?",
    ],
)  # fmt: skip
def test_what_the_data_do_not_say_is_said_to_be_so(company: Store, question: str) -> None:
    said = ask(company, question)
    assert not said.answered
    assert "cannot be answered from these data" in text(said)


def test_a_column_of_the_file_answers_what_tickets_usually_do_not_say(store: Store) -> None:
    made = [
        NewTicket(external_id=None, created_at=None, text="hello there you", extra={"CSAT": str(at % 5)})
        for at in range(20)
    ]
    desk = desk_for(store, "What is the average csat?", fill(store, made))
    said = answer(desk)
    assert said.answered
    assert "The mean of CSAT is 2.00" in text(said)


def test_another_dataset_is_compared_with_tests(company: Store) -> None:
    said = ask(company, "What changed?", other=(2, "before.csv"))
    assert "before.csv has 200 tickets, tickets.csv 600" in text(said)
    assert "p " in text(said)


def test_words_that_no_ticket_holds_are_counted_as_none(company: Store) -> None:
    said = ask(company, "How many tickets mention spaceships?")
    assert "0 of the 600 tickets mention spaceships" in text(said)


def test_tickets_found_by_meaning_are_quoted_first(company: Store) -> None:
    wanted = next(t.ticket_id for t in company.tickets(1) if t.said.text.startswith("The tracking page"))
    said = ask(company, "What do people say about parcels?", find=lambda question, many: [wanted])
    assert said.sentences[-1].quotes or said.sentences[-2].quotes
    assert any(quote.ticket_id == wanted for sentence in said.sentences for quote in sentence.quotes)


@pytest.mark.promise("insight.analysis.offline")
def test_the_same_question_gets_the_same_words(company: Store) -> None:
    for question in ("What changed?", "What are the top themes?", "Why late parcels?"):
        assert ask(company, question) == ask(company, question)


VOCABULARY = (
    "how many tickets what share of refund login parcel late why changed between February and March top themes by "
    "department product priority trend per week resolve long reassigned customers compare Billing Logistics ? % since "
    '2024-03-01 last month quality complex about mention the [x] "quoted words here" ; . e.g. Dr.'
)
WORDS = st.sampled_from(VOCABULARY.split())


@pytest.mark.promise("insight.analysis.offline")
@settings(max_examples=size(60, 600), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, min_size=1, max_size=10).map(" ".join) | st.text(min_size=1, max_size=60))
def test_whatever_is_asked_every_sentence_is_borne_out(company: Store, question: str) -> None:
    said = ask(company, question)
    assert said.sentences
    whole = " ".join(sentence.with_references() for sentence in said.sentences)
    book = Figures(company)
    findings = check_reply(
        whole, sources=TicketSources(ticket_text_of(book), book.value), receipts=_NoReceipts(),
        writings=NOTHING_WRITTEN, session_id="s", form="per-sentence",
    )  # fmt: skip
    assert findings.ok or findings.fault == "reply_too_long", findings.reason


NAMES = st.text(min_size=1, max_size=30).filter(lambda name: name.strip() != "")


@settings(max_examples=size(25, 200), deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES, st.text(min_size=1, max_size=80)), min_size=1, max_size=8))
def test_names_and_texts_of_any_kind_make_no_false_sentence(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder: Path = tmp_path_factory.mktemp("any")
    engine = open_engine(Settings.model_validate({"storage": {"database_url": f"sqlite:///{folder / 'a.db'}"}}), folder)
    migrate_with(engine, "insight")
    store = Store(engine)
    made = [
        NewTicket(external_id=None, created_at=1_700_000_000 + at * 90_000, text=text, category=category, department=department)
        for at, (category, department, text) in enumerate(rows)
        if not {"\ud800", "\x00"} & set(category + department + text)
    ]  # fmt: skip
    if made:
        dataset_id = fill(store, made)
        for question in ("Give me an overview", "Which departments get the most tickets?", "What changed?"):
            desk = desk_for(store, question, dataset_id)
            said = answer(desk)
            kept, _ = bear_out(said.sentences, desk.book)
            assert kept
    engine.dispose()


@pytest.mark.promise("insight.analysis.unsupported")
def test_a_sentence_that_its_evidence_does_not_bear_out_is_left_out(company: Store) -> None:
    book = Figures(company)
    true = ask(company, "How many tickets are there?").sentences[0]
    figure = true.figures[0]
    lies = (
        Sentence(
            text="There are 601 tickets.",
            figures=(type(figure)(value=figure.value + 1, shown="601", query=figure.query),),
        ),
        Sentence(text="Everybody is happy."),
        say("One ticket says ", Quote(ticket_id=1, words="everything is wonderful here"), "."),
        say("One ticket says ", Quote(ticket_id=999_999, words="I sent the kettle back"), "."),
    )
    kept, refused = bear_out((true, *lies), book)
    assert kept == (true,)
    assert [each.code for each in refused] == [
        "figure_differs",
        "sentence_without_reference",
        "quote_not_found",
        "record_unknown",
    ]
