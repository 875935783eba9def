"""Unified diffs, in bounded time: texts that have too little in common are shown as one replacement."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

MAX_COMPARED = 3_000
"""Lines that are compared one with the other, after what is the same at both ends is set aside."""
CONTEXT = 3

Step = tuple[str, int, int, int, int]


def unified(before: str, after: str, path: str) -> str:
    """The diff; empty when both are the same."""
    if before == after:
        return ""
    old, new = split(before), split(after)
    told = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in _groups(steps(old, new)):
        told.append(f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@\n")
        for kind, a, b, c, d in group:
            if kind == "equal":
                told += [_told(" ", line) for line in old[a:b]]
                continue
            told += [_told("-", line) for line in old[a:b]]
            told += [_told("+", line) for line in new[c:d]]
    return "".join(told)


def counts(before: str, after: str) -> tuple[int, int]:
    """How many lines come and how many go."""
    changed = [step for step in steps(split(before), split(after)) if step[0] != "equal"]
    return sum(d - c for _, _, _, c, d in changed), sum(b - a for _, a, b, _, _ in changed)


def split(text: str) -> list[str]:
    """Lines with their ends, as diffs count them: at line feeds alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def steps(old: list[str], new: list[str]) -> list[Step]:
    """What becomes of which lines, in order."""
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
