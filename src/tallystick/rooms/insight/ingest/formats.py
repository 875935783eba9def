"""The format of a file: by its first bytes, then by its name."""

from tallystick.rooms.insight.ingest.bounds import Bounded
from tallystick.rooms.insight.ingest.csv_table import CsvTable
from tallystick.rooms.insight.ingest.encoding import table_encoding
from tallystick.rooms.insight.ingest.json_table import JsonTable
from tallystick.rooms.insight.ingest.source_file import SourceFile
from tallystick.rooms.insight.ingest.table import Table, UnusableFile
from tallystick.rooms.insight.ingest.xlsx_table import XlsxTable
from tallystick.text.encoding import HEAD

_ZIP = b"PK\x03\x04"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


def table_of(opened: SourceFile) -> Table:
    """A reader of the file's rows, within the workspace's limits.

    Raises:
        UnusableFile: `empty_file`, `not_text`, `old_spreadsheet`, or what is wrong with its format.
    """
    with opened.reader() as file:
        head = file.read(HEAD)
    if not head.strip():
        raise UnusableFile("empty_file", "The file is empty.", hint="Give a file with a header and tickets below it.")
    if head.startswith(_ZIP):
        return Bounded(XlsxTable(opened), opened)
    if head.startswith(_OLD_OFFICE):
        message = "The file is a spreadsheet of the old kind (.xls), or locked with a password."
        raise UnusableFile("old_spreadsheet", message, hint="Save it as .xlsx or CSV, without a password.")
    begin = head.decode(table_encoding(head), errors="replace").lstrip("\ufeff \t\r\n")
    suffix = opened.name.rpartition(".")[2].lower()
    is_json = suffix in {"json", "jsonl", "ndjson"} or (suffix not in {"csv", "tsv", "txt"} and begin[:1] in {"[", "{"})
    return Bounded(JsonTable(opened) if is_json else CsvTable(opened), opened)
