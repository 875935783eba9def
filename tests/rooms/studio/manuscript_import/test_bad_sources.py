"""Sources that are damaged, hostile, locked, empty or enormous."""

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tallystick.text.documents import archive as archives
from tallystick.text.documents.archive import Archive
from tallystick.text.documents.model import DocumentRefused
from tests.rooms.studio.manuscript_import.novel import CONTAINER, page_of, project_file, write_epub, zipped
from tests.sizes import size


def refusal(path: Path, limits: ImportLimits = DEFAULT) -> str:
    with pytest.raises(DocumentRefused) as refused:
        read_source(path, limits)
    assert len(str(refused.value)) > 15
    return refused.value.code


def outcome(path: Path) -> str:
    """The code, or that it is a book."""
    try:
        return f"{len(files_of(read_source(path)))} files"
    except DocumentRefused as refused:
        return refused.code


def raw_zip(path: Path, name: str, data: bytes = b"x", attr: int = 0o644 << 16) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = entry.orig_filename = name
        entry.external_attr = attr
        made.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.promise("studio.import-safe")
@pytest.mark.parametrize("ending", ["docx", "epub"])
@pytest.mark.parametrize(
    "name", ["../evil.md", "/etc/x", "a/../../x", "..", "C:/x", "\\\\host\\x", "a\\..\\x", "~/x", "word/../../x"]
)
def test_an_archive_that_leads_out_is_refused(tmp_path: Path, ending: str, name: str) -> None:
    before = sorted(tmp_path.parent.iterdir())
    assert refusal(raw_zip(tmp_path / f"evil.{ending}", name)) == "archive_unsafe"
    assert sorted(tmp_path.parent.iterdir()) == before


@pytest.mark.promise("studio.import-safe")
def test_links_doubled_names_passwords_and_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(raw_zip(tmp_path / "link.docx", "word/x", attr=(stat.S_IFLNK | 0o777) << 16)) == "archive_unsafe"
    assert refusal(raw_zip(tmp_path / "bomb.epub", "x", b"\0" * 20_000_000)) == "archive_bomb"
    doubled = tmp_path / "doubled.docx"
    with zipfile.ZipFile(doubled, "w") as made:
        made.writestr("word/document.xml", "<a/>")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("word/document.xml", "<b/>")
    assert refusal(doubled) == "archive_unsafe"
    many = tmp_path / "many.docx"
    many.write_bytes(zipped({f"f{number}": b"" for number in range(archives.MAX_ENTRIES + 1)}))
    assert refusal(many) == "archive_bomb"
    locked = bytearray(zipped({"word/document.xml": b"<a/>"}))
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1
    (tmp_path / "locked.docx").write_bytes(locked)
    assert refusal(tmp_path / "locked.docx") == "archive_unsafe"
    whole = tmp_path / "whole.docx"
    whole.write_bytes(zipped({"word/document.xml": b"<a>" + b"lorem ipsum " * 50 + b"</a>"}))
    assert refusal(whole, ImportLimits(document_bytes=100)) == "archive_bomb"
    monkeypatch.setattr(archives, "MAX_FILE", 10)
    assert refusal(whole) == "source_too_large"


@pytest.mark.promise("studio.import-safe")
def test_the_archives_of_the_lists_are_refused_or_harmless(tmp_path: Path, data: Path) -> None:
    found = [*(data / "zip-slip").rglob("*.zip"), *(data / "seclists").rglob("*.zip")]
    if not found:
        pytest.skip("left out: hostile archives, TALLY_DATA not there")
    for path in found:
        for ending in ("docx", "epub"):
            copy = tmp_path / f"{path.stem}.{ending}"
            copy.write_bytes(path.read_bytes())
            assert refusal(copy) in {"archive_unsafe", "archive_bomb", "archive_damaged", "not_a_docx", "not_an_epub"}
    evil = [path for path in found if "zip-slip" in path.name or ("depth-0" in path.name and path.stem != "depth-00")]
    for path in evil:
        with pytest.raises(DocumentRefused) as refused:
            Archive(path)
        assert refused.value.code == "archive_unsafe"


ENTITIES = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.mark.promise("studio.import-safe")
@pytest.mark.parametrize("head", [ENTITIES, OUTSIDE])
def test_xml_with_entities_of_its_own_is_refused(tmp_path: Path, head: str) -> None:
    body = f'{head}<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>&x;&b;</w:t></w:r></w:p></w:body></w:document>'
    (tmp_path / "x.docx").write_bytes(zipped({"word/document.xml": body.encode()}))
    assert refusal(tmp_path / "x.docx") == "xml_unsafe"
    (tmp_path / "y.docx").write_bytes(zipped({"word/document.xml": body.encode("utf-16")}))
    assert refusal(tmp_path / "y.docx") == "xml_unsafe"
    (tmp_path / "x.epub").write_bytes(zipped({"META-INF/container.xml": f"{head}<a>&b;</a>".encode()}))
    assert refusal(tmp_path / "x.epub") == "xml_unsafe"
    (tmp_path / "nw").mkdir()
    (tmp_path / "nw/nwProject.nwx").write_text(f"{head}<novelWriterXML/>", encoding="utf-8")
    assert refusal(tmp_path / "nw") == "xml_unsafe"
    deep = f'<w:document xmlns:w="{W}"><w:body>{"<w:sdt>" * 2000}{"</w:sdt>" * 2000}</w:body></w:document>'
    (tmp_path / "deep.docx").write_bytes(zipped({"word/document.xml": deep.encode()}))
    assert refusal(tmp_path / "deep.docx") == "xml_unsafe"


@pytest.mark.promise("studio.import-bad-input")
def test_one_bad_chapter_does_not_stop_the_rest(tmp_path: Path) -> None:
    pages = {
        "a.xhtml": page_of("<h1>Chapter 1</h1><p>Good.</p>"),
        "b.xhtml": "<html><body><p>never closed",
        "c.xhtml": f"{OUTSIDE}<html xmlns='http://www.w3.org/1999/xhtml'><body><p>&x;</p></body></html>",
        "d.xhtml": page_of("<h1>Chapter 2</h1><p>Good too.</p>"),
    }
    found = read_source(write_epub(tmp_path / "x.epub", pages))
    assert [chapter.title for chapter in found.chapters] == ["Chapter 1", "Chapter 2"]
    assert [(loss.kind, loss.where) for loss in found.losses] == [
        ("chapter_unreadable", "EPUB/b.xhtml"), ("chapter_unreadable", "EPUB/c.xhtml"),
    ]  # fmt: skip


@pytest.mark.promise("studio.import-bad-input")
def test_what_is_no_book_has_its_code(tmp_path: Path) -> None:
    cases: dict[str, tuple[bytes, str]] = {
        "a.pdf": (b"%PDF", "format_unknown"), "noending": (b"x", "format_unknown"), "a.docx": (b"not a zip", "archive_damaged"),
        "b.docx": (zipped({"x": b""}), "not_a_docx"), "a.epub": (zipped({"x": b""}), "not_an_epub"),
        "b.epub": (zipped({"META-INF/container.xml": CONTAINER.encode()}), "not_an_epub"),
        "c.docx": (zipped({"word/document.xml": b"<w:document"}), "xml_damaged"), "a.txt": (b"a\0b", "not_text"),
        "large.txt": (b"x" * (50 * 1024 * 1024), "source_too_large"), "a.nwx": (b"", "source_unreadable"),
        "torn.epub": (zipped({"META-INF/container.xml": CONTAINER.encode()})[:-30], "archive_damaged"),
    }  # fmt: skip
    for name, (data, code) in cases.items():
        (tmp_path / name).write_bytes(data)
        assert refusal(tmp_path / name) == code, name
    os.mkfifo(tmp_path / "pipe.txt")
    assert refusal(tmp_path / "pipe.txt") == "source_unreadable"
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / "empty") == "nothing_to_import"
    for number, (text, code) in enumerate(
        ((project_file([], version="1.3"), "novelwriter_too_old"), ("<other/>", "not_a_novelwriter_project"))
    ):
        (tmp_path / f"nw{number}").mkdir()
        (tmp_path / f"nw{number}/nwProject.nwx").write_text(text, encoding="utf-8")
        assert refusal(tmp_path / f"nw{number}") == code


@pytest.mark.promise("studio.import-bad-input")
def test_a_handle_that_is_a_path_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret.nwd").write_text("### Secret\n\nsecret\n", encoding="utf-8")
    folder = tmp_path / "nw"
    (folder / "content").mkdir(parents=True)
    evil = '<item handle="../../secret" parent="None" order="0" type="FILE" class="NOVEL" layout="DOCUMENT"><name>n</name></item>'
    (folder / "nwProject.nwx").write_text(project_file([evil]), encoding="utf-8")
    found = read_source(folder)
    assert files_of(found) == {}
    assert [loss.kind for loss in found.losses] == ["chapter_unreadable"]


@pytest.mark.promise("studio.import-losses")
def test_what_word_holds_beside_the_text_is_counted(tmp_path: Path) -> None:
    document = Document()
    document.add_heading("Chapter 1", level=1)
    document.add_paragraph("A quotation.", style="Quote")
    document.add_paragraph("An item.", style="List Bullet")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.sections[0].header.paragraphs[0].text = "a header"
    document.save(str(tmp_path / "x.docx"))
    with zipfile.ZipFile(tmp_path / "x.docx") as made:
        parts = {name: made.read(name) for name in made.namelist()}
    more = (
        '<w:p><w:r><w:t xml:space="preserve">Kept </w:t><w:footnoteReference w:id="1"/></w:r><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins>'
        "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        '<w:r><w:commentReference w:id="1"/><w:drawing/><w:br/><w:t>and on</w:t><w:br w:type="page"/></w:r>'
        '<w:hyperlink><w:r><w:rPr><w:b w:val="0"/></w:rPr><w:t> linked</w:t></w:r></w:hyperlink></w:p>'
    )
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"<w:sectPr", more.encode() + b"<w:sectPr", 1)
    (tmp_path / "y.docx").write_bytes(zipped(parts))
    found = read_source(tmp_path / "y.docx")
    assert found.chapters[0].scenes[0].blocks == (
        "> A quotation.", "- An item.", "left | right", "Kept inserted\\\nand on linked",
    )  # fmt: skip
    assert {loss.kind: loss.count for loss in found.losses} == {
        "table": 1, "header_footer": 1, "footnote": 1, "tracked_change": 2, "hidden_text": 1, "comment": 1, "image": 1, "link": 1,
    }  # fmt: skip


@pytest.mark.promise("studio.import-losses")
def test_what_an_e_book_holds_beside_the_text_is_counted(tmp_path: Path) -> None:
    body = (
        '<h1>Chapter 1</h1><p>One<a epub:type="noteref" href="#n">1</a> <img src="x"/>two <a href="https://x">three</a>.</p>'
        '<aside epub:type="footnote" id="n"><p>A note.</p></aside><table><tr><td>l</td><td>r</td></tr></table>'
        "<blockquote><p>Quoted<br/>twice.</p></blockquote><ul><li>item</li></ul><div>bare <i>text</i><p>in it</p>end</div>"
        '<hr/><p class="scene-break"></p><p><script>x()</script>Last.</p><audio/>'
    )
    pages = {"t.xhtml": page_of('<section epub:type="titlepage"><h1>T</h1></section>'), "a.xhtml": page_of(body)}
    found = read_source(write_epub(tmp_path / "x.epub", pages, **{"EPUB/cover.jpg": b"jpg"}))
    (chapter,) = found.chapters
    assert [scene.blocks for scene in chapter.scenes] == [
        ("One two three.", "l | r", "> Quoted\\\n> twice.", "- item", "bare *text*", "in it", "end"), ("Last.",),
    ]  # fmt: skip
    assert {(loss.kind, loss.count) for loss in found.losses} == {
        ("not_carried", 1), ("footnote", 1), ("image", 1), ("link", 1), ("table", 1), ("audio_video", 1), ("attachment", 1),
    }  # fmt: skip


@pytest.mark.promise("studio.import-bad-input")
@settings(max_examples=size(60, 2000))
@given(data=st.binary(max_size=400), ending=st.sampled_from(["md", "txt", "docx", "epub", "nwx"]))
def test_any_bytes_give_a_book_or_a_code(tmp_path_factory: pytest.TempPathFactory, data: bytes, ending: str) -> None:
    path = tmp_path_factory.mktemp("any") / f"nwProject.{ending}"
    path.write_bytes(data)
    assert outcome(path) != "source_refused"


@pytest.mark.promise("studio.import-bad-input")
@settings(max_examples=size(40, 1000))
@given(place=st.integers(min_value=0, max_value=10_000), byte=st.integers(min_value=0, max_value=255))
def test_a_book_with_one_byte_changed_gives_a_book_or_a_code(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    data = bytearray(write_epub(folder / "x.epub").read_bytes())
    data[place % len(data)] = byte
    (folder / "x.epub").write_bytes(data)
    assert outcome(folder / "x.epub") != "source_refused"


def test_a_tar_is_no_book(tmp_path: Path) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as made:
        made.addfile(tarfile.TarInfo("../evil"), io.BytesIO())
    (tmp_path / "x.epub").write_bytes(target.getvalue())
    assert refusal(tmp_path / "x.epub") == "archive_damaged"
