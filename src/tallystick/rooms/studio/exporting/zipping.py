"""Zip files whose bytes depend on nothing but what is in them."""

import io
import zipfile
from collections.abc import Iterable

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip file can name; the time of writing is nobody's business."""


def packed(parts: Iterable[tuple[str, bytes]], *, stored: frozenset[str] = frozenset()) -> bytes:
    """The parts in their order.

    Args:
        parts: Name and content of each.
        stored: Which are not compressed.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in parts:
            entry = zipfile.ZipInfo(name, date_time=EPOCH)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            # The system that wrote it would differ otherwise.
            entry.create_system = 3
            archive.writestr(entry, data, compresslevel=9)
    return target.getvalue()


def repacked(data: bytes) -> bytes:
    """The same archive without the time it was made at."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return packed([(name, archive.read(name)) for name in archive.namelist()])
