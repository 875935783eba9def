"""The text of a table, in whatever encoding it was exported."""

from io import TextIOWrapper
from typing import BinaryIO

from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.text.encoding import HEAD, encoding_of, text_reader


def text_of(file: BinaryIO) -> TextIOWrapper:
    """A reader of the file's text from its beginning; line ends are kept."""
    encoding = table_encoding(file.read(HEAD))
    file.seek(0)
    return text_reader(file, encoding)


def table_encoding(head: bytes) -> str:
    """The encoding of a file that begins so.

    Raises:
        UnusableFile: `not_text`.
    """
    encoding = encoding_of(head)
    if encoding is None:
        raise UnusableFile(
            "not_text",
            "The file holds no text that could be read as a table.",
            hint="Give a CSV, XLSX, JSON or JSON Lines file; unpack an archive first.",
        )
    return encoding
