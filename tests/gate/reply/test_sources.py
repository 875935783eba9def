from tallystick.gate.quotes import fold_text
from tallystick.gate.reply.sources import Shelf, Source, folded


def test_a_text_is_folded_once_for_all_that_cite_it() -> None:
    one = Source(path="a.md", text="The same words.\n", sha256="1")
    other = Source(path="b.md", text="The same words.\n", sha256="1")
    assert one.folded is other.folded
    assert folded("some output") is folded("some output")


def test_a_hash_that_lies_gives_nobody_a_foreign_text() -> None:
    shelf = Shelf()
    assert shelf.folded("1", "one text").text == "one text"
    assert shelf.folded("1", "another text").text == "another text"


def test_the_least_recently_used_texts_fall_off_the_shelf() -> None:
    shelf = Shelf(max_chars=10)
    made: list[str] = []

    def make(text: str) -> object:
        made.append(text)
        return fold_text(text)

    for text in ("aaaaa", "bbbbb", "aaaaa", "ccccc", "aaaaa", "bbbbb"):
        shelf.folded(text, text, make)  # type: ignore[arg-type]
    assert made == ["aaaaa", "bbbbb", "ccccc", "bbbbb"]


def test_the_end_of_the_last_line_begins_no_further_one() -> None:
    assert Source(path="a", text="one\r\ntwo\rthree\n", sha256="2").lines == ["one", "two", "three"]
    assert Source(path="a", text="", sha256="3").lines == []
