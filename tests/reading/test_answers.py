"""The sentence that answers comes first; what only repeats the question is none."""

import pytest

from tallystick.providers.embeddings.builtin import StaticWords
from tallystick.reading.answers import rank_sentences, statement_spans
from tallystick.reading.passages import cut_passages
from tallystick.reading.retriever import FoundPassage
from tests.reading.models import minilm, needs_minilm

STORY = (
    "# The mill\n\nTilda Moor runs the mill by the river. She bought it in 1911 from an uncle. The wheel has twelve "
    "paddles, and three are cracked.\n\nWho would buy a mill? Nobody asked her that. The cat is called Bram.\n"
)
CARD = "---\nname: Tilda Moor\neyes: green\nage: 44\n---\n"


def _passages(*texts: tuple[str, str]) -> list[FoundPassage]:
    return [
        FoundPassage(
            name=name,
            version="1",
            text=text[each.start : each.end],
            in_context=f"{name}\n{text[each.start : each.end]}",
            passage=each,
            score=1.0,
        )
        for name, text in texts
        for each in cut_passages(text)
    ]


PASSAGES = _passages(("mill", STORY), ("tilda moor", CARD))


@pytest.mark.parametrize("grade", [None, "wordllama", pytest.param("minilm", marks=needs_minilm)])
@pytest.mark.promise("reading.agent")
def test_the_sentence_that_answers_comes_first(grade: str | None) -> None:
    model = None if grade is None else StaticWords() if grade == "wordllama" else minilm()
    best = rank_sentences("How many paddles does the wheel have?", PASSAGES, model)[0]
    assert best.text == "The wheel has twelve paddles, and three are cracked."
    assert (best.line, STORY[best.start : best.end]) == (3, best.text)
    assert best.around.startswith("She bought it in 1911")
    best = rank_sentences("How old is Tilda Moor, what is her age?", PASSAGES[::-1], model)[0]
    assert best.text == "age: 44"


@pytest.mark.promise("reading.agent")
def test_a_question_answers_no_question() -> None:
    found = [each.text for each in rank_sentences("Who would buy a mill?", PASSAGES)]
    assert "Who would buy a mill?" not in found


def test_lines_of_fields_are_statements_of_their_own() -> None:
    assert [span.of(CARD.strip("-\n")) for span in statement_spans(CARD.strip("-\n"))] == [
        "name: Tilda Moor",
        "eyes: green",
        "age: 44",
    ]
