"""One reader of Word documents, for everybody: blocks in order, styles by name, and what was left out."""

from io import BytesIO
from pathlib import Path

import pytest
from docx import Document

from tallystick.text.documents.model import DocumentRefused
from tallystick.text.documents.word import Table, WordParagraph, WordRun, read_word


@pytest.fixture
def data() -> bytes:
    made = Document()
    made.core_properties.title = "The  Harbour"
    made.core_properties.keywords = "a, b"
    made.add_heading("The Harbour", level=0)
    made.add_heading("Arrival", level=2)
    paragraph = made.add_paragraph("Mara ")
    paragraph.add_run("mends").italic = True
    hidden = paragraph.add_run(" secretly")
    hidden.font.hidden = True
    made.add_paragraph("An entry.", style="List Bullet")
    made.add_paragraph("A saying.", style="Quote")
    table = made.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "left"
    table.cell(0, 1).add_table(rows=1, cols=1).cell(0, 0).text = "inner"
    held = BytesIO()
    made.save(held)
    return held.getvalue()


def test_blocks_come_in_order_with_what_their_styles_mean(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.docx").write_bytes(data)
    document = read_word(tmp_path / "x.docx")
    assert document == read_word(data)
    title, heading, text, entry, quote, table = document.blocks
    assert isinstance(title, WordParagraph)
    assert isinstance(heading, WordParagraph)
    assert (title.text, title.level, heading.level) == ("The Harbour", 0, 2)
    assert text == WordParagraph(runs=(WordRun(text="Mara "), WordRun(text="mends", italic=True)))
    assert isinstance(entry, WordParagraph)
    assert entry.listed
    assert isinstance(quote, WordParagraph)
    assert quote.quote
    assert not quote.listed
    assert isinstance(table, Table)
    assert document.properties["title"] == "The Harbour"
    assert document.omitted == {"hidden_text": 1}


def test_a_table_inside_a_cell_is_read_once(data: bytes) -> None:
    (outer,) = [block for block in read_word(data).blocks if isinstance(block, Table)]
    ((_, right),) = outer.rows
    (inner,) = [block for block in right if isinstance(block, Table)]
    assert [
        [block.text for block in cell if isinstance(block, WordParagraph)] for row in inner.rows for cell in row
    ] == [["inner"]]
    assert len(outer.rows) == 1


def test_an_archive_that_is_no_document_is_refused() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read_word(b"PK nothing")
    assert refused.value.code == "archive_damaged"
