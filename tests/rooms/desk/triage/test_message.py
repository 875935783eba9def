"""What a message asks, read whole; and the categories that a person decides."""

from pathlib import Path

import pytest

from tallystick.errors import ConfigError
from tallystick.rooms.desk.triage.categories import MessageClassifier, read_examples
from tallystick.rooms.desk.triage.message import LONGEST, triage

CLASSIFIER = MessageClassifier()


@pytest.mark.promise("desk.whole-message")
def test_the_need_is_the_whole_message_without_greeting_and_thanks() -> None:
    said = "Hello there,\nI have the blue kettle. It stands in a cold cellar. May I leave water in it?\nThank you."
    (need,) = triage(said, CLASSIFIER)["information_needs"]
    assert need["question"] == "I have the blue kettle. It stands in a cold cellar. May I leave water in it?"


@pytest.mark.promise("desk.whole-message")
def test_a_later_message_is_read_below_the_earlier_ones() -> None:
    (need,) = triage("And in winter?", CLASSIFIER, ["Hi, may I leave water in the kettle?"])["information_needs"]
    assert need["question"] == "may I leave water in the kettle?\nAnd in winter?"


@pytest.mark.promise("desk.whole-message")
def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    said = f"My kettle is blue. {'It rained all day. ' * 400}May I leave water in it?"
    (need,) = triage(said, CLASSIFIER)["information_needs"]
    assert len(need["question"]) <= LONGEST
    assert need["question"].startswith("My kettle is blue.")
    assert need["question"].endswith("May I leave water in it?")


@pytest.mark.promise("desk.whole-message")
@pytest.mark.parametrize("said", ["Thanks!", "Hello", "Kind regards"])
def test_courtesies_alone_are_nothing_to_answer(said: str) -> None:
    assert triage(said, CLASSIFIER)["decision"] == "REJECT"


@pytest.mark.promise("desk.categories")
def test_the_owner_adds_examples_and_categories_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "categories.toml"
    assert read_examples(file) == {}
    file.write_text('islands = ["Do you deliver to islands?"]\n', encoding="utf-8")
    classifier = MessageClassifier(read_examples(file))
    assert classifier.category("Do you also deliver to the islands in June?") == "islands"
    assert CLASSIFIER.category("Do you also deliver to the islands in June?") == "general"
    file.write_text('islands = "all"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"categories\.toml"):
        read_examples(file)


@pytest.mark.promise("desk.categories")
@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("I want my money back for the kettle.", "refund"),
        ("You will hear from my lawyer about this.", "legal"),
        ("I want to talk to a human agent.", "person"),
        ("When is the shop open?", "general"),
    ],
)
def test_delicate_messages_are_found(said: str, category: str) -> None:
    assert CLASSIFIER.category(said) == category
