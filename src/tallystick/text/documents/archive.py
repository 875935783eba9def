"""Zip archives of unknown origin: nothing is unpacked to disk; unsafe names and sizes are refused."""

import io
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.text.documents.model import DocumentRefused

MAX_FILE = 128 * 1024 * 1024
"""Maximum size of the archive in bytes; enough for a novel with pictures."""
MAX_ENTRIES = 5_000
MAX_RATIO = 200
"""Maximum compression ratio. Text has a ratio of about 10, rarely 30; a part with more than this is a zip bomb."""
SMALL = 64 * 1024
"""Parts of up to this many bytes are exempt from the ratio check, because they may be mostly white space."""
MAX_DEPTH = 200
"""Maximum nesting of XML elements; documents have 20 to 30 levels, and recursion would exceed Python's limit."""
_ENCRYPTED = 0x1

try:
    from lzma import LZMAError
except ImportError:  # pragma: no cover - a Python built without it
    LZMAError = zlib.error  # type: ignore[misc,assignment]

DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,  # a compression method that this Python does not support
    RuntimeError,  # encrypted with a password
)
"""`zipfile` raises a different exception for each compression method."""


class Archive:
    """A zip file whose directory has been validated."""

    def __init__(self, source: Path | bytes, limits: ImportLimits = DEFAULT) -> None:
        """Open an archive.

        Args:
            source: The file, or its content.
            limits: Maximum sizes of what is read.

        Raises:
            DocumentRefused: `source_too_large`, `archive_damaged`, `archive_unsafe` or `archive_bomb`.
        """
        name = source.name if isinstance(source, Path) else "The document"
        if (source.stat().st_size if isinstance(source, Path) else len(source)) > MAX_FILE:
            raise too_large(name, MAX_FILE)
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(source if isinstance(source, Path) else io.BytesIO(source))
        except DAMAGED as error:
            message = f"{name:.100} is not a readable archive. Save it again from the program that made it."
            raise DocumentRefused(message, code="archive_damaged") from error
        try:
            self._entries = _checked(self._zip.infolist(), limits)
        except BaseException:
            self._zip.close()
            raise
        self._read = 0

    def __enter__(self) -> "Archive":
        """Use as a context manager to close at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self._zip.close()

    def names(self) -> list[str]:
        """Return the names of the parts."""
        return list(self._entries)

    def read(self, name: str) -> bytes | None:
        """Return the content of one part; None if there is no such part.

        Raises:
            DocumentRefused: The part is damaged, or the limits are exceeded.
        """
        entry = self._entries.get(name)
        if entry is None:
            return None
        try:
            with self._zip.open(entry) as part:
                # The sizes in the directory are not trusted: parts may overlap, or unpack to more.
                data = part.read(self._limits.document_bytes + 1)
        except DAMAGED as error:
            raise DocumentRefused(f"A part of the archive is damaged: {name:.100}.", code="archive_damaged") from error
        self._read += len(data)
        if len(data) > self._limits.document_bytes:
            raise _bomb(f"A part of the archive is too large: {name:.100}.", self._limits, "document_bytes")
        if self._read > self._limits.total_bytes:
            raise _bomb("The parts of the archive are too large in total.", self._limits, "total_bytes")
        return data

    def xml(self, name: str) -> Any | None:
        """Return one part as an XML tree; None if there is no such part."""
        data = self.read(name)
        return None if data is None else parse_xml(data, name)


def parse_xml(data: bytes, name: str) -> Any:
    """Parse XML; document types, entity declarations and external references are refused.

    Raises:
        DocumentRefused: `xml_unsafe` or `xml_damaged`.
    """
    # Imported lazily: loading takes a tenth of a second, and most commands never read a document.
    from xml.etree.ElementTree import ParseError  # noqa: PLC0415 - only the exception class

    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import fromstring  # noqa: PLC0415

    try:
        tree = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        message = f"{name:.100} contains a document type or entity declarations. Save it again without them."
        raise DocumentRefused(message, code="xml_unsafe") from None
    except (ParseError, ValueError, LookupError) as error:
        raise DocumentRefused(f"{name:.100} is damaged: {error}.", code="xml_damaged") from None
    if _is_too_deep(tree):
        raise DocumentRefused(f"{name:.100} is nested too deeply.", code="xml_unsafe")
    return tree


def too_large(name: str, most: int) -> DocumentRefused:
    """Return the error for a source that is too large."""
    message = f"{name:.100} is larger than {most // (1024 * 1024)} MB. Split it, or remove large pictures."
    return DocumentRefused(message, code="source_too_large")


def _bomb(message: str, limits: ImportLimits, name: str) -> DocumentRefused:
    return DocumentRefused(f"{message} Split it, or raise {limits.named(name)}.", code="archive_bomb")


def _is_too_deep(tree: Any) -> bool:
    level, depth = [tree], 0
    while level and depth <= MAX_DEPTH:
        level = [child for element in level for child in element]
        depth += 1
    return bool(level)


def _checked(entries: list[zipfile.ZipInfo], limits: ImportLimits) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise DocumentRefused(f"The archive contains more than {MAX_ENTRIES} parts.", code="archive_bomb")
    if sum(entry.file_size for entry in entries) > limits.total_bytes:
        raise _bomb("The archive is too large when unpacked.", limits, "total_bytes")
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        _check_name(entry)
        if entry.file_size > max(SMALL, entry.compress_size * MAX_RATIO):
            raise DocumentRefused(f"A part is far too large when unpacked: {entry.filename:.100}.", code="archive_bomb")
        if entry.filename in found:
            raise DocumentRefused(f"The archive contains a name twice: {entry.filename:.100}.", code="archive_unsafe")
        found[entry.filename] = entry
    return found


def _check_name(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    outside = name.startswith(("/", "\\", "~")) or ":" in name or "\\" in name or "\0" in name
    if outside or ".." in name.split("/"):
        message = "A part of the archive has a path outside it. The archive may be malicious; do not open it elsewhere."
        raise DocumentRefused(message, code="archive_unsafe")
    if stat.S_ISLNK(entry.external_attr >> 16) or entry.flag_bits & _ENCRYPTED:
        message = "The archive contains links or needs a password. Save it again without them."
        raise DocumentRefused(message, code="archive_unsafe")
