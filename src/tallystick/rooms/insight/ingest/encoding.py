"""Bytes to text, whatever program wrote them.

Byte order marks are believed. Without one, a file with zeros at every other place is UTF-16; all else is UTF-8 in which
any byte that is not UTF-8 is read as Windows wrote it. So a file of either kind reads well, and so does one that was
pasted together from both.
"""

import codecs
import io
from typing import BinaryIO

from tallystick.rooms.insight.ingest.refusing import Unusable

HEAD = 65_536
"""Bytes that are looked at to know what a file is."""
_MIXED = "tallystick-western"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_ZEROS_OF_UTF16 = 0.2
"""Share of zero bytes from which on they mean an encoding and not an accident."""
_MOST_CONTROLS = 0.02


def text_of(file: BinaryIO) -> io.TextIOWrapper:
    """A reader of the file's text from where it stands, which is its beginning; line ends stay as they are."""
    encoding = encoding_of(file.read(HEAD))
    file.seek(0)
    errors = _MIXED if encoding.startswith("utf-8") else "replace"
    return io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")


def encoding_of(head: bytes) -> str:
    """The encoding of a file that begins so.

    Raises:
        Unusable: `not_text`.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even + odd > len(head) * _ZEROS_OF_UTF16:
        return "utf-16-le" if odd > even else "utf-16-be"
    if len(head) - len(head.translate(None, _CONTROLS)) > len(head) * _MOST_CONTROLS:
        raise Unusable(
            "not_text", "The file holds no text that could be read as a table.",
            hint="Give a CSV, XLSX, JSON or JSON Lines file; unpack an archive first.",
        )  # fmt: skip
    return "utf-8"


def _as_windows_wrote_it(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _WESTERN[error.object[error.start]], error.start + 1


def _western(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        # Five bytes mean nothing there.
        return "\ufffd"


_WESTERN = [_western(byte) for byte in range(256)]
codecs.register_error(_MIXED, _as_windows_wrote_it)
