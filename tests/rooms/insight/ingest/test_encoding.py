import codecs
import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.ingest.encoding import table_encoding, text_of
from tallystick.rooms.insight.ingest.table import UnusableFile

SAID = "id,text\n1,Größe „schön“ – 5 €\n"


def said_by(data: bytes) -> str:
    return text_of(io.BytesIO(data)).read()


@pytest.mark.promise("insight.encodings")
@pytest.mark.parametrize(
    "data",
    [
        SAID.encode(),
        SAID.encode("utf-8-sig"),
        SAID.encode("utf-16"),
        SAID.encode("utf-32"),
        SAID.encode("cp1252"),
        SAID.encode("utf-16-le"),
        SAID.encode("utf-16-be"),
        codecs.BOM_UTF16_BE + SAID.encode("utf-16-be"),
    ],
)
def test_a_file_is_read_whatever_wrote_it(data: bytes) -> None:
    assert said_by(data) == SAID


@pytest.mark.promise("insight.encodings")
def test_a_table_in_cyrillic_is_read() -> None:
    said = "id,text\n1,Посылка не пришла вовремя и никто не отвечает на мои письма уже неделю\n"
    assert said_by(said.encode("cp1251")) == said
    assert said_by(said.encode()) == said


@pytest.mark.promise("insight.encodings")
def test_a_file_of_two_encodings_is_read_line_by_line() -> None:
    mixed = SAID.encode() + SAID.encode("cp1252") + SAID.encode()
    assert said_by(mixed) == SAID * 3
    assert said_by("a é ".encode() + "b é".encode("cp1252")) == "a é b é"


@pytest.mark.promise("insight.hostile")
@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, bytes(range(32)) * 20, b"\x1f\x8b\x08\x00" + b"\x01\x02\x03" * 50],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(UnusableFile) as caught:
        table_encoding(data)
    assert caught.value.code == "not_text"


@given(st.binary(max_size=400))
def test_no_bytes_break_it(data: bytes) -> None:
    with suppress(UnusableFile):
        assert isinstance(said_by(data), str)


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=100))
def test_good_utf_8_is_never_changed(text: str) -> None:
    assert said_by(b"x" + text.encode()) == "x" + text
