"""Small files that come to much once they are read."""

import io
import json
import zipfile

from tests.rooms.insight.ingest.files import sheet

_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

_STRINGS = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def shared_string_bomb(rows: int, chars: int) -> bytes:
    """A workbook whose rows all refer to one long text."""
    lines = ['<row r="1"><c r="A1" t="inlineStr"><is><t>text</t></is></c></row>']
    lines += [f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>' for row in range(2, rows + 2)]
    strings = f'<sst xmlns="{_SHEET}" count="1" uniqueCount="1"><si><t>{"word " * (chars // 5)}</t></si></sst>'
    return _workbook("".join(lines), strings)


def wide_sheet(columns: int, rows: int) -> bytes:
    """A workbook with a header of so many columns."""
    cells = "".join(f'<c t="inlineStr"><is><t>column {place}</t></is></c>' for place in range(columns))
    return _workbook("".join(f'<row r="{row}">{cells}</row>' for row in range(1, rows + 1)), "")


def wide_csv(columns: int, rows: int) -> bytes:
    line = ",".join(f"column {place}" for place in range(columns)) + "\n"
    return (line * rows).encode()


def long_names_csv(rows: int, columns: int = 900, chars: int = 200) -> bytes:
    """A table whose column names are stored with every one of its short rows."""
    names = ",".join(["text", *(f"{place:0{chars}d}" for place in range(columns))])
    return (names + "\n" + ("some words" + ",1" * columns + "\n") * rows).encode()


def wide_json(keys: int) -> bytes:
    return json.dumps([{f"key {place}": "x" for place in range(keys)}]).encode()


def _workbook(rows: str, strings: str) -> bytes:
    made = io.BytesIO()
    parts = {"xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData></worksheet>'}
    parts["xl/sharedStrings.xml"] = strings or f'<sst xmlns="{_SHEET}"/>'
    with (
        zipfile.ZipFile(io.BytesIO(sheet([["text"], ["a"]]))) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            data = old.read(part).replace(b"</Types>", _STRINGS + b"</Types>")
            new.writestr(part.filename, parts.pop(part.filename, data))
        for name, text in parts.items():
            new.writestr(name, text)
    return made.getvalue()
