"""Archives from elsewhere: nothing is unpacked to disk, and nothing is read that its size or name makes doubtful."""

import stat
import zipfile
from pathlib import Path
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.importing.nouns import SourceRefused
from tallystick.storage.archives import DAMAGED

MAX_FILE = 128 * 1024 * 1024
"""Of the archive itself: a novel with its pictures."""
MAX_ENTRIES = 5_000
MAX_RATIO = 200
"""Text shrinks to a tenth, rarely to a thirtieth; what shrinks more is a bomb."""
SMALL = 64 * 1024
"""Small parts may be mostly blanks."""
MAX_DEPTH = 200
"""Elements in elements: texts have twenty or thirty, and readers that follow them one into the other have an end."""
_ENCRYPTED = 0x1


class Archive:
    """One zip file whose directory has been looked through."""

    def __init__(self, path: Path, limits: ImportLimits = DEFAULT) -> None:
        """Open an archive.

        Raises:
            SourceRefused: `source_too_large`, `archive_damaged`, `archive_unsafe` or `archive_bomb`.
        """
        if path.stat().st_size > MAX_FILE:
            raise too_large(path.name, MAX_FILE)
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(path)
        except DAMAGED as error:
            message = f"{path.name} is no archive that can be read. Save it again from the program that made it."
            raise SourceRefused(message, code="archive_damaged") from error
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
        """What is in it."""
        return list(self._entries)

    def read(self, name: str) -> bytes | None:
        """One part; None if there is none.

        Raises:
            SourceRefused: It is damaged, or larger than it says.
        """
        entry = self._entries.get(name)
        if entry is None:
            return None
        try:
            with self._zip.open(entry) as part:
                # What the directory says is not believed: parts may overlap, or unpack to more.
                data = part.read(self._limits.document_bytes + 1)
        except DAMAGED as error:
            raise SourceRefused(f"A part of the archive is damaged: {name:.100}.", code="archive_damaged") from error
        self._read += len(data)
        if len(data) > self._limits.document_bytes:
            raise _bomb(f"A part of the archive is too large: {name:.100}.", self._limits, "document_bytes")
        if self._read > self._limits.total_bytes:
            raise _bomb("The parts of the archive come to too much.", self._limits, "total_bytes")
        return data

    def xml(self, name: str) -> Any | None:
        """One part as an XML tree; None if there is none."""
        data = self.read(name)
        return None if data is None else parse_xml(data, name)


def parse_xml(data: bytes, name: str) -> Any:
    """An XML tree; no document type, no entities of its own, nothing from outside.

    Raises:
        SourceRefused: `xml_unsafe` or `xml_damaged`.
    """
    # Costs a tenth of a second, and most commands never import anything.
    from xml.etree.ElementTree import ParseError  # noqa: PLC0415 - the error's class alone

    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import fromstring  # noqa: PLC0415

    try:
        tree = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        message = f"{name:.100} brings a document type or entities of its own. Save it again without them."
        raise SourceRefused(message, code="xml_unsafe") from None
    except (ParseError, ValueError, LookupError) as error:
        raise SourceRefused(f"{name:.100} is damaged: {error}.", code="xml_damaged") from None
    if _is_too_deep(tree):
        raise SourceRefused(f"{name:.100} is nested deeper than any text.", code="xml_unsafe")
    return tree


def too_large(name: str, most: int) -> SourceRefused:
    """For sources that nobody wrote as one book."""
    message = f"{name:.100} is larger than {most // (1024 * 1024)} MB. Split it, or take large pictures out."
    return SourceRefused(message, code="source_too_large")


def _bomb(message: str, limits: ImportLimits, name: str) -> SourceRefused:
    return SourceRefused(f"{message} Split it, or raise {limits.named(name)}.", code="archive_bomb")


def _is_too_deep(tree: Any) -> bool:
    level, depth = [tree], 0
    while level and depth <= MAX_DEPTH:
        level = [child for element in level for child in element]
        depth += 1
    return bool(level)


def _checked(entries: list[zipfile.ZipInfo], limits: ImportLimits) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise SourceRefused(f"The archive holds more than {MAX_ENTRIES} parts.", code="archive_bomb")
    if sum(entry.file_size for entry in entries) > limits.total_bytes:
        raise _bomb("The archive unpacks to more than any book.", limits, "total_bytes")
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        _check_name(entry)
        if entry.file_size > max(SMALL, entry.compress_size * MAX_RATIO):
            raise SourceRefused(f"A part unpacks to far too much: {entry.filename:.100}.", code="archive_bomb")
        if entry.filename in found:
            raise SourceRefused(f"The archive holds a name twice: {entry.filename:.100}.", code="archive_unsafe")
        found[entry.filename] = entry
    return found


def _check_name(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    outside = name.startswith(("/", "\\", "~")) or ":" in name or "\\" in name or "\0" in name
    if outside or ".." in name.split("/"):
        message = "A part of the archive has a name that leads out of it. This is no book; do not open it elsewhere."
        raise SourceRefused(message, code="archive_unsafe")
    if stat.S_ISLNK(entry.external_attr >> 16) or entry.flag_bits & _ENCRYPTED:
        message = "The archive holds links or is locked with a password. Save it again without."
        raise SourceRefused(message, code="archive_unsafe")
