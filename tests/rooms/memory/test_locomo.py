"""Evidence recall: on LoCoMo where it lies beside the project, and on a small conversation of our own anywhere."""

import json
from pathlib import Path

import pytest

from benchmarks.memory import locomo
from benchmarks.memory.conversations import NO_ANSWER, Asked, Conversation, Turn, conversations

OWN = json.loads((Path(__file__).parents[2] / "vectors" / "memory_talk.json").read_text(encoding="utf-8"))


def own_talk() -> Conversation:
    turns = tuple(
        Turn(f"D1:{number}", who, text, f"own/{session}", 1_700_000_000 + 86_400 * session + number)
        for number, (session, who, text) in enumerate(OWN["turns"])
    )
    questions = tuple(
        Asked(asked["text"], frozenset(f"D1:{number}" for number in asked["evidence"]), asked.get("category", 1))
        for asked in OWN["questions"]
    )
    return Conversation("own", turns, questions)


@pytest.mark.promise("reading.locomo")
def test_on_our_own_conversation_the_evidence_is_found_within_the_budget() -> None:
    row = locomo.score([own_talk()], locomo.our_recall)
    assert row["at_5"] >= 0.9
    assert row["most_tokens"] <= 1000
    assert row["at_5"] > locomo.score([own_talk()], locomo.bm25)["at_5"]


@pytest.mark.promise("reading.locomo", "reading.doubt")
def test_on_locomo_more_evidence_is_found_than_promised(data: Path) -> None:
    if not (data / "locomo").is_dir():
        pytest.skip("left out: locomo, TALLY_DATA not there")
    talks = list(conversations(data))
    row = locomo.score(talks, locomo.our_recall)
    assert row["at_10"] >= 0.68
    assert row["most_tokens"] <= 1000
    # Where nothing said answers, it says so several times as often as where something does.
    assert row["says_so"] > 3 * row["doubts"]
    assert any(asked.category == NO_ANSWER for talk in talks for asked in talk.questions)
