"""Whole novels that nobody has changed: hardly a finding, and soon."""

import re
import time
from pathlib import Path

import pytest

from tests.rooms.studio.continuity.telling import found, reading_of
from tests.sizes import size

MOST = 3
SECONDS = 150.0
"""Of one core for 200,000 words; several times what it takes, so it tells an answer from a hang."""


def _novels(data: Path) -> list[Path]:
    return sorted((data / "gutenberg-novels" / "dev").glob("*.txt"))


@pytest.mark.promise("continuity.untouched-novels")
def test_an_untouched_novel_gives_at_most_three_findings(data: Path) -> None:
    novels = _novels(data)
    if not novels:
        pytest.skip("left out: whole novels, TALLY_DATA not there")
    for path in novels[: size(2, len(novels))]:
        findings = found(path.read_text(encoding="utf-8-sig", errors="replace"))
        assert len(findings) <= MOST, (path.name, [finding.message for finding in findings])


def test_the_beginnings_of_many_novels_give_none(data: Path) -> None:
    pieces = sorted((data / "litbank" / "dev" / "coref").glob("*.txt"))
    if not pieces:
        pytest.skip("left out: beginnings of novels, TALLY_DATA not there")
    for path in pieces[:: size(4, 1)]:
        text = re.sub(r" ('s|n't|[.,;:!?])", r"\1", path.read_text(encoding="utf-8"))
        assert found(text) == (), path.name


@pytest.mark.promise("continuity.fast")
def test_a_long_book_is_checked_in_time() -> None:
    words = size(60_000, 200_000)
    paragraph = (
        'Helen walked to the harbour and looked at the boats. "It will rain," said Tobias, and he laughed. The man on the '
        "quay had grey eyes and a red beard. Two days later the wind went round. Mr. Marsh was tired, and Larkhill was far."
    )
    text = "\n\n".join([paragraph] * (words // len(paragraph.split()) + 1))
    began = time.process_time()
    checked = reading_of(text).findings()
    took = time.process_time() - began
    assert checked.looked_at.words >= words
    assert took < SECONDS * words / 200_000 + 1
