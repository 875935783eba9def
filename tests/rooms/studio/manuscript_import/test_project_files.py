"""Where the lines of imported files stand in the manuscript."""

import pytest

from tallystick.rooms.studio.manuscript_import.model import CardDraft, ChapterDraft, Manuscript, SceneDraft
from tallystick.rooms.studio.manuscript_import.project_files import Origins, files_of

QUOTE = "> Dear,\n>\n> I came.\\\n> I saw."


def scene(title: str | None, *blocks: str) -> SceneDraft:
    return SceneDraft(title=title, blocks=blocks)


@pytest.mark.promise("continuity.first-use")
def test_paragraphs_are_counted_below_the_nearest_heading_and_over_breaks() -> None:
    chapters = (
        ChapterDraft(
            title="One", part=None, scenes=(scene(None, "a1", QUOTE, "#### Section", "a4"), scene(None, "a5"))
        ),
        ChapterDraft(
            title="Two", part=None, scenes=(scene("Quay", "b1"), scene(None, "b2"), scene("Mill", "c1\\\nc1b"))
        ),
    )
    card = CardDraft(kind="character", name="Mara", aliases=(), blocks=("d1",))
    manuscript = Manuscript(format="docx", title="T", author="A", chapters=chapters, cards=(card,))
    origins = Origins(manuscript, "MyNovel.docx")
    found = {
        line.strip("> \\"): origins.of(path, number).words.removeprefix("MyNovel.docx, ")
        for path, data in files_of(manuscript).items()
        for number, line in enumerate(data.decode().split("\n"), start=1)
        if line.strip("> \\")
    }
    assert {name: found[name] for name in ("a1", "Dear,", "I came.", "I saw.", "#### Section", "a4", "a5")} == {
        "a1": "“One”, paragraph 1", "Dear,": "“One”, paragraph 2", "I came.": "“One”, paragraph 3",
        "I saw.": "“One”, paragraph 3", "#### Section": "“One”", "a4": "“One”, paragraph 4", "a5": "“One”, paragraph 5",
    }  # fmt: skip
    assert {name: found[name] for name in ("b1", "b2", "c1", "c1b", "d1")} == {
        "b1": "“Two”, “Quay”, paragraph 1", "b2": "“Two”, “Quay”, paragraph 2", "c1": "“Two”, “Mill”, paragraph 1",
        "c1b": "“Two”, “Mill”, paragraph 1", "d1": "“Mara”, paragraph 1",
    }  # fmt: skip
    assert origins.of("Story/SCN-outline.md", 3).words == "MyNovel.docx"
