"""What is said is told apart from what is told, however the book marks speech."""

import pytest

from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.continuity.passages import passages_of
from tests.rooms.studio.continuity.telling import source

SAID = "SECRET"


def _told(text: str) -> str:
    return "\n\n".join(passage.narration for passage in passages_of(parse_scene(source("a.md", text))))


@pytest.mark.promise("continuity.speech")
@pytest.mark.parametrize(
    "text",
    [
        'Mara came in. "SECRET," she said. "SECRET."',
        "Mara came in. “SECRET,” she said.",
        "Mara came in. «SECRET» she said.",
        '"I saw it,\nand SECRET\nwas there," said Mara.',
        '"The first part.\n\n"SECRET goes on," said Mara.',
        "“The first part.\n\n“SECRET goes on,” said Mara.",
        "Mara came in. ``SECRET,'' she said.",
        "'Hello,' said Mara. 'It's SECRET, isn't it?'\n\n'No,' said Jon. 'I don't think so.'\n\n'Yes,' said Mara.",
        "‘Hello,’ said Mara. ‘It’s SECRET, isn’t it?’\n\n‘No,’ said Jon.",
        "—Yes, said Mara.\n\n—SECRET, said Jon. It rained.\n\n—No, said Mara.\n\n—Well, said Jon.",
        "Mara sat still. *She will tell them SECRET things tomorrow.* Then she rose.",
        'He turned: "SECRET',
        'SECRET," said Mara.',
    ],
)
def test_speech_is_hidden(text: str) -> None:
    assert SAID not in _told(text)


@pytest.mark.parametrize(
    "text",
    [
        'Mara SECRET. "No," she said.',
        '"No," she SECRET. "Yes."',
        "“No.” SECRET stood up.",
        "The boys' hats were SECRET, and Mara's was not.",
        "'Hello,' said Mara, and SECRET smiled. 'It's late.'\n\n'No,' said Jon.\n\n'Yes,' said Mara.",
        "—Yes, said SECRET.\n\n—No, said Jon.\n\n—Yes, said Mara.",
        "She was *very* SECRET *indeed*.",
    ],
)
def test_narration_is_left(text: str) -> None:
    assert SAID in _told(text)


def test_headings_front_matter_and_the_licence_of_an_e_text_are_no_prose() -> None:
    text = "Licence\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n\nCHAPTER I\n\n# A heading\n\nMara slept.\n\n*** END OF THIS PROJECT GUTENBERG EBOOK\n\nMore"
    assert "Licence" not in _told(text)
    assert "More" not in _told(text)
    assert _told(text).endswith("Mara slept.")
