"""Findings of proselint: clichés, redundancies, malapropisms and the rest, by the library's own lists.

Its checks of type (curly quotes, spacing) are left out, and those that a novel breaks on purpose. What is said in
speech is not marked, as the library does it.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from tallystick.rooms.studio.prose.findings import Finding, around, places_of
from tallystick.rooms.studio.prose.paragraphs import Paragraph, Prose, is_within

LEFT_OUT = ("restricted", "typography", "misc.but", "misc.tense_present", "misc.scare_quotes", "misc.capitalization")
SHOWN = 8
_BATCH = 12_000
"""Characters looked at together: some of the library's patterns take longer than their text grows."""


def lint_findings(prose: Prose) -> Iterator[Finding]:
    """One finding for each family of checks and message, the most frequent first."""
    marked: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for batch in _batches(prose):
        for family, message, mark in _marks(batch):
            if mark not in marked[family, message]:
                marked[family, message].append(mark)
    ranked = sorted(marked.items(), key=lambda one: (-len(one[1]), one[1][0][0], one[0]))
    for (family, message), marks in ranked[:SHOWN]:
        places = places_of(prose.source, marks)
        yield Finding(kind=f"lint.{family}", focus="voice", message=message, count=len(marks), places=places)


def _batches(prose: Prose) -> Iterator[list[Paragraph]]:
    batch: list[Paragraph] = []
    size = 0
    for paragraph in prose.paragraphs:
        batch.append(paragraph)
        size += len(paragraph.text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _marks(batch: list[Paragraph]) -> Iterator[tuple[str, str, tuple[int, str]]]:
    # The library wants a line end before and after the text.
    text = "\n" + "\n\n".join(paragraph.text for paragraph in batch) + "\n"
    starts: list[int] = []
    at = 1
    for paragraph in batch:
        starts.append(at)
        at += len(paragraph.text) + 2
    for check in _checks():
        for result in check.check_with_flags(text):
            start, end = result.span
            index = max((number for number, first in enumerate(starts) if first <= start), default=0)
            paragraph, inner = batch[index], start - starts[index]
            if not 0 <= inner < len(paragraph.text) or is_within(paragraph.speech, inner):
                continue
            stop = min(end - starts[index], len(paragraph.text))
            first, words = around(paragraph.text, inner, max(stop, inner + 1))
            message = str(result.message).strip()
            yield result.check_path.split(".")[0], message, (paragraph.line_at(first), words)


@cache
def _checks() -> tuple[Any, ...]:
    from proselint.checks import (  # type: ignore[import-untyped] # noqa: PLC0415 - a hundred modules, for prose alone
        __register__,
    )

    return tuple(check for check in __register__ if not check.path.startswith(LEFT_OUT))
