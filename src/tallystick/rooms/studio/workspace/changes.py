"""What a file shall become: a change, worked out against its base."""

import re

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.workspace.lines import with_diff, with_edits
from tallystick.rooms.studio.workspace.nouns import GONE, Change
from tallystick.rooms.studio.workspace.reading import decoded
from tallystick.storage.files import MAX_BYTES

_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")


@record
class Result:
    """Both sides of a change."""

    base_sha256: str
    base: bytes | None
    """None: it is not known, only named."""
    after: bytes | None
    """None: the file goes."""


def work_out(change: Change, base_sha256: str, base: bytes | None) -> Result | Problem:
    """What a change makes of its base.

    Args:
        change: The change.
        base_sha256: The base's hash.
        base: Its content; None: it is no longer known. A whole text can still be kept then; line numbers mean nothing.
    """
    problem = _misfit(change, base_sha256, base)
    if problem is not None:
        return problem
    if change.remove:
        return Result(base_sha256=base_sha256, base=base, after=None)
    text = _after(change, told(base or b""))
    after = text if isinstance(text, Problem) else encoded(text)
    if isinstance(after, Problem):
        return after
    if after == base and base_sha256 != GONE:
        return Problem(code="patch_empty", message="The change changes nothing.")
    return Result(base_sha256=base_sha256, base=base, after=after)


def told(data: bytes) -> str:
    """The text of a content; empty where it is none."""
    found = decoded(data)
    return "" if found is None else found[0]


def encoded(text: str) -> bytes | Problem:
    """The bytes of a text that may be a file's: UTF-8."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = b"\0"
    if b"\0" in data:
        message = "The text holds half a character or a NUL; remove it."
        return Problem(code="text_invalid", message=message, pointer="/text")
    if len(data) > MAX_BYTES:
        message = f"The text is larger than {MAX_BYTES} bytes; split it."
        return Problem(code="too_large", message=message, pointer="/text")
    return data


def _misfit(change: Change, base_sha256: str, base: bytes | None) -> Problem | None:
    ways = (change.text is not None, change.edits is not None, change.diff is not None, change.remove)
    if sum(ways) != 1:
        return Problem(code="change_invalid", message="Give exactly one of text, edits, diff and remove.")
    if not _SHA256.fullmatch(base_sha256):
        message = "base_sha256 is the SHA-256 of the file that was read, or empty where there is none."
        return Problem(code="change_invalid", message=message, pointer="/base_sha256")
    if base is None and change.text is None:
        message = "The file is not the base that the change names. Read it again and make the change anew."
        return Problem(code="changed_meanwhile", message=message)
    if base is not None and decoded(base) is None:
        return Problem(code="not_text", message="The file holds no text, so it has no patches.")
    if change.remove and base_sha256 == GONE:
        return Problem(code="not_found", message="There is no such file in the workspace.", pointer="/path")
    return None


def _after(change: Change, before: str) -> str | Problem:
    if change.edits is not None:
        return with_edits(before, change.edits)
    return with_diff(before, change.diff) if change.diff is not None else change.text or ""
