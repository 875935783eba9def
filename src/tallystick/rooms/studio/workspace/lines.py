"""Changing lines of a text: by their numbers, or by a unified diff. It fits its base, or is refused."""

import re

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.workspace.diffs import split
from tallystick.rooms.studio.workspace.nouns import Edit

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
        message = "The diff takes a line end from the middle of the file."
        return Problem(code="diff_mismatch", message=message, pointer="/diff")
    return "".join(made)


def _hunks(diff: str) -> list[tuple[int, list[str], list[str]]] | Problem:
    """(first old line, old lines, new lines) of each part."""
    invalid = Problem(code="diff_invalid", message="This is no unified diff of one file.", pointer="/diff")
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
