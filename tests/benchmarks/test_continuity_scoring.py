"""What counts as found, and what as false, on planted books."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.continuity.checkers import MOST_FILES, ten_scenes
from benchmarks.continuity.findings import Finding, Quote, findings_in
from benchmarks.continuity.grep import grep
from benchmarks.continuity.measuring import GREP, Measured, Size, measure
from benchmarks.continuity.planting import Book, Passage, planted, untouched
from benchmarks.continuity.report import markdown, show
from benchmarks.continuity.scoring import score
from benchmarks.continuity.wordings import KINDS
from tests.benchmarks.pond import NOVEL, NOWHERE, pond_cases


def _pointing_at(*passages: Passage) -> Finding:
    return Finding(
        rule="r", quotes=tuple(Quote(path=at.path, first=at.first, last=at.last, text=at.text) for at in passages)
    )


@pytest.mark.promise("studio.continuity-measured")
def test_a_finding_on_the_contradicting_line_counts_and_one_on_a_twin_is_false() -> None:
    cases = pond_cases()
    errors, twins = (planted(NOVEL, cases, errors=errors, wrapped=True) for errors in (True, False))
    right = score(errors, [_pointing_at(plant.established, plant.second) for plant in errors.plants], [])
    wrong = score(twins, [_pointing_at(plant.established, plant.second) for plant in twins.plants], [])
    assert (right.recall, right.precision, right.missed) == (1.0, 1.0, [])
    assert (wrong.recall, wrong.precision, wrong.wrong) == (None, 0.0, len(cases))
    right.add(wrong)
    assert (right.recall, right.precision) == (1.0, 0.5)


@pytest.mark.promise("studio.continuity-measured")
def test_the_first_statement_alone_is_not_the_error() -> None:
    book = planted(NOVEL, pond_cases(), errors=True, wrapped=True)
    result = score(book, [_pointing_at(book.plants[0].established)], [])
    assert (result.found.total(), result.wrong, len(result.missed)) == (0, 1, len(book.plants))


@pytest.mark.promise("studio.continuity-measured")
def test_what_the_untouched_novel_gives_too_is_not_counted() -> None:
    book = planted(NOVEL, pond_cases(), errors=True, wrapped=True)
    path, origin = next((path, origin) for path, origin in book.origins.items() if 0 in origin)
    moved = next(line for line, was in enumerate(origin, 1) if was and was != line and not any(_on(book, path, line)))
    now, then = (Passage(path=path, first=line, last=line, text="") for line in (moved, origin[moved - 1]))
    assert score(book, [_pointing_at(now)], [_pointing_at(then)]).wrong == 0
    assert score(book, [_pointing_at(now)], []).wrong == 1


def _on(book: Book, path: str, line: int) -> list[bool]:
    return [plant.second.path == path and plant.second.first <= line <= plant.second.last for plant in book.plants]


def test_findings_are_read_out_of_any_answer() -> None:
    quote = {"path": "Story/Scenes/a.md", "line": 3, "text": "x"}
    answer = {
        "status": "ok",
        "groups": [{"findings": [{"rule": "eyes", "quotes": [quote, {**quote, "line": 9, "end_line": 11}]}]}],
    }
    (found,) = findings_in(answer)
    assert (found.rule, [(at.first, at.last) for at in found.quotes]) == ("eyes", [(3, 3), (9, 11)])
    assert findings_in({"findings": []}) == []


def test_grep_finds_some_errors_and_falls_for_some_twins() -> None:
    cases = [case for seed in range(4) for case in pond_cases(seed) if case.kind in {"eyes", "hair"}]
    found = false = 0
    for case in cases:
        errors, twins = (planted(NOVEL, [case], errors=errors, wrapped=True) for errors in (True, False))
        found += score(errors, grep(errors.files), []).found.total()
        false += score(twins, grep(twins.files), []).wrong
    assert 0 < found < len(cases)
    assert false > 0


def test_a_call_takes_ten_scenes_with_both_sides_among_them() -> None:
    for case in pond_cases():
        paths = ten_scenes(NOVEL, case)
        assert len(paths) <= MOST_FILES
        assert {NOVEL.scenes[case.first.scene].path, NOVEL.scenes[case.second.scene].path} <= set(paths)
        assert all(one < other for one, other in pairwise(paths))


def test_the_held_half_is_never_shown(tmp_path: Path) -> None:
    book = planted(NOVEL, pond_cases(), errors=True, wrapped=True)
    measured = Measured(split="dev", scores={"grep": score(book, [], [])})
    show(measured, tmp_path / "dev.jsonl")
    assert len([json.loads(line) for line in (tmp_path / "dev.jsonl").read_text().splitlines()]) == len(book.plants)
    with pytest.raises(ValueError, match="held"):
        show(Measured(split="held"), tmp_path / "held.jsonl")
    assert not (tmp_path / "held.jsonl").exists()
    assert "| dev | grep |" in markdown([measured])


@pytest.mark.promise("studio.continuity-measured")
def test_books_and_twins_are_measured_and_the_novel_as_it_is_beside_them(tmp_path: Path) -> None:
    size_of_it = Size(books=2, per_kind=1, checkers=(GREP,))
    measured = measure([NOVEL], NOWHERE, tmp_path, split="held", seed=1, size=size_of_it)
    assert measured.scores[GREP].planted.total() == 2 * len(KINDS)
    assert [row.findings[GREP] for row in measured.untouched] == [len(grep(untouched(NOVEL, wrapped=True).files))]
    assert "| held | grep | 14 |" in markdown([measured])
