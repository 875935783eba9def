import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.insight.ingest import xlsx_table
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.ingest.xlsx_table import XlsxTable
from tests.rooms.insight.ingest.files import cells, rows_of, sheet

ROWS: list[list[Any]] = [
    ["id", "text", "created_at", "n"],
    [1, "hello", datetime(2026, 1, 31, 12, tzinfo=UTC).replace(tzinfo=None), 2.5],
    [2.0, "=1+2", None, True],
]


@pytest.mark.promise("insight.formats")
def test_cells_are_read_as_text(tmp_path: Path) -> None:
    assert cells(rows_of(XlsxTable, tmp_path, sheet(ROWS))) == [
        ["id", "text", "created_at", "n"],
        ["1", "hello", "2026-01-31T12:00:00", "2.5"],
        ["2", "=1+2", "", "true"],
    ]


@pytest.mark.promise("insight.hostile")
def test_a_formula_is_its_text_and_never_computed(tmp_path: Path) -> None:
    formula = '=HYPERLINK("http://example.org","x")'
    assert cells(rows_of(XlsxTable, tmp_path, sheet([["text"], [formula]])))[1] == [formula]


@pytest.mark.promise("insight.formats")
def test_the_sheet_with_tickets_is_found_behind_others(tmp_path: Path) -> None:
    assert len(rows_of(XlsxTable, tmp_path, sheet(ROWS, before=["cover", "notes"]))) == 3
    assert rows_of(XlsxTable, tmp_path, sheet([])) == []


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    ("part", "data", "code"),
    [
        ("xl/worksheets/sheet1.xml", b"0" * 40_000_000, "zip_bomb"),
        ("xl/worksheets/sheet1.xml", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>', "doctype"),
        ("xl/worksheets/sheet1.xml", '<?xml version="1.0"?><!DOCTYPE a []><a/>'.encode("utf-16"), "doctype"),
        ("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row", "not_a_spreadsheet"),
        ("xl/workbook.xml", b"nothing", "not_a_spreadsheet"),
    ],
)
def test_a_workbook_with_a_hostile_part_is_refused(tmp_path: Path, part: str, data: bytes, code: str) -> None:
    with pytest.raises(UnusableFile) as caught:
        rows_of(XlsxTable, tmp_path, with_part(sheet(ROWS), part, data))
    assert caught.value.code == code


@pytest.mark.promise("insight.hostile")
def test_rows_that_no_program_writes_are_not_counted_to(tmp_path: Path) -> None:
    far = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    far += b'<row r="1"><c r="A1" t="inlineStr"><is><t>text</t></is></c></row><row r="2000000000"/></sheetData></worksheet>'
    with pytest.raises(UnusableFile) as caught:
        rows_of(XlsxTable, tmp_path, with_part(sheet(ROWS), "xl/worksheets/sheet1.xml", far))
    assert caught.value.code == "too_many_rows"


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize("cut", [10, 400, 2_000])
def test_a_damaged_workbook_is_refused(tmp_path: Path, cut: int) -> None:
    with pytest.raises(UnusableFile) as caught:
        rows_of(XlsxTable, tmp_path, sheet(ROWS)[:cut])
    assert caught.value.code == "not_a_spreadsheet"


@pytest.mark.promise("insight.hostile")
def test_an_archive_of_many_parts_or_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(xlsx_table.MAX_PARTS + 1):
            archive.writestr(f"{number}.txt", b"")
    with pytest.raises(UnusableFile) as caught:
        xlsx_table.check_archive(many)
    assert caught.value.code == "zip_bomb"
    monkeypatch.setattr(xlsx_table, "MAX_STRINGS", 10)
    with zipfile.ZipFile(many, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", b"<sst></sst>")
    with pytest.raises(UnusableFile) as caught:
        rows_of(XlsxTable, tmp_path, many.getvalue())
    assert caught.value.code == "too_large"


def with_part(book: bytes, name: str, data: bytes) -> bytes:
    """The workbook with another part in the place of one."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(part.filename, data if part.filename == name else old.read(part))
    return made.getvalue()
