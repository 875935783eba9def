"""Cards: kind, name, other names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.model import CanonCard, Complaint
from tests.rooms.studio.projects import source
from tests.sizes import size


def card(text: str, path: str = "Compendium/Characters/CHAR-mara-voss.md") -> CanonCard:
    found = parse_card(source(text, path))
    assert isinstance(found, CanonCard)
    return found


@pytest.mark.promise("book.cards")
@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("Compendium/Characters/CHAR-mara.md", "x", "character"),
        ("Story/Compendium/Locations/Harbour.md", "x", "location"),
        ("Compendium/Lore/old/x.md", "x", "lore"),
        ("Compendium/Misc/x.md", "---\ntype: Faction\n---\n", "faction"),
        ("Compendium/Characters/x.md", "---\ntype: protagonist\n---\n", "character"),
        ("Compendium/LOC-quay.md", "x", "location"),
        ("Compendium/Odds/x.md", "x", "misc"),
        ("people/mara.md", "x", "character"),
        ("Compendium/Glossary/fathom.md", "x", "glossary"),
        ("Compendium/Technology/x.md", "x", "technology"),
        ("Compendium/Culture/x.md", "x", "culture"),
        ("Compendium/Events/x.md", "x", "event"),
        ("Compendium/Themes/x.md", "x", "theme"),
    ],
)
def test_the_kind_is_that_of_front_matter_or_folder_or_name(path: str, text: str, kind: str) -> None:
    assert card(text, path).kind == kind


@pytest.mark.promise("book.cards")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("---\nname: Mara Voss\ntitle: Captain\n---\n# Other\n", "Mara Voss"),
        ("---\ntitle: Mara V.\n---\n", "Mara V."),
        ("# **Mara** Voss\n", "Mara Voss"),
        ("# Character: Mara Voss\n", "Mara Voss"),
        ("Eyes: green\n", "Mara Voss"),
        ("## Appearance\nEyes: green\n", "Mara Voss"),
        ("", "Mara Voss"),
    ],
)
def test_the_name_is_that_of_front_matter_or_heading_or_file(text: str, name: str) -> None:
    assert card(text).name == name


@pytest.mark.promise("book.cards", "book.complaints")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Compendium/Characters/CHAR-x.md", "---\nname:\n---\ntext"),
        ("Compendium/Characters/CHAR-x.md", '---\nname: ""\n---\n'),
        ("Compendium/Characters/untitled.md", "text"),
        ("Compendium/Characters/CHAR-.md", "text"),
        ("Compendium/Characters/001.md", "text"),
        ("Compendium/Characters/characters.md", "text"),
    ],
)
def test_a_card_that_names_nobody_is_a_complaint(path: str, text: str) -> None:
    found = parse_card(source(text, path))
    assert isinstance(found, Complaint)
    assert (found.code, found.path, found.line) == ("card_without_name", path, 1)


@pytest.mark.promise("book.cards")
@pytest.mark.parametrize(
    "text",
    [
        "---\naliases: [the Grey, Captain]\n---\n",
        "---\naliases: the Grey, Captain\n---\n",
        "---\naka: the Grey\nnickname: Captain\n---\n",
        "Aliases: the Grey, Captain\n",
        "**Also known as:** “the Grey” (to her crew); Captain.\n",
        "- Alias: the Grey\n- Nickname: Captain\n",
        "Aliases:\n- the Grey\n- Captain\n\nText, and more.\n",
        "## Also known as\n- the Grey\n- Captain\n\n## Rest\n- nothing\n",
        "| Aliases | the Grey, Captain |\n|---|---|\n| Eyes | green |\n",
        "AKA: [[Mara Voss]], the Grey and Captain\n",
    ],
)
def test_other_names_are_read_wherever_authors_write_them(text: str) -> None:
    assert card(text).aliases == ("the Grey", "Captain")


@pytest.mark.promise("book.cards")
@given(st.text(alphabet=st.sampled_from("aA:,;-#|*()[]\n \"'Aliases"), max_size=size(150, 400)))
def test_any_text_is_a_card_or_a_complaint(text: str) -> None:
    found = parse_card(source(text, "Compendium/Lore/tide.md"))
    if isinstance(found, CanonCard):
        assert found.name.strip()
        assert found.name.casefold() not in {alias.casefold() for alias in found.aliases}
