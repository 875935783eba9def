"""From bytes to documents: text, sections, standing; and what is left out."""

import contextlib
import io
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.desk.kb.document_reader import read_document
from tallystick.rooms.desk.kb.model import Document
from tallystick.text.documents.model import DocumentRefused
from tallystick.text.documents.pdf import read_pdf
from tests.rooms.desk.kb.documents import docx, paragraph, pdf


def names(document: Document) -> list[str]:
    return [section.name for section in document.sections if section.name]


def refusal(doc: str, data: bytes) -> str:
    with pytest.raises(DocumentRefused) as refused:
        read_document(doc, data)
    assert str(refused.value)
    return refused.value.code


@pytest.mark.promise("desk.kb-formats")
def test_markdown_keeps_its_lines_and_its_headings_nest() -> None:
    text = "---\ntitle: Parcels\n---\n# Parcels\n\nIntro.\n\n## Late\n\nWait two days.\n\nSize\n----\nSmall.\n"
    document = read_document("a/parcels.md", text.encode())
    assert document.title == "Parcels"
    assert names(document) == ["Parcels", "Parcels > Late", "Parcels > Size"]
    assert document.lines[9] == "Wait two days."
    assert document.lines[0] == ""


@pytest.mark.promise("desk.kb-formats")
def test_a_heading_in_a_code_block_is_none() -> None:
    document = read_document("a.md", b"# Real\n\n```\n# not real\n```\n\n~~~~\n## neither\n~~~\n~~~~\n\n## Real too\n")
    assert names(document) == ["Real", "Real > Real too"]


@pytest.mark.promise("desk.kb-formats")
def test_plain_text_has_one_section_and_its_first_line_is_the_title() -> None:
    document = read_document("a.txt", "\n  Opening hours  \nTen to five.\n".encode("utf-16"))
    assert (document.title, names(document)) == ("Opening hours", [])
    assert "Ten to five." in document.text


@pytest.mark.promise("desk.kb-formats")
@pytest.mark.parametrize("encoding", ["cp1251", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("doc", ["a.txt", "a.md", "a.html"])
def test_a_document_is_decoded_whatever_wrote_it(doc: str, encoding: str) -> None:
    text = "Мы возвращаем деньги в течение тридцати дней после покупки, если товар не был использован."
    assert read_document(doc, text.encode(encoding)).lines == [text]


@pytest.mark.promise("desk.kb-formats")
def test_html_becomes_lines_with_headings_lists_and_tables() -> None:
    page = (
        "<html><head><title>Fees &amp; prices</title><meta name=description content=x></head><body><h1>Fees</h1>"
        "<p>All prices <b>include</b>\n VAT.<br>Yes.<h2>Cards</h2><ul><li>Visa<li>Mastercard</ul>"
        "<table><tr><th>Kind<th>Fee<tr><td>Blue<td>3</table></body></html>"
    )
    document = read_document("fees.html", page.encode())
    assert document.title == "Fees & prices"
    assert names(document) == ["Fees", "Fees > Cards"]
    assert [line for line in document.lines if line] == [
        "Fees",
        "All prices include VAT.",
        "Yes.",
        "Cards",
        "- Visa",
        "- Mastercard",
        "Kind | Fee",
        "Blue | 3",
    ]


@pytest.mark.promise("desk.kb-formats")
def test_a_word_document_becomes_paragraphs_lists_and_rows() -> None:
    body = (
        paragraph("Returns", level=1)
        + paragraph("Within 30 days.")
        + paragraph("Label", listed=True)
        + paragraph("Opened goods", level=2)
        + "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Kettle</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>yes</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    document = read_document("r.docx", docx(body, core="<dc:title>Returns policy</dc:title>"))
    assert document.title == "Returns policy"
    assert names(document) == ["Returns", "Returns > Opened goods"]
    assert {"Within 30 days.", "- Label", "Kettle | yes"} <= set(document.lines)


@pytest.mark.promise("desk.kb-formats")
def test_a_pdf_becomes_pages() -> None:
    document = read_document(
        "m.pdf", pdf("The kettle holds 0.9 litres.\nIt is red.", "Second page.", info="/Title (Manual)")
    )
    assert document.title == "Manual"
    assert names(document) == ["Page 1", "Page 2"]
    assert "The kettle holds 0.9 litres." in document.lines
    assert document.sections[1].text_line == document.sections[1].first_line


@pytest.mark.promise("desk.kb-standing")
@pytest.mark.parametrize(
    ("doc", "data"),
    [
        ("a.md", b"---\nStatus: Withdrawn # since May\n---\nx"),
        ("a.html", b'<meta name="status" content="withdrawn"><p>x'),
        ("a.docx", docx(paragraph("x"), core="<cp:contentStatus>withdrawn</cp:contentStatus>")),
        ("a.pdf", pdf("x y", info="/Status (withdrawn)")),
    ],
)
def test_every_format_can_say_that_it_is_withdrawn(doc: str, data: bytes) -> None:
    assert read_document(doc, data).standing == "withdrawn"


@pytest.mark.promise("desk.kb-standing")
@pytest.mark.parametrize(
    ("front", "standing", "by"),
    [
        ("status: superseded", "superseded", None),
        ('superseded_by: "new.md"', "superseded", "new.md"),
        ("superseded-by: new.md", "superseded", "new.md"),
        ("status: current\nsuperseded_by: null", "current", None),
        ("status: current", "current", None),
        ("titel: x", "current", None),
    ],
)
def test_what_replaced_a_document_is_read_from_its_front_matter(front: str, standing: str, by: str | None) -> None:
    document = read_document("a.md", f"---\n{front}\n---\nText.\n".encode())
    assert (document.standing, document.superseded_by) == (standing, by)


@pytest.mark.promise("desk.kb-standing")
def test_a_rule_at_the_beginning_is_no_front_matter_without_its_end() -> None:
    document = read_document("a.md", b"---\nstatus: withdrawn\n\nText goes on.\n")
    assert document.standing == "current"
    assert "Text goes on." in document.text


@pytest.mark.promise("desk.kb-unseen")
@pytest.mark.parametrize(
    "hidden",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<!-- SECRET -->",
        "<div hidden>SECRET</div>",
        '<p style="display: none">SECRET</p>',
        '<span style="font-size:0px">SECRET</span>',
        '<i style="opacity:0">SECRET</i>',
        '<div aria-hidden="true"><p>SECRET</div>',
        "<template>SECRET</template>",
        '<div style="position:absolute;left:-9999px">SECRET</div>',
        "<noscript>SECRET</noscript>",
        '<p STYLE="Visibility : HIDDEN">SECRET<p>',
        "<svg><text>SECRET</text></svg>",
    ],
)
def test_hidden_text_of_a_page_is_left_out_and_noted(hidden: str) -> None:
    document = read_document("a.html", f"<body><p>Seen before.</p>{hidden}<p>Seen after.</p>".encode())
    assert "SECRET" not in document.text
    assert {"Seen before.", "Seen after."} <= set(document.lines)
    assert document.left_out


@pytest.mark.promise("desk.kb-unseen")
def test_comments_of_markdown_are_blanked_and_the_lines_stay() -> None:
    document = read_document("a.md", b"# A\n<!-- SECRET\nmore\n-->\nSeen <!-- x --> here.\n<!-- never closed\nSECRET\n")
    assert "SECRET" not in document.text
    assert document.lines[4] == "Seen  here."
    assert document.left_out == ("comment",)


@pytest.mark.promise("desk.kb-unseen")
def test_hidden_and_deleted_words_of_a_word_document_are_left_out() -> None:
    body = (
        paragraph("Seen.")
        + paragraph("SECRET", form="<w:vanish/>")
        + "<w:p><w:del><w:r><w:t>SECRET</w:t></w:r></w:del></w:p>"
    )
    document = read_document("a.docx", docx(body))
    assert document.text == "Seen."
    assert document.left_out == ("deleted text", "hidden text")


@pytest.mark.promise("desk.kb-hostile")
@pytest.mark.parametrize(
    ("doc", "data", "code"),
    [
        ("a.exe", b"MZ", "not_a_document"),
        ("a.md", b"\0\1\2", "not_text"),
        ("a.md", b"x" * (33 * 1024 * 1024), "too_large"),
        ("a.md", b"\n" * 300_000, "too_large"),
        ("a.html", b"<p>" * 400_000, "too_large"),
        ("a.html", b"<div>" * 5_000, "too_deep"),
        ("a.docx", b"PK\x03\x04 not an archive", "damaged"),
        ("a.docx", docx("", extra={"bomb.xml": b"0" * 50_000_000}), "archive_bomb"),
        ("a.docx", docx("<w:p>" * 300 + "</w:p>" * 300), "xml_unsafe"),
        ("a.docx", docx("<w:p>broken"), "damaged"),
        ("a.pdf", b"%PDF-1.4\nnothing of a PDF", "damaged"),
        ("a.pdf", pdf(""), "no_text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_ends_in_a_code(doc: str, data: bytes, code: str) -> None:
    assert refusal(doc, data) == code


@pytest.mark.promise("desk.kb-hostile")
def test_entities_of_a_documents_own_are_refused() -> None:
    evil = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("word/document.xml", evil)
    assert refusal("a.docx", held.getvalue()) == "xml_unsafe"


@pytest.mark.promise("desk.kb-hostile")
def test_a_pdf_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read_pdf(pdf("x"), within_s=0.001)
    assert refused.value.code == "too_slow"


@pytest.mark.promise("desk.kb-hostile")
@pytest.mark.parametrize(
    "piece",
    ["<", "<!", "<!--", "<a ", "</", "<a href='", "&", "<![CDATA[", "<?", "<script>", "<p hidden>", "</p>", "<br"],
)
@pytest.mark.parametrize("end", ["", ">", "-->", "'>", "</script>"])
def test_no_page_takes_more_than_linear_time(piece: str, end: str) -> None:
    def taken(times: int) -> float:
        began = time.process_time()
        with contextlib.suppress(DocumentRefused):
            read_document("a.html", (piece * times + end).encode())
        return time.process_time() - began

    small, large = min(taken(2_000) for _ in range(2)), min(taken(16_000) for _ in range(2))
    assert large < max(small, 0.005) * 8 * 4


@given(st.binary(max_size=400), st.sampled_from(["a.md", "a.txt", "a.html", "a.docx"]))
@pytest.mark.promise("desk.kb-hostile")
def test_no_bytes_whatever_raise_anything_else(data: bytes, doc: str) -> None:
    with contextlib.suppress(DocumentRefused):
        document = read_document(doc, data)
        assert document.sections[-1].last_line >= len(document.lines)


@given(st.text(alphabet="ab<>!-/ph #\n=`~", max_size=200))
@pytest.mark.promise("desk.kb-formats")
def test_sections_cover_every_line_once(text: str) -> None:
    for doc in ("a.md", "a.html"):
        document = read_document(doc, text.encode())
        covered = [line for each in document.sections for line in range(each.first_line, each.last_line + 1)]
        assert covered == list(range(1, max(1, len(document.lines)) + 1))
