"""Bounds on what the rules of continuity read, so that no text can make them slow.

The rules look at a sentence with many patterns, some of which go over a run of blanks or signs once for each of its
characters. In prose runs are short. What is longer is hidden here, character for character, so that places stay.
"""

import re

LONGEST_SENTENCE = 2_400
"""Characters: longer ones, of which a novel has one or two, are read in parts."""
_RUN = re.compile(r"\s{24}\s+|[^\w\s]{24}[^\w\s]+|\S{200}\S+")
_KEPT = 20
"""Characters of a run that stay in sight."""


def tempered(text: str, hidden: str) -> str:
    """The text with the rest of overlong runs hidden; as many characters as before."""
    return _RUN.sub(lambda run: run[0][:_KEPT] + hidden * (len(run[0]) - _KEPT), text)


def parts_of(told: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the parts of a sentence begin and end: one, unless it is longer than any sentence."""
    parts: list[tuple[int, int]] = []
    while end - start > LONGEST_SENTENCE:
        at = told.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        at = at if at > start else start + LONGEST_SENTENCE
        parts.append((start, at))
        start = at
    return [*parts, (start, end)]
