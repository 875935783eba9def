"""Which unknown words ask for nothing: by a parse, and by what a sentence means without them."""

from collections.abc import Sequence

import pytest

np = pytest.importorskip("numpy")

from tallystick.reading.parser import ParsedText, ParsedWord  # noqa: E402
from tallystick.rooms.insight.question.unknown_words import WordSense  # noqa: E402
from tallystick.text.words import word_spans  # noqa: E402

TAGS = {
    "Bilbao": ("PROPN", "NNP"),
    "overall": ("ADV", "RB"),
    "urgent": ("ADJ", "JJ"),
    "older": ("ADJ", "JJR"),
    "outside": ("ADP", "IN"),
    "please": ("INTJ", "UH"),
}


class Tagged:
    """A parser that knows some words."""

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        found = []
        for text in texts:
            words = [
                ParsedWord(at, one.written, one.start, one.folded, *TAGS.get(one.written, ("NOUN", "NN")), "dep")
                for at, one in enumerate(word_spans(text))
            ]
            found.append(ParsedText(text, words, [0]))
        return found


class WeighsUrgent:
    """Vectors in which only the word `urgent` counts."""

    def embed(self, texts: Sequence[str]) -> object:
        return np.array([[1.0, 0.0] if "urgent" in text or "car" in text else [0.0, 1.0] for text in texts])


@pytest.mark.promise("insight.question.idle")
@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("overall urgent tickets", {"overall"}),
        ("tickets outside Bilbao", set()),
        ("tickets older please", {"please"}),
        ("overall tickets24x7", {"overall"}),
    ],
)
def test_what_changes_the_meaning_is_kept(text: str, left_out: set[str]) -> None:
    unknown = [one for one in word_spans(text) if one.written != "tickets"]
    found = WordSense(parser=Tagged(), vectors=WeighsUrgent()).idle(text, unknown, frozenset(), frozenset())
    assert {one.written for one in unknown if one.start in found} == left_out


@pytest.mark.promise("insight.question.read")
def test_a_word_stands_for_the_one_that_is_near_in_meaning() -> None:
    sense = WordSense(parser=Tagged(), vectors=WeighsUrgent())
    cargo, closed = word_spans("cargo urgent")
    assert sense.alike("cargo urgent", cargo, ["queue", "car"]) == "car"
    assert sense.alike("cargo urgent", cargo, ["queue"]) is None
    assert sense.alike("cargo urgent", closed, ["car"]) is None, "an adjective is near its opposite, too"
