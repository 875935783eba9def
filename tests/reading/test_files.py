"""Files of a workspace are indexed once, and again when they change."""

from pathlib import Path

import pytest

from tallystick.reading.files import FileLibrary
from tallystick.reading.fts import FtsIndex
from tallystick.reading.index import IndexedDocument
from tallystick.storage.files import FileSources


class _Counted(FtsIndex):
    """Counts what is indexed."""

    def put(self, documents):
        given = list(documents)
        self.indexed = [*getattr(self, "indexed", []), *(each.name for each in given)]
        super().put(given)


@pytest.fixture
def index(tmp_path: Path):
    opened = _Counted(tmp_path / "state" / "words.db")
    opened.indexed = []
    yield opened
    opened.close()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "harbour.md").write_text("# The harbour\n\nMara mends nets by the water.\n")
    (folder / "hill.md").write_text("Ilse keeps bees on the hill.\n")
    (folder / "picture.md").write_bytes(b"\0\1\2")
    return folder


def test_only_what_changed_is_indexed_again(book: Path, index: _Counted) -> None:
    sources = FileSources(book)
    library = FileLibrary(sources, index)
    library.update(sources.paths())
    assert sorted(index.indexed) == ["harbour.md", "hill.md"]
    library.update(sources.paths())
    assert len(index.indexed) == 2
    (book / "hill.md").write_text("Ilse keeps goats on the hill.\n")
    library.update(sources.paths())
    assert index.indexed[2:] == ["hill.md"]
    assert [each.name for each in library.search("goats", limit=3)] == ["hill.md"]
    assert library.search("bees", limit=3) == []
    (book / "hill.md").unlink()
    (book / "harbour.md").write_bytes(b"\0")
    library.update(sources.paths())
    assert index.versions() == {}


def test_a_passage_comes_with_its_text_and_place(book: Path, index: _Counted) -> None:
    sources = FileSources(book)
    library = FileLibrary(sources, index)
    library.update(sources.paths())
    (found,) = library.search("Who was mending a net?", limit=3)
    assert (found.name, found.text) == ("harbour.md", "Mara mends nets by the water.")
    assert (found.passage.first_line, found.passage.headings) == (3, ("The harbour",))
    assert library.search("net", limit=3, within=["hill.md"]) == []
    assert [each.name for each in library.search("harbour", limit=3)] == ["harbour.md"]


def test_a_file_that_changed_since_the_update_is_left_out(book: Path, index: _Counted) -> None:
    sources = FileSources(book)
    library = FileLibrary(sources, index)
    library.update(sources.paths())
    (book / "hill.md").write_text("Nothing here now.\n")
    assert library.search("bees", limit=3) == []


def test_documents_other_than_files_can_be_indexed(index: _Counted) -> None:
    index.put([IndexedDocument(name="n", version="1", title="Bees", text="", passages=())])
    assert index.versions() == {"n": "1"}
