"""A damaged archive is refused by every reader of the house, however its parts were packed."""

import io
import zipfile
from pathlib import Path

import pytest

from tallystick.rooms.desk.kb.docx import read_docx
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.rooms.insight.ingest.xlsx_table import check_archive
from tallystick.text.documents.archive import Archive
from tallystick.text.documents.model import DocumentRefused

PART = "word/document.xml"
packed = pytest.mark.parametrize(
    "how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=str
)


def damaged(how: int) -> bytes:
    """An archive whose directory is whole and whose only part is not."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", how) as archive:
        archive.writestr(PART, "<a>" + "the same words over and over " * 500 + "</a>")
    data = bytearray(held.getvalue())
    for place in range(60, 90):
        data[place] ^= 0x5A
    return bytes(data)


# What is stored unpacked has no form to break: the sum of the whole part is looked at by whoever reads all of it.
@pytest.mark.promise("storage.archives")
@pytest.mark.parametrize("how", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=str)
def test_a_damaged_spreadsheet_is_refused(how: int) -> None:
    with pytest.raises(UnusableFile) as caught:
        check_archive(io.BytesIO(damaged(how)))
    assert caught.value.code == "not_a_spreadsheet"


@pytest.mark.promise("storage.archives")
@packed
def test_a_damaged_document_is_refused(how: int) -> None:
    with pytest.raises(DocumentRefused):
        read_docx(damaged(how))


@pytest.mark.promise("storage.archives")
@packed
def test_a_damaged_manuscript_is_refused(how: int, tmp_path: Path) -> None:
    (tmp_path / "book.docx").write_bytes(damaged(how))
    with Archive(tmp_path / "book.docx") as archive, pytest.raises(DocumentRefused) as caught:
        archive.read(PART)
    assert caught.value.code == "archive_damaged"
