"""Whole files into both databases."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.insight.ingest import dataset_import
from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, Progress, take
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.model import BadRow
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.ingest.files import FORMATS, PLACEHOLDERS, as_csv, sheet, take_bytes, tickets

ROWS = [
    {
        "Number": f"INC{n:04}",
        "Short description": f"Subject {n}",
        "Description": f"Größe {n}: it broke",
        "Opened": f"2026-01-{n + 1:02} 10:00:00",
        "Assignment group": "AB"[n % 2],
        "Caller": f"Person {n % 3}",
        "Priority": "3 - Moderate",
        "Resolved": "",
        "Reassignment count": str(n),
        "Channel": "web",
    }
    for n in range(12)
]


@pytest.mark.promise("insight.formats")
@pytest.mark.promise("insight.headers")
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_tickets(store: Store, tmp_path: Path, name: str) -> None:
    taken = take_bytes(store, tmp_path, name, FORMATS[name](ROWS))
    found = tickets(store, taken)
    assert (taken.inserted, taken.dataset.row_count, taken.dataset.department_count) == (12, 12, 2)
    assert taken.dataset.bad_rows == ()
    first = found[1]
    assert (first.external_id, first.summary, first.text) == ("INC0001", "Subject 1", "Größe 1: it broke")
    assert (first.department, first.priority, first.reassignments) == ("B", "3 - Moderate", 1)
    assert (first.created_at, first.resolved_at) == (1767348000, None)
    assert first.extra == {"Channel": "web"}
    assert first.customer == found[4].customer != found[2].customer


@pytest.mark.promise("insight.once")
def test_the_same_bytes_again_insert_nothing(store: Store, tmp_path: Path) -> None:
    data = as_csv(ROWS)
    first = take_bytes(store, tmp_path, "a.csv", data)
    again = take_bytes(store, tmp_path, "b.csv", data, name="another")
    assert again.dataset == first.dataset
    assert (first.inserted, again.inserted, store.count(first.dataset.dataset_id)) == (12, 0, 12)
    other = take_bytes(store, tmp_path, "a.csv", data + b"\n")
    assert other.dataset.dataset_id != first.dataset.dataset_id


@pytest.mark.promise("insight.once")
def test_the_same_bytes_at_the_same_time_are_stored_once(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(ROWS))
    asked = ImportRequest(workspace=tmp_path, file_path="a.csv")
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: take(asked, store, PLACEHOLDERS, now=1), range(4)))
    assert len(store.datasets()) == 1
    assert sorted(one.inserted for one in taken) == [0, 0, 0, 12]


@pytest.mark.promise("insight.bad-rows")
def test_bad_rows_are_listed_and_good_ones_kept(store: Store, tmp_path: Path) -> None:
    lines = [
        "id,text,created_at",
        "1,good,2026-01-31",
        "2,,2026-01-31",
        "3,late,tomorrow",
        "1,double,2026-01-31",
        "4,wide,2026-01-31,x,y",
        "5,short",
        "6,good,",
        "7,null,2026-01-31",
        "8," + ",".join(["w"] * 10_000),
    ]
    taken = take_bytes(store, tmp_path, "a.csv", "\n".join(lines).encode())
    assert taken.dataset.bad_row_count == 6
    assert taken.dataset.bad_rows == (
        BadRow(line=3, reason="no_text"),
        BadRow(line=4, reason="bad_date", detail="created_at"),
        BadRow(line=5, reason="duplicate_id", detail="1"),
        BadRow(line=6, reason="too_many_columns", detail="5 cells, 3 columns"),
        BadRow(line=9, reason="no_text"),
        BadRow(line=10, reason="too_many_columns", detail="10001 cells, 3 columns"),
    )
    assert [ticket.external_id for ticket in tickets(store, taken)] == ["1", "5", "6"]


@pytest.mark.promise("insight.bad-rows")
def test_only_the_first_bad_rows_are_kept_and_all_are_counted(store: Store, tmp_path: Path) -> None:
    taken = take_bytes(store, tmp_path, "a.csv", b"id,text\n1,a\n" + b"2,\n" * 500)
    assert (taken.dataset.bad_row_count, len(taken.dataset.bad_rows)) == (500, dataset_import.KEPT_BAD_ROWS)


@pytest.mark.promise("insight.dates")
@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["2026-02-01T00:00:00Z", "2026-02-13"], 1769904000),
        (["02/01/2026", "02/13/2026"], 1769904000),
        (["01/02/2026", "13/02/2026"], 1769904000),
        (["1769904000", "1770940800"], 1769904000),
        (["1769904000000", "1770940800000"], 1769904000),
        (["Sun, 01 Feb 2026 00:00:00 +0000", "Fri, 13 Feb 2026 01:00:00 +0100"], 1769904000),
    ],
)
def test_dates_of_five_kinds_give_the_same_moments(store: Store, tmp_path: Path, values: list[str], first: int) -> None:
    taken = take_bytes(store, tmp_path, "a.csv", as_csv([{"text": "a", "created_at": value} for value in values]))
    assert [ticket.created_at for ticket in tickets(store, taken)] == [first, 1770940800]


@pytest.mark.promise("insight.mapping")
def test_a_mapping_is_said_or_kept_under_a_name(store: Store, tmp_path: Path) -> None:
    rows = [{"colour": "blue", "words": "hello", "text": "not this"}]
    said = take_bytes(store, tmp_path, "a.csv", as_csv(rows), mapping={"text": "words", "category": "colour"})
    assert said.dataset.mapping == {"text": "words", "category": "colour"}
    assert [(ticket.text, ticket.category) for ticket in tickets(store, said)] == [("hello", "blue")]
    store.put_mapping("monthly", {"text": "words"})
    for file, name in (("monthly.csv", None), ("b.csv", "monthly")):
        kept = take_bytes(store, tmp_path, file, as_csv([*rows, {**rows[0], "colour": file}]), name=name)
        assert kept.dataset.mapping == {"text": "words"}


@pytest.mark.promise("insight.whole")
@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.csv", b"", "empty_file"),
        ("a.csv", b" \n\n", "empty_file"),
        ("a.csv", b"id,text\n", "header_only"),
        ("a.csv", b"a,b\n1,2\n", "no_text_column"),
        ("a.csv", b"id,text\n1,\n2,\n", "no_good_rows"),
        ("a.xlsx", sheet([]), "empty_file"),
        ("a.xlsx", sheet([["id", "text"]]), "header_only"),
        ("a.xlsx", b"PK\x03\x04 no", "not_a_spreadsheet"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "old_spreadsheet"),
        ("a.json", b"[]", "empty_file"),
        ("a.json", b"{}", "empty_file"),
        ("a.json", b"nothing", "json_broken"),
        ("a.json", b'[{"text": "a"}, {"te', "json_broken"),
        ("a.bin", bytes(range(256)), "not_text"),
    ],
)
def test_a_file_that_cannot_be_taken_leaves_nothing(
    store: Store, tmp_path: Path, name: str, data: bytes, code: str
) -> None:
    with pytest.raises(UnusableFile) as caught:
        take_bytes(store, tmp_path, name, data)
    assert (caught.value.code, caught.value.status) == (code, 400)
    assert caught.value.hint
    assert store.datasets() == []


@pytest.mark.promise("insight.whole")
def test_a_file_that_changes_on_the_way_leaves_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(ROWS) + b"x,text\n" * dataset_import.TOLD_EVERY)

    def change(_: Progress) -> None:
        with (tmp_path / "a.csv").open("ab") as more:
            more.write(b"x")

    with pytest.raises(UnusableFile) as caught:
        take(ImportRequest(workspace=tmp_path, file_path="a.csv"), store, PLACEHOLDERS, now=1, progress=change)
    assert caught.value.code == "file_changed"
    assert store.datasets() == []
    assert store.count(1) == 0


@pytest.mark.promise("insight.streams")
def test_progress_is_told_and_never_goes_back(store: Store, tmp_path: Path) -> None:
    told: list[Progress] = []
    (tmp_path / "a.csv").write_bytes(b"text\n" + b"some words that are written here\n" * 12_000)
    asked = ImportRequest(workspace=tmp_path, file_path="a.csv")
    taken = take(asked, store, PLACEHOLDERS, now=1, progress=told.append)
    assert taken.inserted == 12_000
    assert [one.rows for one in told] == [5_000, 10_000, 12_000]
    assert [one.share for one in told] == sorted(one.share for one in told)
    assert 0 < told[0].share < told[-1].share == 1


@pytest.mark.promise("insight.hostile")
def test_nothing_that_a_database_cannot_hold_reaches_it(store: Store, tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [{"text": "a\0b\r\nc", "department": "x\0y", "category": "é" * 5_000}]
    taken = take_bytes(store, tmp_path, "a.json", FORMATS["tickets.json"](odd))
    (ticket,) = tickets(store, taken)
    assert (ticket.text, ticket.department) == ("ab\nc", "xy")
    assert ticket.category == "é" * 200
