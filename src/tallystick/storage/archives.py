"""What opening and reading an archive that somebody sent may raise."""

import zipfile
import zlib

try:
    from lzma import LZMAError
except ImportError:  # pragma: no cover - a Python that was built without it
    LZMAError = zlib.error  # type: ignore[misc,assignment]

DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError,
    NotImplementedError,  # packed in a way that this Python does not know
    RuntimeError,  # locked with a password
)  # fmt: skip
"""`zipfile` says it in as many ways as there are ways to pack a part."""
