"""The book as Markdown, Word and e-book; each gives the book back when it is imported."""

import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.rooms.studio import sample_project
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.manuscript_export.formats import FORMATS
from tallystick.rooms.studio.manuscript_export.manuscript import ExportBook, export_book
from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tallystick.storage.files import FileSources
from tests.rooms.studio.manuscript_import.novel import AUTHOR, TITLE, write_markdown
from tests.sizes import size

XHTML = "{http://www.w3.org/1999/xhtml}"


def project(tmp_path: Path, files: dict[str, bytes]) -> Path:
    root = tmp_path / "work"
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def gathered(root: Path) -> ExportBook:
    return export_book(BookReader(FileSources(root)).book(), title=TITLE, author=AUTHOR)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    return files_of(read_source(write_markdown(tmp_path / "novel.md")))


@pytest.mark.promise("studio.export")
@pytest.mark.parametrize("form", sorted(FORMATS))
def test_what_is_exported_and_imported_is_the_same_book(tmp_path: Path, files: dict[str, bytes], form: str) -> None:
    out = tmp_path / f"out.{form}"
    out.write_bytes(FORMATS[form](gathered(project(tmp_path, files))))
    again = read_source(out)
    assert (again.title, again.author) == (TITLE, AUTHOR)
    assert files_of(again) == files


@pytest.mark.promise("studio.export-bytes")
@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_same_book_gives_the_same_bytes(tmp_path: Path, files: dict[str, bytes], form: str) -> None:
    root = project(tmp_path, files)
    first = FORMATS[form](gathered(root))
    assert FORMATS[form](gathered(root)) == first
    if form != "md":
        with zipfile.ZipFile(io.BytesIO(first)) as archive:
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.promise("studio.export-epub")
def test_the_e_book_is_put_together_as_epub_3_asks(tmp_path: Path, files: dict[str, bytes]) -> None:
    data = FORMATS["epub"](gathered(project(tmp_path, files)))
    # The first entry is found at a fixed place: name at 30, content at 38.
    assert data[30:58] == b"mimetypeapplication/epub+zip"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        assert (entries[0].filename, entries[0].compress_type, entries[0].extra) == (
            "mimetype",
            zipfile.ZIP_STORED,
            b"",
        )
        trees = {
            name: ET.fromstring(archive.read(name))
            for name in archive.namelist()
            if name.endswith(("xml", "opf", "xhtml"))
        }
    opf = "{http://www.idpf.org/2007/opf}"
    package = trees["OEBPS/content.opf"]
    assert package.get("version") == "3.0"
    assert package.get("unique-identifier") == next(package.iter("{http://purl.org/dc/elements/1.1/}identifier")).get(
        "id"
    )
    items = {item.get("id"): item for item in package.iter(f"{opf}item")}
    assert {f"OEBPS/{item.get('href')}" for item in items.values()} | {"mimetype", "META-INF/container.xml", "OEBPS/content.opf"} == {
        entry.filename for entry in entries
    }  # fmt: skip
    assert [item.get("properties") for item in items.values()].count("nav") == 1
    spine = [items[reference.get("idref")].get("href") for reference in package.iter(f"{opf}itemref")]
    linked = [link.get("href") for link in trees["OEBPS/nav.xhtml"].iter(f"{XHTML}a")]
    assert spine == linked
    assert len(spine) == 3
    assert any(meta.get("property") == "dcterms:modified" for meta in package.iter(f"{opf}meta"))
    text = "".join(trees["OEBPS/chapter-0001.xhtml"].itertext())
    assert "Nobody & <everybody>, snake_case, #3." in text


@pytest.mark.promise("studio.export")
def test_word_gets_headings_quotes_lists_and_emphasis_as_styles(tmp_path: Path) -> None:
    scene = "---\npart: Part One\nchapter: Arrival\n---\n# The Quay\n\nA *b* c.\n\n> Quoted.\n\n- one\n- two\n\n<!-- not this -->\n\n* * *\n\nEnd.\n"
    root = project(
        tmp_path, {"Story/Scenes/SCN-01-a.md": scene.encode(), "Story/Scenes/SCN-02-b.md": b"# Alone\n\nText \x01.\n"}
    )
    document = Document(io.BytesIO(FORMATS["docx"](gathered(root))))
    told = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs]
    assert told == [
        ("Title", TITLE), ("Heading 1", "Part One"), ("Heading 2", "Arrival"), ("Heading 3", "The Quay"), ("Normal", "A b c."),
        ("Quote", "Quoted."), ("List Bullet", "one"), ("List Bullet", "two"), ("Normal", "* * *"), ("Normal", "End."),
        ("Heading 2", "Alone"), ("Normal", "Text ."),
    ]  # fmt: skip
    assert [run.text for run in document.paragraphs[4].runs if run.italic] == ["b"]


@pytest.mark.promise("studio.export", "studio.export-epub")
@settings(max_examples=size(25, 500))
@given(text=st.text(max_size=60), title=st.text(min_size=1, max_size=20))
def test_any_text_can_be_exported_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, text: str, title: str
) -> None:
    root = project(
        tmp_path_factory.mktemp("any"), {"Story/Scenes/SCN-a.md": f"# A\n\n{text}\n".encode("utf-8", "replace")}
    )
    book = export_book(BookReader(FileSources(root)).book(), title=title, author=title)
    for form, write in FORMATS.items():
        data = write(book)
        if form == "epub":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    if name.endswith(("xhtml", "opf")):
                        ET.fromstring(archive.read(name))


@pytest.mark.promise("studio.export")
@pytest.mark.parametrize("form", sorted(FORMATS))
def test_parts_headings_quotes_lists_and_breaks_come_back(tmp_path: Path, form: str) -> None:
    scene = (
        "---\ntitle: The Quay\norder: 1\npart: Part One\nchapter: Arrival\n---\n\n# The Quay\n\n#### A section\n\nText.\n\n"
        "> Quoted\\\n> twice.\n\n- one\n\n- two\n"
    )
    other = scene.replace("The Quay", "Later").replace("order: 1", "order: 2").replace("Part One", "Part Two")
    files = {"Story/Scenes/SCN-the-quay.md": scene.encode(), "Story/Scenes/SCN-later.md": other.encode()}
    out = tmp_path / f"out.{form}"
    out.write_bytes(FORMATS[form](gathered(project(tmp_path, files))))
    found = read_source(out)
    assert [(c.part, c.title, [s.title for s in c.scenes]) for c in found.chapters] == [
        ("Part One", "Arrival", ["The Quay"]), ("Part Two", "Arrival", ["Later"]),
    ]  # fmt: skip
    assert files_of(found) == files
    assert "> Quoted\\\n> twice." in found.chapters[0].scenes[0].blocks
    assert "- one" in found.chapters[0].scenes[0].blocks


@pytest.mark.promise("studio.export")
def test_a_break_inside_a_scene_is_one_in_every_format(tmp_path: Path) -> None:
    root = project(tmp_path, {"Story/Scenes/SCN-a.md": b"# A\n\nOne.\n\n* * *\n\nTwo.\n"})
    for form, write in FORMATS.items():
        out = tmp_path / f"out.{form}"
        out.write_bytes(write(gathered(root)))
        (chapter,) = read_source(out).chapters
        assert [scene.blocks for scene in chapter.scenes] == [("One.",), ("Two.",)]


SAMPLE = Path(sample_project.__file__).parent / "sample"


@pytest.mark.promise("studio.export")
@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_letter_of_several_paragraphs_stays_one(tmp_path: Path, form: str) -> None:
    path = "Story/Scenes/SCN-a-letter-to-the-weigher.md"
    scene = (SAMPLE / path).read_bytes()
    out = tmp_path / f"out.{form}"
    out.write_bytes(FORMATS[form](gathered(project(tmp_path, {path: scene}))))
    (again,) = files_of(read_source(out)).values()
    body = scene.decode().partition("# A Letter to the Weigher")[2]
    assert again.decode().partition("# A Letter to the Weigher")[2] == body


words = st.lists(st.sampled_from(["rain", "*salt*", "**quay**", "Été", "a_b", "3"]), min_size=1, max_size=4)
line = words.map(" ".join)
paragraph = st.lists(line, min_size=1, max_size=3).flatmap(
    lambda lines: st.sampled_from(["\n", "\\\n"]).map(lambda joint: joint.join(lines))
)
entries = st.lists(line, min_size=1, max_size=3)
quotation = st.lists(paragraph, min_size=1, max_size=3).map(
    lambda told: "\n>\n".join("> " + text.replace("\n", "\n> ") for text in told)
)
block = st.one_of(
    paragraph,
    quotation,
    st.tuples(line, quotation).map("\n".join),
    entries.map(lambda told: "\n".join(f"- {text}" for text in told)),
    st.tuples(st.integers(1, 1990), entries).map(
        lambda told: "\n\n".join(f"{number}. {text}" for number, text in enumerate(told[1], start=told[0]))
    ),
    line.map(lambda text: f"#### {text}"),
)


@pytest.mark.promise("studio.export")
@settings(max_examples=size(15, 300))
@given(told=st.lists(st.lists(block, min_size=1, max_size=5), min_size=1, max_size=3))
def test_whatever_a_scene_is_made_of_comes_back(
    tmp_path_factory: pytest.TempPathFactory, told: list[list[str]]
) -> None:
    scenes = {
        f"Story/Scenes/SCN-{number}-a.md": "\n\n".join([f"# The {number}th", *blocks, ""]).encode()
        for number, blocks in enumerate(told, start=1)
    }
    folder = tmp_path_factory.mktemp("blocks")
    book = gathered(project(folder, scenes))
    for form, write in FORMATS.items():
        out = folder / f"out.{form}"
        out.write_bytes(write(book))
        imported = files_of(read_source(out))
        again = gathered(project(folder / form, imported))
        assert read_by(again) == read_by(book), form
        out.write_bytes(write(again))
        assert files_of(read_source(out)) == imported


def read_by(book: ExportBook) -> list[list[tuple[object, ...]]]:
    """What a reader meets: each block of each scene, with its words and their look."""
    return [
        [(block.kind, block.number, block.paragraphs) for block in scene.blocks]
        for chapter in book.chapters
        for scene in chapter.scenes
    ]
