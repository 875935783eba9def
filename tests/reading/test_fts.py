"""The lexical index finds passages by their words, and survives what becomes of its file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tallystick.reading import fts
from tallystick.reading.fts import FtsIndex, query_stems
from tallystick.reading.index import IndexedDocument
from tallystick.reading.passages import cut_passages


def _document(name: str, text: str, version: str = "1", title: str = "") -> IndexedDocument:
    return IndexedDocument(name=name, version=version, title=title, text=text, passages=cut_passages(text))


@pytest.fixture
def index(tmp_path: Path):
    opened = FtsIndex(tmp_path / "inner" / "words.db")
    yield opened
    opened.close()


def test_forms_of_a_word_are_found_and_rare_words_come_first(index: FtsIndex) -> None:
    index.put([
        _document("a", "The children walked to the market and paid for apples."),
        _document("b", "A market is open. Another market is closed."),
        _document("c", "Nothing of this."),
    ])  # fmt: skip
    assert [hit.name for hit in index.search("Who is walking to the markets?", limit=5)] == ["a", "b"]
    assert [hit.name for hit in index.search("child went paying", limit=5)] == ["a"]
    assert index.search("unheard", limit=5) == []
    assert index.search("?!", limit=5) == []


def test_headings_and_title_count_more_than_text(index: FtsIndex) -> None:
    filler = "Words about other matters fill this text. " * 3
    index.put([
        _document("text", f"{filler} refunds {filler}"),
        _document("heading", f"# Refunds\n\n{filler} {filler}"),
        _document("title", f"{filler} {filler}", title="Refunds"),
    ])  # fmt: skip
    found = index.search("refund", limit=5)
    assert [hit.name for hit in found] == ["heading", "title", "text"]
    assert found[0].passage.headings == ("Refunds",)
    assert found[0].score > found[1].score > found[2].score > 0


def test_a_document_is_replaced_and_removed_whole(index: FtsIndex) -> None:
    index.put([_document("a", "An apple."), _document("b", "A pear.")])
    index.put([_document("a", "A plum.", version="2")])
    assert index.versions() == {"a": "2", "b": "1"}
    assert index.search("apple", limit=5) == []
    assert [hit.version for hit in index.search("plum", limit=5)] == ["2"]
    index.remove(["a", "unknown"])
    assert index.search("plum", limit=5) == []
    assert index.versions() == {"b": "1"}


def test_a_failed_update_changes_nothing(index: FtsIndex) -> None:
    def half():
        yield _document("a", "An apple.")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        index.put(half())
    assert index.versions() == {}
    assert index.search("apple", limit=5) == []


def test_a_search_can_be_narrowed_to_some_documents(index: FtsIndex) -> None:
    index.put([_document(name, "An apple.") for name in ("a", "b", "c'; DROP")])
    assert [hit.name for hit in index.search("apple", limit=5, within=["c'; DROP", "b"])] == ["b", "c'; DROP"]
    assert index.search("apple", limit=5, within=[]) == []
    assert len(index.search("apple", limit=2)) == 2


def test_signs_in_a_query_are_no_query_language(index: FtsIndex) -> None:
    index.put([_document("a", 'He said "NOT near" AND (left) 3.5* or O\'Brien.')])
    for query in ('"', "NOT", "near AND", "a* OR b", "body: left", "O'Brien", "3.5", "- + ^ (", "left) OR ("):
        index.search(query, limit=5)
    assert [hit.name for hit in index.search("3.5", limit=5)] == ["a"]


def test_a_query_of_stop_words_is_taken_at_its_word():
    assert query_stems("The Who") == ["the", "who"]
    assert query_stems("Tell me about the refund") == ["refund"]


def test_what_was_indexed_is_there_after_a_restart_unless_stems_changed(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "words.db"
    first = FtsIndex(path)
    first.put([_document("a", "An apple.")])
    first.close()
    second = FtsIndex(path)
    assert second.versions() == {"a": "1"}
    second.close()
    monkeypatch.setattr(fts, "FORMAT", "another")
    third = FtsIndex(path)
    assert third.versions() == {}
    third.close()


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    path.write_bytes(b"no database at all" * 1000)
    index = FtsIndex(path)
    index.put([_document("a", "An apple.")])
    assert [hit.name for hit in index.search("apple", limit=5)] == ["a"]
    assert path.stat().st_mode & 0o077 == 0
    index.close()


def test_threads_and_a_second_process_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    one, other = FtsIndex(path), FtsIndex(path)
    names = [f"doc-{number}" for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: one.put([_document(name, "An apple.")]), names))
        list(pool.map(lambda name: other.put([_document(name, "An apple.")]), names))
    assert len(one.search("apple", limit=100)) == len(names)
    one.close()
    other.close()


def test_the_documents_that_hold_a_word_or_a_form_of_it_are_named(index: FtsIndex) -> None:
    index.put([
        _document("a", "She went home with O'Brien."),
        _document("b", "Going home costs 3.50 today."),
        _document("c", "Nothing."),
    ])  # fmt: skip
    assert index.forms("go") == ["going", "went"]
    assert index.holders(["go"]) == {"a", "b"}
    assert index.holders(["wen"]) == {"a", "b"}
    assert index.holders(["brie", "noth"]) == {"a", "c"}
    assert index.holders(["50"]) == {"b"}
    assert index.holders(["unheard"]) == set()
    assert index.holders([]) == set()
