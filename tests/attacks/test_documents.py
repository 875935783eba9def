"""Documents, books and files of messages that come to more than they look."""

import io
import zipfile
from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.intake.file_event import FileEvent, SkippedItem
from tallystick.rooms.desk.intake.files import events_in
from tallystick.rooms.desk.kb.document_reader import read_document
from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.model import SourceRefused
from tallystick.settings import parse_settings
from tallystick.text.documents.model import DocumentRefused
from tallystick.text.documents.pdf_process import main as read_pdf_pages

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word_document(chars: int) -> bytes:
    paragraph = f"<w:p><w:r><w:t>{'lorem ipsum ' * (chars // 12)}</w:t></w:r></w:p>"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{_W}"><w:body>{paragraph}</w:body></w:document>')
    return made.getvalue()


@pytest.mark.promise("attacks.expanded")
def test_limits_are_data_with_a_unit_and_a_reason() -> None:
    for name, field in ImportLimits.model_fields.items():
        assert field.description, name
        assert f"imports.{name} = {getattr(DEFAULT, name):,} " in DEFAULT.named(name)
    assert parse_settings({"imports": {"columns": 5}}).imports.columns == 5


@pytest.mark.promise("attacks.expanded")
@pytest.mark.parametrize(
    ("name", "data", "limits", "setting"),
    [
        ("a.md", b"words " * 1_000, ImportLimits(document_bytes=1_000), "imports.document_bytes"),
        ("a.txt", b"words " * 1_000, ImportLimits(document_chars=1_000), "imports.document_chars"),
        ("a.html", b"<p>words</p>" * 1_000, ImportLimits(document_chars=1_000), "imports.document_chars"),
        ("a.docx", word_document(20_000), ImportLimits(document_bytes=5_000), "imports.document_bytes"),
        ("a.docx", word_document(20_000), ImportLimits(document_chars=5_000), "imports.document_chars"),
    ],
)  # fmt: skip
def test_a_document_beyond_a_limit_is_refused_and_names_it(
    name: str, data: bytes, limits: ImportLimits, setting: str
) -> None:
    with pytest.raises(DocumentRefused) as caught:
        read_document(name, data, limits)
    assert caught.value.code in {"too_large", "archive_bomb"}
    assert setting in str(caught.value)


@pytest.mark.promise("attacks.expanded")
def test_a_word_document_is_read_within_the_limits() -> None:
    assert read_document("a.docx", word_document(20_000)).text.startswith("lorem ipsum")


@pytest.mark.promise("attacks.expanded")
def test_the_reader_of_pdfs_refuses_rather_than_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that reads has limits of its own; here only what it answers is of interest."""
    from pypdf import PdfWriter  # noqa: PLC0415
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject  # noqa: PLC0415

    writer = PdfWriter()
    page = writer.add_blank_page(width=200, height=200)
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    drawn = DecodedStreamObject()
    drawn.set_data(b"BT /F1 12 Tf 10 100 Td (some words on a page) Tj ET")
    page[NameObject("/Contents")] = writer._add_object(drawn)
    data = io.BytesIO()
    writer.write(data)
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    monkeypatch.setattr("logging.disable", lambda: None)
    for most, answer in ((5, {"code": "too_large"}), (500, None)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.getvalue())))
        told = read_pdf_pages(most)
        assert told == answer if answer else told["pages"] == ["some words on a page"]


@pytest.mark.promise("attacks.expanded")
def test_a_folder_is_read_as_far_as_all_its_files_may_come_to(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("words " * 1_000)
    with pytest.raises(SourceRefused) as caught:
        read_source(tmp_path, ImportLimits(total_bytes=20_000))
    assert (caught.value.code, "imports.total_bytes" in str(caught.value)) == ("source_too_large", True)


@pytest.mark.promise("attacks.expanded")
def test_messages_are_read_within_the_limits(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("content\nfine\n" + "x" * 3_000 + "\n" + "y" * 400 + "\nfine too\n")
    limits = ImportLimits(row_chars=1_000, cell_chars=300)
    found = events_in(path, limits=limits)
    assert not isinstance(found, Problem)
    assert [type(one) for one in found] == [FileEvent, SkippedItem, SkippedItem, FileEvent]
    large = events_in(path, limits=ImportLimits(file_bytes=100))
    assert isinstance(large, Problem)
    assert (large.code, "imports.file_bytes" in large.message) == ("file_too_large", True)
    path.write_text("content," + ",".join("abcdefgh") + "\n")
    wide = events_in(path, limits=ImportLimits(columns=3))
    assert isinstance(wide, Problem)
    assert (wide.code, "imports.columns" in wide.message) == ("too_many_columns", True)
