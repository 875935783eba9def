"""The encoding of a file: from bytes to text, in one way for the whole package.

1. A byte order mark is believed (UTF-8, UTF-16, UTF-32).
2. Zero bytes at even or at odd places alone, among those of one script, are UTF-16.
3. Bytes that are valid UTF-8 are UTF-8.
4. Everything else is an older code page: cp1252, or Latin-1 where cp1252 has no character.

The same bytes give the same text on every installation, since quotes are checked against it. Only an import may ask
for a guess: charset-normalizer, if it is installed, then recognises Cyrillic, Greek and East Asian encodings.
"""

import codecs
import io
from collections import Counter
from typing import BinaryIO

from tallystick.records import record

HEAD = 65_536
"""Bytes of a file that are enough to find its encoding."""
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_MOST_CONTROLS = 0.02
"""Share of control characters above which a file holds no text."""
_ZEROS = 5
"""How many times more zeros the one half of the bytes has in UTF-16 than the other."""
_ONE_SCRIPT = 0.9
_GUESSED = ("cp1251", "koi8_r", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp1252")
"""Those that charset-normalizer tells apart. Western and Central European ones it confuses, even in long texts."""
_LEAST_HIGH = 0.25
"""Share of bytes above ASCII from which on a text is not in Latin letters with some accents."""
_MIXED = "tallystick-western"


@record
class DecodedText:
    """The text of a file."""

    text: str
    """UTF-8 keeps its byte order mark, so that encoding the text again gives the same bytes."""
    encoding: str


def decode_text(data: bytes, *, guess: bool = False) -> DecodedText | None:
    """Return the text of a whole file, or None if it holds no text.

    Args:
        data: The bytes.
        guess: Whether charset-normalizer may tell an older code page from cp1252.
    """
    wide = _wide_encoding(data)
    if wide is not None:
        text = data.decode(wide, errors="replace")
        return None if len(data) % 2 or "\0" in text else DecodedText(text=text, encoding=wide)
    if b"\0" in data:
        return None
    for encoding in ("utf-8", *(_guesses(data) if guess else ()), "cp1252"):
        try:
            return DecodedText(text=data.decode(encoding), encoding=encoding)
        except UnicodeDecodeError:
            continue
    return DecodedText(text=data.decode("latin-1"), encoding="latin-1")


def encoding_of(head: bytes) -> str | None:
    """Return the encoding of a table that begins so; None if it is not text.

    UTF-8 here means: `text_reader` repairs bytes that are not UTF-8.
    """
    wide = _wide_encoding(head)
    if wide is not None:
        return wide
    if _has_controls(head):
        return None
    return next(iter(_guesses(head)), "utf-8-sig")


def text_reader(file: BinaryIO, encoding: str) -> io.TextIOWrapper:
    """Return a reader of the file's text; line ends are kept.

    In a file of UTF-8 every byte that is not UTF-8 is read as cp1252, so that a table pasted together from both
    encodings is read well, too.
    """
    errors = _MIXED if encoding.startswith("utf-8") else "replace"
    return io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")


def _wide_encoding(data: bytes) -> str | None:
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return encoding
    head = data[:HEAD]
    if b"\0" not in head:
        return None
    for places, others, encoding in ((head[1::2], head[::2], "utf-16-le"), (head[::2], head[1::2], "utf-16-be")):
        if places.count(0) > others.count(0) * _ZEROS and _is_high_half(places):
            text = head.decode(encoding, errors="replace").encode("ascii", errors="replace")
            return None if _has_controls(text) else encoding
    return None


def _is_high_half(places: bytes) -> bool:
    """Whether bytes can be the high halves of characters: nearly all of them are zero or those of one script."""
    return sum(count for _, count in Counter(places).most_common(2)) >= len(places) * _ONE_SCRIPT


def _has_controls(text: bytes) -> bool:
    return len(text) - len(text.translate(None, _CONTROLS)) > len(text) * _MOST_CONTROLS


def _guesses(data: bytes) -> tuple[str, ...]:
    """Return the encoding that charset-normalizer recognises by its language, if there is one."""
    head = data[:HEAD]
    high = _high_bytes(head)
    # If most of them are valid UTF-8, the file is UTF-8 into which other text was pasted.
    if high < max(1, len(head) * _LEAST_HIGH) or 2 * _high_bytes(head.decode(errors="ignore").encode()) > high:
        return ()
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - optional, and only for old files
    except ImportError:
        return ()
    best = from_bytes(head, cp_isolation=list(_GUESSED)).best()
    return () if best is None or best.encoding == "cp1252" or not best.coherence else (best.encoding,)


def _high_bytes(data: bytes) -> int:
    return len(data) - len(data.translate(None, bytes(range(128, 256))))


def _read_as_cp1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    # Five bytes mean nothing there.
    return error.object[error.start : error.start + 1].decode("cp1252", errors="replace"), error.start + 1


codecs.register_error(_MIXED, _read_as_cp1252)
