from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.insight.ingest import layout
from tallystick.rooms.insight.ingest.formats import table_of
from tallystick.rooms.insight.ingest.layout import Layout, check_mapping, layout_of
from tallystick.rooms.insight.ingest.source_file import opened
from tallystick.rooms.insight.ingest.table import UnusableFile


def laid_out(folder: Path, lines: Sequence[str], mapping: dict[str, str] | None = None) -> Layout:
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    with opened(folder, "a.csv") as file:
        return layout_of(table_of(file), mapping)


def refused(folder: Path, lines: Sequence[str], mapping: Any = None) -> str:
    with pytest.raises(UnusableFile) as caught:
        laid_out(folder, lines, mapping)
    assert caught.value.hint
    return caught.value.code


@pytest.mark.promise("insight.headers")
def test_a_header_is_found_below_a_title(tmp_path: Path) -> None:
    found = laid_out(tmp_path, ["Export of 2026-01-31", "", "Number,Description,State", "1,a,open"])
    assert (found.header_line, found.mapping()["text"]) == (3, "Description")


@pytest.mark.promise("insight.mapping")
def test_what_is_said_comes_before_what_is_known(tmp_path: Path) -> None:
    lines = ["id,text,Body,Kind", "1,a,b,c"]
    assert laid_out(tmp_path, lines).mapping() == {"text": "text", "external_id": "id"}
    said = laid_out(tmp_path, lines, {"text": "Body", "category": "kind", "external_id": "-"})
    assert said.mapping() == {"text": "Body", "category": "Kind"}


@pytest.mark.promise("insight.mapping")
def test_a_mapping_finds_a_header_of_unknown_names(tmp_path: Path) -> None:
    assert laid_out(tmp_path, ["x;y", "1;2"], {"text": "y"}).mapping() == {"text": "y"}


@pytest.mark.promise("insight.mapping")
@pytest.mark.parametrize(
    "mapping", [{"text": "nowhere"}, {"colour": "text"}, {"text": "text", "category": "text"}, {"text": ""}]
)
def test_a_mapping_that_does_not_fit_is_refused(tmp_path: Path, mapping: dict[str, str]) -> None:
    assert refused(tmp_path, ["id,text", "1,a"], mapping) == "mapping_invalid"


@pytest.mark.promise("insight.mapping")
def test_a_mapping_names_fields_of_tickets_and_each_column_once() -> None:
    assert check_mapping({}) == {}
    assert check_mapping({"text": "Body", "category": "Ticket Type"}) == {"text": "Body", "category": "Ticket Type"}
    for wrong in ({"mood": "Body"}, {"text": "Body", "category": "Body"}):
        with pytest.raises(UnusableFile) as caught:
            check_mapping(wrong)
        assert caught.value.code == "mapping_invalid"


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["", "", ","], "empty_file"),
        (["id^text^date", "1^a^b"], "no_text_column"),
        (["a,b", "1,2"], "no_text_column"),
        ([",".join(f"c{n}" for n in range(10_000)), "1"], "too_many_columns"),
    ],
)
def test_a_file_without_a_usable_header_is_refused(tmp_path: Path, lines: list[str], code: str) -> None:
    assert refused(tmp_path, lines) == code


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    found = laid_out(tmp_path, ["text,note,note,,note (3)", "a,b,c,d,e"])
    assert found.columns == ("text", "note", "note (3)", "column 4", "note (3) (5)")


@pytest.mark.promise("insight.dates")
def test_the_order_of_day_and_month_is_decided_for_a_column_by_a_row_far_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "SAMPLE", 5)
    same = [f"text {n},01/02/2026,02/01/2026" for n in range(50)]
    found = laid_out(tmp_path, ["text,created_at,resolved_at", *same, "last,13/02/2026,02/13/2026"])
    assert found.day_first == {"created_at": True, "resolved_at": False}
    assert laid_out(tmp_path, ["text,created_at", "a,2026-01-31", "b,"]).day_first == {}
