"""A small model judges sentences: its judgement joins that of reading, and a model that is not there is said."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.providers.local.answers import LocalAnswerJudge
from tallystick.providers.models.store import ModelStore
from tallystick.reading.agent.answer_judge import JUDGED, joined, judged
from tallystick.reading.answers import Candidate, rank_sentences
from tallystick.reading.passages import cut_passages
from tallystick.reading.retriever import FoundPassage
from tallystick.turns.model import ModelError

STORY = (
    "# The mill\n\nThe wheel has twelve paddles, and three are cracked. Tilda Moor runs the mill. She bought it in 1911. "
    "The cat is called Bram. It rains on Mondays. The uncle lives in Hull. The roof is new. The river is low.\n"
)
QUESTION = "Who runs the mill?"


class Scripted:
    """Prefers yes for one sentence, and keeps what it was asked."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        self.asked: list[str] = []

    async def margins(self, question: str, texts: Sequence[str]) -> list[int] | ModelError:
        assert question == QUESTION
        self.asked += texts
        first = next(at for at, text in enumerate(texts) if self.sentence in text)
        return [9000 if at == first else -9000 for at in range(len(texts))]


def candidates() -> list[Candidate]:
    passages = [
        FoundPassage(
            name="mill",
            version="1",
            text=STORY[each.start : each.end],
            in_context=f"The mill\n{STORY[each.start : each.end]}",
            passage=each,
            score=1.0,
        )
        for each in cut_passages(STORY)
    ]
    return rank_sentences(QUESTION, passages)


@pytest.mark.promise("reading.judged")
def test_the_sentence_that_the_model_prefers_comes_first_and_few_are_judged() -> None:
    found = candidates()
    wanted = found[3].text
    judge = Scripted(wanted)
    result = asyncio.run(judged(QUESTION, found, judge))
    assert not isinstance(result, ModelError)
    assert len(judge.asked) == JUDGED < len(found)
    assert all(text.startswith("[The mill] ") for text in judge.asked)
    assert wanted in result[0].around
    assert result[0].confidence > 0.5 > result[-1].confidence


@pytest.mark.promise("reading.judged")
@given(confidence=st.floats(0, 1), one=st.integers(-20_000, 20_000), other=st.integers(-20_000, 20_000))
def test_the_more_the_model_prefers_yes_the_surer_and_no_preference_changes_nothing(
    confidence: float, one: int, other: int
) -> None:
    low, high = sorted((one, other))
    assert 0 <= joined(confidence, low) <= joined(confidence, high) <= 1
    assert joined(confidence, 0) == pytest.approx(min(max(confidence, 1e-6), 1 - 1e-6))


@pytest.mark.promise("reading.judged")
def test_a_model_that_is_not_there_is_said_and_nothing_is_answered(tmp_path: Path) -> None:
    judge = LocalAnswerJudge("qwen2.5-coder-1.5b", ModelStore(tmp_path))
    result = asyncio.run(judged(QUESTION, candidates(), judge))
    assert isinstance(result, ModelError)
    assert "tally models fetch" in result.message
