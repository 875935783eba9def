"""Unified diffs, line edits, and the result of a change against its base.

Diffs are computed in bounded time: texts with too little in common are shown as one replacement. A change fits its
base, or is refused.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.studio.workspace.model import GONE, Change, Edit
from tallystick.storage.files import MAX_BYTES
from tallystick.text.encoding import decode_text

MAX_COMPARED = 3_000
"""Lines compared in full, after removing a common beginning and end."""
CONTEXT = 3

Step = tuple[str, int, int, int, int]


def unified(before: str, after: str, path: str) -> str:
    """The diff; empty when both are the same."""
    if before == after:
        return ""
    old, new = split(before), split(after)
    text_of_bytes = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in _groups(steps(old, new)):
        text_of_bytes.append(f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@\n")
        for kind, a, b, c, d in group:
            if kind == "equal":
                text_of_bytes += [_told(" ", line) for line in old[a:b]]
                continue
            text_of_bytes += [_told("-", line) for line in old[a:b]]
            text_of_bytes += [_told("+", line) for line in new[c:d]]
    return "".join(text_of_bytes)


def counts(before: str, after: str) -> tuple[int, int]:
    """How many lines come and how many go."""
    changed = [step for step in steps(split(before), split(after)) if step[0] != "equal"]
    return sum(d - c for _, _, _, c, d in changed), sum(b - a for _, a, b, _, _ in changed)


def split(text: str) -> list[str]:
    """Lines with their ends, as diffs count them: at line feeds alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def steps(old: list[str], new: list[str]) -> list[Step]:
    """The edit operations, in order."""
    head = 0
    shorter = min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(a), len(b)) > MAX_COMPARED:
        middle: list[Step] = [("replace", 0, len(a), 0, len(b))]
    else:
        middle = [*SequenceMatcher(None, a, b).get_opcodes()]
    found: list[Step] = [("equal", 0, head, 0, head)] if head else []
    found += [(kind, head + i, head + j, head + k, head + m) for kind, i, j, k, m in middle]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _groups(found: list[Step]) -> Iterator[list[Step]]:
    """Changes that are near each other, with the lines around them."""
    matcher = SequenceMatcher(None, "", "")
    # The grouping needs the steps alone.
    matcher.opcodes = found  # type: ignore[attr-defined]
    yield from matcher.get_grouped_opcodes(CONTEXT)


def _range(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def _told(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_NO_END = "\\ No newline at end of file"


def lines_of(text: str) -> list[str]:
    """The lines with their ends, numbered as quotes and `file_reader` number them."""
    return _LINE.findall(text)


def with_edits(base: str, edits: tuple[Edit, ...]) -> str | Problem:
    """The base with some lines replaced; line numbers are the base's.

    Line ends of the given text become those of the file, so that a Windows file stays one.
    """
    lines = lines_of(base)
    end = "\r\n" if base.count("\r\n") * 2 > base.count("\n") else "\n"
    made: list[str] = []
    at = 0
    for place, edit in enumerate(sorted(edits, key=lambda edit: (edit.start_line, edit.end_line))):
        if not at < edit.start_line <= edit.end_line + 1 <= len(lines) + 1:
            return Problem(code="edit_invalid", message=_misplaced(len(lines)), pointer=f"/edits/{place}")
        made += lines[at : edit.start_line - 1]
        made += _as_lines(edit.text, end)
        at = edit.end_line
    made += lines[at:]
    return "".join(_joined(made, end))


def with_diff(base: str, diff: str) -> str | Problem:
    """The base with a unified diff applied, every line of which must be where it says."""
    lines = split(base)
    made: list[str] = []
    at = 0
    hunks = _hunks(diff)
    if isinstance(hunks, Problem):
        return hunks
    for place, (start, old, new) in enumerate(hunks):
        first = start - 1 if old else start
        if first < at or lines[first : first + len(old)] != old:
            message = f"Part {place + 1} of the diff does not fit the file it names as its base."
            return Problem(code="diff_mismatch", message=message, pointer="/diff")
        made += [*lines[at:first], *new]
        at = first + len(old)
    made += lines[at:]
    if any(not line.endswith("\n") for line in made[:-1]):
        message = "The diff removes a line end in the middle of the file."
        return Problem(code="diff_mismatch", message=message, pointer="/diff")
    return "".join(made)


def _hunks(diff: str) -> list[tuple[int, list[str], list[str]]] | Problem:
    """(first old line, old lines, new lines) of each part."""
    invalid = Problem(code="diff_invalid", message="This is not a unified diff of one file.", pointer="/diff")
    rows = diff.split("\n")
    if rows and not rows[-1]:
        rows.pop()
    found: list[tuple[int, list[str], list[str]]] = []
    at = next((place for place, row in enumerate(rows) if row.startswith("@@ ")), len(rows))
    if sum(row.startswith("--- ") for row in rows[:at]) > 1:
        return invalid
    while at < len(rows):
        head = _HUNK.match(rows[at])
        if head is None:
            return invalid
        counts = [1 if size is None else int(size) for size in (head.group(2), head.group(4))]
        old, new, at = _hunk(rows, at + 1, counts[0], counts[1])
        if (len(old), len(new)) != (counts[0], counts[1]):
            return invalid
        found.append((int(head.group(1)), old, new))
    return found or invalid


def _hunk(rows: list[str], at: int, old_count: int, new_count: int) -> tuple[list[str], list[str], int]:
    old: list[str] = []
    new: list[str] = []
    while at < len(rows) and (len(old) < old_count or len(new) < new_count or rows[at] == _NO_END):
        mark, line = rows[at][:1], rows[at][1:] + "\n"
        sides = {"-": (old,), "+": (new,), " ": (old, new), "": (old, new)}.get(mark)
        if rows[at] == _NO_END:
            # It speaks of the line above it.
            above = {"-": (old,), "+": (new,)}.get(rows[at - 1][:1], (old, new))
            for side in above:
                side[-1:] = [side[-1].removesuffix("\n")] if side else []
        elif sides is None:
            break
        else:
            for side in sides:
                side.append(line)
        at += 1
    return old, new, at


def _as_lines(text: str, end: str) -> list[str]:
    return [line.rstrip("\r\n") + end if line[-1] in "\r\n" else line for line in lines_of(text)]


def _joined(lines: list[str], end: str) -> list[str]:
    """Every line but the last has an end."""
    return [line if line[-1] in "\r\n" else line + end for line in lines[:-1]] + lines[-1:]


def _misplaced(total: int) -> str:
    return (
        f"The file has {total} lines. Give 1 <= start_line <= end_line (or end_line = start_line - 1 to insert), "
        "and no line twice."
    )


_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")


@record
class ChangeResult:
    """Both sides of a change."""

    base_sha256: str
    base: bytes | None
    """None: it is not known, only named."""
    after: bytes | None
    """None: the file goes."""


def apply_change(change: Change, base_sha256: str, base: bytes | None) -> ChangeResult | Problem:
    """The result of a change.

    Args:
        change: The change.
        base_sha256: The base's hash.
        base: Its content; None: it is no longer known. A whole text can still be kept then; line numbers mean nothing.
    """
    problem = _misfit(change, base_sha256, base)
    if problem is not None:
        return problem
    if change.remove:
        return ChangeResult(base_sha256=base_sha256, base=base, after=None)
    text = _after(change, text_of_bytes(base or b""))
    after = text if isinstance(text, Problem) else encode_text(text)
    if isinstance(after, Problem):
        return after
    if after == base and base_sha256 != GONE:
        return Problem(code="patch_empty", message="The change changes nothing.")
    return ChangeResult(base_sha256=base_sha256, base=base, after=after)


def text_of_bytes(data: bytes) -> str:
    """The decoded content; empty if it is not text."""
    found = decode_text(data)
    return "" if found is None else found.text


def encode_text(text: str) -> bytes | Problem:
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
        message = "The file is not the base that the change names. Read it again and repeat the change."
        return Problem(code="changed_meanwhile", message=message)
    if base is not None and decode_text(base) is None:
        return Problem(code="not_text", message="The file holds no text, so it has no patches.")
    if change.remove and base_sha256 == GONE:
        return Problem(code="not_found", message="There is no such file in the workspace.", pointer="/path")
    return None


def _after(change: Change, before: str) -> str | Problem:
    if change.edits is not None:
        return with_edits(before, change.edits)
    return with_diff(before, change.diff) if change.diff is not None else change.text or ""
