"""Exceptions that opening and reading an untrusted archive may raise."""

import zipfile
import zlib

try:
    from lzma import LZMAError
except ImportError:  # pragma: no cover - a Python built without it
    LZMAError = zlib.error  # type: ignore[misc,assignment]

DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError,
    NotImplementedError,  # a compression method that this Python does not support
    RuntimeError,  # encrypted with a password
)  # fmt: skip
"""`zipfile` raises a different exception for each compression method."""
