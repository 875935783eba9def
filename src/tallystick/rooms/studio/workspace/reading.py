"""A file as it is: every character, so that what is shown, sent back and hashed is one text."""

from hashlib import sha256

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused
from tallystick.rooms.studio.book.naming import is_prose_file
from tallystick.rooms.studio.book.reading import outline_path
from tallystick.rooms.studio.workspace.nouns import GONE, FileText
from tallystick.storage.files import MAX_BYTES, OUTLINE, FileSources
from tallystick.storage.tree import count_lines

_WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_text(files: FileSources, path: str) -> FileText | Problem:
    """A text file, or why not: `not_found`, `not_text`, `too_large`, or the path itself is refused."""
    try:
        found = files.read_bytes(path)
    except PathRefused as refused:
        return Problem(code=refused.code, message=str(refused))
    if found.truncated:
        return Problem(code="too_large", message=f"The file is larger than {MAX_BYTES} bytes; split it.")
    told = decoded(found.data)
    if told is None:
        return Problem(code="not_text", message="The file holds no text.")
    text, encoding = told
    digest = sha256(found.data).hexdigest()
    return FileText(path=found.path, text=text, sha256=digest, lines=count_lines(found.data) or 0, encoding=encoding)


def find_outline(files: FileSources) -> FileText | Problem:
    """The outline's file, at its usual place or wherever one calls itself so."""
    path = outline_path(path for path in files.paths() if is_prose_file(path))
    if path is None:
        message = f"There is no outline. Write one as {OUTLINE}, or call a Markdown file so."
        return Problem(code="outline_missing", message=message)
    return read_text(files, path)


def current_bytes(files: FileSources, path: str) -> tuple[str, bytes]:
    """Hash and content of a file as it is now; `GONE` where there is none.

    Raises:
        PathRefused: The path is refused, or names no plain file, or the file is too large.
    """
    try:
        found = files.read_bytes(path)
    except PathRefused as refused:
        if refused.code == "not_found":
            return GONE, b""
        raise
    if found.truncated or found.sha256 is None:
        raise PathRefused(f"The file is larger than {MAX_BYTES} bytes; split it.", code="too_large")
    return found.sha256, found.data


def decoded(data: bytes) -> tuple[str, str] | None:
    """All characters and what they were read as; None where it is no text. UTF-8 comes back byte for byte."""
    wide = _WIDE.get(data[:2])
    if wide is not None:
        return data.decode(wide, errors="replace"), wide
    if b"\0" in data:
        return None
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"
