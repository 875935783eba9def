"""Reports: deterministic, escaped, and every number computed again; on both databases."""

import re
from random import Random

import pytest
import sqlalchemy as sa

from tallystick.errors import ToolError
from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.report.chart_data import chart_data
from tallystick.rooms.insight.report.recheck import recheck
from tallystick.rooms.insight.report.report import Report, ReportRequest, build_report
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.tables import TICKETS
from tallystick.storage.database import writing
from tests.rooms.insight.company import START, fill, group, tickets
from tests.sizes import size

NOW = 1_711_900_000


def report_on(store: Store, dataset_id: int, **more: int) -> Report:
    return build_report(store, ReportRequest(dataset_id=dataset_id, made_at=NOW, **more))


def whole(store: Store) -> int:
    dataset_id = fill(store, tickets())
    group(store, dataset_id)
    return dataset_id


def change_one(store: Store, dataset_id: int, **values: object) -> None:
    """Change a ticket behind everybody's back."""
    ticket_id = store.ticket_ids(dataset_id)[5]
    with writing(store.engine) as connection:
        connection.execute(sa.update(TICKETS).where(TICKETS.c.id == ticket_id).values(**values))


@pytest.mark.promise("insight.reports")
def test_a_report_has_themes_trend_quotes_changes_quality_and_reassignments(store: Store) -> None:
    dataset_id = whole(store)
    text = report_on(store, dataset_id).markdown()
    for heading in (
        "In short",
        "Volume",
        "Themes",
        "What changed",
        "By department",
        "Complexity and reassignments",
        "Quality of the data",
        "Figures",
    ):
        assert f"\n## {heading}\n" in text
    plain = re.sub(r'\[([^\]]*)\]\(#figures "f\d+"\)', r"\1", text)
    assert "| login, order | 147 | 24.5 % | 10.0 % | 38.1 % | 28.1 |" in plain
    assert "> The password reset mail does not reach me" in plain


@pytest.mark.promise("insight.reports")
def test_the_same_data_give_the_same_bytes(store: Store) -> None:
    dataset_id = whole(store)
    one, other = report_on(store, dataset_id), report_on(store, dataset_id)
    assert (one.markdown(), one.html()) == (other.markdown(), other.html())
    later = build_report(store, ReportRequest(dataset_id=dataset_id, made_at=NOW + 60)).markdown()
    differing = [a for a, b in zip(one.markdown().splitlines(), later.splitlines(), strict=True) if a != b]
    assert len(differing) == 2
    assert all("2024-03-31T" in line for line in differing)


@pytest.mark.promise("insight.recheck")
def test_every_number_of_a_report_is_reproduced(store: Store) -> None:
    dataset_id = whole(store)
    report = report_on(store, dataset_id)
    for text in (report.markdown(), report.html(), report.markdown().replace("\n", "\r\n")):
        found = recheck(text, store)
        assert found.ok, found.differences
        assert found.checked >= len(report.figures) > 100


@pytest.mark.promise("insight.recheck")
@pytest.mark.parametrize(
    ("values", "label"),
    [
        ({"department": "Elsewhere"}, "Tickets: department"),
        ({"created_at": START + 55 * 86_400}, "Tickets: week"),
        ({"category": None}, "Tickets: without category"),
        ({"body": b'{"text":"other words entirely"}'}, "Checksum of all tickets"),
    ],
)
def test_one_changed_ticket_fails_and_the_number_is_named(store: Store, values: dict[str, object], label: str) -> None:
    dataset_id = whole(store)
    report = report_on(store, dataset_id)
    change_one(store, dataset_id, **values)
    for text in (report.markdown(), report.html()):
        found = recheck(text, store)
        assert not found.ok
        assert any(one.label.startswith(label) and one.kind == "figure" for one in found.differences)
        assert all(one.said != one.now for one in found.differences)


@pytest.mark.promise("insight.recheck")
def test_a_number_that_was_changed_in_the_text_is_found(store: Store) -> None:
    dataset_id = whole(store)
    report = report_on(store, dataset_id)
    text = report.markdown()
    changed = text.replace('[600](#figures "f1")', '[601](#figures "f1")')
    assert changed != text
    (found,) = recheck(changed, store).differences
    assert (found.note_id, found.kind, found.place, found.said, found.now) == ("f1", "text", "text", "601", "600")
    page = report.html()
    worse = page.replace(">600</data>", ">601</data>", 1)
    assert [(one.kind, one.said, one.now) for one in recheck(worse, store).differences] == [("text", "601", "600")]
    forged = text.replace('"shown":"600","value":"600"', '"shown":"601","value":"601"')
    places = {(one.kind, one.place, one.said, one.now) for one in recheck(forged, store).differences}
    assert places == {("text", "figures", "601", "600")}


@pytest.mark.promise("insight.recheck")
def test_what_was_changed_by_hand_is_told_once_for_each_place_with_what_is_right(store: Store) -> None:
    dataset_id = whole(store)
    report = report_on(store, dataset_id)
    assert 'value="24.5">24.5 %</data>' in report.html()
    for made in (report.markdown(), report.html()):
        # Everywhere; and as an editor does that changes the first of each line.
        for times in (0, 1):
            edited = "\n".join(re.sub(r"24\.5", "25.5", line, count=times) for line in made.split("\n"))
            found = recheck(edited, store).differences
            places = [(one.note_id, one.place, one.said) for one in found]
            assert len(places) == len(set(places)) > 1
            assert {one.kind for one in found} == {"text"}
            for one in found:
                assert "25.5" in one.said
                assert (one.now or "") == one.said.replace("25.5", "24.5")
                assert "changed by hand" in one.sentence()


@pytest.mark.promise("insight.recheck")
def test_a_quote_that_was_changed_in_the_text_is_told_and_other_words_are_said_to_be_changed(store: Store) -> None:
    dataset_id = whole(store)
    report = report_on(store, dataset_id)
    for made, mark in ((report.markdown(), "> "), (report.html(), "<blockquote>")):
        edited = made.replace(f"{mark}The password", f"{mark}My password", 1)
        (found,) = recheck(edited, store).differences
        assert (found.note_id[0], found.kind, found.place) == ("q", "text", "text")
        assert found.said.replace("My password", "The password", 1) == found.now
        other = edited.replace("In short", "At length", 1)
        assert [(one.note_id, one.kind) for one in recheck(other, store).differences][1:] == [("report", "text")]
        both = other.replace("24.5", "25.5")
        assert {one.kind for one in recheck(both, store).differences} == {"text"}
        (words,) = recheck(made.replace("In short", "At length", 1), store).differences
        assert (words.note_id, words.kind, words.now) == ("report", "text", None)


@pytest.mark.promise("insight.recheck")
def test_what_is_no_report_of_this_workspace_is_said_to_be_none(store: Store) -> None:
    dataset_id = whole(store)
    text = report_on(store, dataset_id).markdown()
    for given in ("", "# A text", text.replace('{"report":', "{report:"), text.partition("## Figures")[0]):
        assert [one.kind for one in recheck(given, store).differences] == ["unreadable"]
    foreign = text.replace("a" * 64, "c" * 64)
    assert [one.kind for one in recheck(foreign, store).differences] == ["dataset"]


@pytest.mark.promise("insight.recheck")
def test_no_report_however_broken_is_more_than_a_difference(store: Store) -> None:
    dataset_id = whole(store)
    text, chance = report_on(store, dataset_id).markdown(), Random(4)
    start = text.index("\n## Figures\n")
    for _ in range(size(12, 300)):
        at = chance.randrange(start, len(text))
        broken = text[:at] + chance.choice(["", "9", '"', "{", "\n", "null", "-1"]) + text[at + chance.randrange(4) :]
        assert isinstance(recheck(broken, store).ok, bool)


@pytest.mark.promise("insight.reports.safe")
def test_what_people_wrote_stays_text(store: Store) -> None:
    evil = '<script>alert(1)</script><img src=x onerror=alert(2)> [click](javascript:alert(3)) | # x "q" & `code`'
    made = [
        NewTicket(
            external_id=None,
            created_at=START + at * 86_400,
            text=f"{evil} number {at % 3}",
            category=evil + str(at % 2),
            department=evil,
        )
        for at in range(40)
    ]
    dataset_id = fill(store, made, name=evil)
    report = report_on(store, dataset_id)
    page, text = report.html(), report.markdown()
    assert "<script" not in page
    assert "<img" not in page
    assert re.search(r"\son\w+=", re.sub(r">[^<]*<", "><", page)) is None
    assert re.search(r"(?:src|href)=", re.sub(r">[^<]*<", "><", page)) is None
    above = text.partition("\n## Figures\n")[0]
    assert re.search(r"(?<!\\)(?:\]\(javascript|<script|<img|`)", above) is None
    assert recheck(page, store).ok
    assert recheck(text, store).ok


@pytest.mark.promise("insight.reports")
def test_another_dataset_is_compared_with(store: Store) -> None:
    before = fill(store, tickets(seed=3, many=300), name="before.csv", file_hash="b" * 64)
    dataset_id = whole(store)
    report = report_on(store, dataset_id, compare_dataset_id=before)
    text = report.markdown()
    assert "What changed against before.csv" in text
    assert any("a.dataset=1&b.dataset=2" in each["query"] for each in report.figures)
    assert recheck(text, store).ok


@pytest.mark.promise("insight.reports")
def test_answers_stand_in_the_report_with_their_figures(store: Store) -> None:
    dataset_id = whole(store)
    sentence = {"text": "There are 600.", "figures": [{"value": "600", "shown": "600", "query": "tickets?dataset=1"}]}
    store.add_analysis(dataset_id, "v1", "How many?", 5, {"sentences": [sentence]}, NOW)
    text = report_on(store, dataset_id).markdown()
    assert "How many?" in text
    assert recheck(text, store).ok


def test_tickets_without_dates_fields_or_groups_have_a_report_too(store: Store) -> None:
    dataset_id = fill(store, [NewTicket(external_id=None, created_at=None, text="help")])
    text = report_on(store, dataset_id).markdown()
    assert "run the clustering first" in text
    assert recheck(text, store).ok
    assert chart_data(store, dataset_id)["by_week"] == []


def test_a_dataset_or_grouping_that_is_not_there_is_404(store: Store) -> None:
    dataset_id = whole(store)
    for given in (
        {"dataset_id": 77},
        {"dataset_id": dataset_id, "run_id": 77},
        {"dataset_id": dataset_id, "compare_dataset_id": 7},
    ):
        with pytest.raises(ToolError) as raised:
            report_on(store, **given)
        assert raised.value.status == 404


@pytest.mark.promise("insight.metrics")
def test_chart_data_add_up(store: Store) -> None:
    dataset_id = whole(store)
    found = chart_data(store, dataset_id)
    for name in ("by_day", "by_week", "by_month", "by_weekday", "by_hour", "by_department", "by_product", "themes"):
        assert sum(each["tickets"] for each in found[name]) == found["tickets"] == 600, name
    assert [each["name"] for each in found["by_month"]] == ["2024-02", "2024-03"]
    assert sum(each["tickets"] for each in found["themes"][0]["by_week"]) == found["themes"][0]["tickets"]
