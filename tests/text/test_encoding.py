"""From bytes to text: marks, UTF-8, UTF-16 without a mark, older code pages; and what is no text."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.encoding import DecodedText, decode_text, encoding_of, text_reader

RUSSIAN = "Он вышел из дома рано утром и пошёл к реке, где его ждал старый рыбак с лодкой."
JAPANESE = "彼は朝早く家を出て川へ行き、そこで年老いた漁師が舟と一緒に待っていた。"
FRENCH = "Le café était fermé à midi, le garçon n'a pas été prévenu. Où êtes-vous allés ?"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("\ufeffété".encode(), "\ufeffété", "utf-8"),
        ("wide\n".encode("utf-16"), "wide\n", "utf-16"),
        ("wide\n".encode("utf-32"), "wide\n", "utf-32"),
        ("no mark – été\n".encode("utf-16-le"), "no mark – été\n", "utf-16-le"),
        ("no mark – été\n".encode("utf-16-be"), "no mark – été\n", "utf-16-be"),
        (RUSSIAN.encode("utf-16-le"), RUSSIAN, "utf-16-le"),
        ("5 € “été”".encode("cp1252"), "5 € “été”", "cp1252"),
        (b"\x81\xe9", "\x81é", "latin-1"),
    ],
)
def test_the_encoding_is_found_by_rules(data: bytes, text: str, encoding: str) -> None:
    assert decode_text(data) == DecodedText(text=text, encoding=encoding)


@pytest.mark.parametrize(
    "data", [b"\0", b"a\0b", b"\0\1\2", b"\0" * 64, b"\x89PNG\0\0", bytes(range(256)), b"\1\0\2\0\3\0", b"\xff\xfe\0"]
)
def test_bytes_that_are_no_text_have_none(data: bytes) -> None:
    assert decode_text(data) is None


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r"), (JAPANESE, "shift_jis"), (FRENCH, "cp1252"), ("été\n", "cp1252")],
)
def test_an_import_may_ask_for_a_guess_which_leaves_western_text_alone(text: str, encoding: str) -> None:
    guessed = decode_text(text.encode(encoding), guess=True)
    assert guessed == DecodedText(text=text, encoding=encoding)
    plain = decode_text(text.encode(encoding))
    assert plain is not None
    assert plain.encoding in {"cp1252", "latin-1"}


def test_without_charset_normalizer_a_guess_is_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    data = RUSSIAN.encode("cp1251")
    assert decode_text(data, guess=True) == decode_text(data)


def test_a_stray_zero_does_not_make_a_table_utf_16() -> None:
    assert encoding_of(b"id,text\n1,hello\0world, and some more words of the customer\n") == "utf-8-sig"


def test_a_table_of_two_encodings_is_repaired_and_not_guessed() -> None:
    mixed = RUSSIAN.encode() + "\nété\n".encode("cp1252")
    encoding = encoding_of(mixed)
    assert encoding == "utf-8-sig"
    assert text_reader(io.BytesIO(mixed), encoding).read() == f"{RUSSIAN}\nété\n"
    assert encoding_of(RUSSIAN.encode("cp1251")) == "cp1251"


@given(st.binary(max_size=300))
def test_no_bytes_break_it(data: bytes) -> None:
    for guess in (False, True):
        found = decode_text(data, guess=guess)
        assert found is None or "\0" not in found.text


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=100))
def test_utf_8_comes_back_byte_for_byte(text: str) -> None:
    found = decode_text(text.encode(), guess=True)
    assert found is not None
    assert found.text.encode() == text.encode()
