"""A spreadsheet is an archive: what it would unpack to is known before anything is unpacked.

The sizes an archive states bind whoever unpacks it: reading stops there. So a small file that says it holds a large one
is refused here, and one that lies is cut off.
"""

import re
from typing import BinaryIO
from zipfile import ZipFile

from tallystick.rooms.insight.ingest.refusing import Unusable
from tallystick.storage.archives import DAMAGED

MAX_PARTS = 5_000
MAX_UNPACKED = 4 * 1024**3
"""A million rows of a hundred columns."""
MAX_STRINGS = 192 * 1024**2
"""Texts that cells share are held in memory, at about twice this."""
MAX_RATIO = 250
"""Sheets of real tickets pack to a tenth; those of numbers alone to a fortieth."""
FREE_OF_RATIO = 32 * 1024**2
"""What a bomb of this size can do is no harm."""
_PROLOG = 4_096
_DOCTYPE = re.compile(rb"<\0?!\0?(?:D\0?O\0?C|E\0?N\0?T)", re.IGNORECASE)
_HINT = "Open it in a spreadsheet program and save it as CSV."


def check_archive(file: BinaryIO) -> None:
    """Refuse an archive that is none, would unpack to too much, or defines entities.

    Raises:
        Unusable: `not_a_spreadsheet`, `zip_bomb`, `too_large` or `doctype`.
    """
    try:
        with ZipFile(file) as archive:
            _check_sizes(archive)
            _check_prologs(archive)
    except DAMAGED:
        raise Unusable("not_a_spreadsheet", "The file is no spreadsheet that can be opened.", hint=_HINT) from None


def _check_sizes(archive: ZipFile) -> None:
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    shared = sum(part.file_size for part in parts if part.filename.lower().endswith("sharedstrings.xml"))
    if len(parts) > MAX_PARTS or (unpacked > FREE_OF_RATIO and unpacked > packed * MAX_RATIO):
        message = f"The spreadsheet would unpack from {packed:,} to {unpacked:,} bytes in {len(parts):,} parts."
        raise Unusable("zip_bomb", message, hint=_HINT)
    if unpacked > MAX_UNPACKED or shared > MAX_STRINGS:
        raise Unusable("too_large", f"The spreadsheet holds {unpacked:,} bytes, more than is read at once.", hint=_HINT)


def _check_prologs(archive: ZipFile) -> None:
    """Definitions stand before the first element, so the beginning of each part says whether it has any."""
    for part in archive.infolist():
        if part.filename.lower().endswith((".xml", ".rels")):
            with archive.open(part) as opened:
                if _DOCTYPE.search(opened.read(_PROLOG)):
                    message = "The spreadsheet defines entities, which no spreadsheet program writes."
                    raise Unusable("doctype", message, hint=_HINT)
