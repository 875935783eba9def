"""The desk is of use: what documents answer is answered rightly and verbatim, what they do not is left to a person."""

import json
from pathlib import Path

import pytest

from benchmarks.desk.questions import Question, asked_of_bank, asked_of_sample, bank_documents
from benchmarks.desk.usefulness import FLOOR, FOR_PEOPLE, asked_at, swapped_at
from tallystick.rooms.desk.sample_desk import copy_sample
from tests.sizes import size

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "desk_questions.json").read_text(encoding="utf-8"))
OURS = [
    Question(text=one["question"], rule="ours", docs=frozenset({one["doc"]}), value=one["says"])
    for one in CASES["answerable"]
]
UNKNOWN = [Question(text=one, rule="unknown", docs=frozenset()) for one in CASES["unknown"]]


@pytest.mark.promise("desk.usefulness")
def test_our_own_questions_are_answered_from_the_sample_and_others_are_not(tmp_path: Path) -> None:
    copy_sample(tmp_path / "kb")
    found = asked_at(tmp_path, OURS)
    assert (found["unsupported"], found["blocked"]) == (0, 0)
    assert found["right"] >= 0.8 * len(OURS), found
    other = asked_at(tmp_path, UNKNOWN)
    assert (other["right"], other["wrong"], other["deferred"]) == (0, 0, len(UNKNOWN))
    swapped = swapped_at(tmp_path, OURS)
    assert (swapped["tried"] > 0, swapped["passed"]) == (True, 0)


@pytest.mark.promise("desk.usefulness")
def test_customers_questions_of_a_suite_reach_the_floor(tmp_path: Path, data: Path) -> None:
    if not (data / "bitext-2022").is_dir():
        pytest.skip("left out: bitext-2022, TALLY_DATA not there")
    copy_sample(tmp_path / "kb")
    theirs = [each for each in asked_of_sample(data) if each.rule not in FOR_PEOPLE]
    found = asked_at(tmp_path, theirs[:: max(1, len(theirs) // size(60, len(theirs)))])
    assert found["unsupported"] == 0
    assert found["right"] >= FLOOR * found["questions"], found


@pytest.mark.full
@pytest.mark.promise("desk.usefulness")
def test_questions_about_a_banks_documents_reach_the_floor(tmp_path: Path, data: Path) -> None:
    if not (data / "tau2").is_dir():
        pytest.skip("left out: tau2, TALLY_DATA not there")
    documents = bank_documents(data)
    (tmp_path / "kb").mkdir()
    for each in documents:
        (tmp_path / "kb" / each.doc).write_text(each.text, encoding="utf-8")
    found = asked_at(tmp_path, asked_of_bank(documents))
    assert found["unsupported"] == 0
    assert found["right"] >= FLOOR * found["questions"], found
