"""Every line of a card becomes a statement, however it is written."""

import pytest

from tests.rooms.studio.continuity.telling import reading_of

SCENES = tuple(f"Nan and Osk went down to the mill on day {at}. Nan sang, and he listened to her." for at in range(5))


def _statements(text: str, path: str = "Compendium/Characters/CHAR-nan.md") -> set[tuple[str, tuple[str | int, ...]]]:
    lines = reading_of(*SCENES, cards={path: text}).card_lines
    return {(one.field, one.value) for line in lines for one in line.statements}


@pytest.mark.promise("continuity.card-forms")
@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("Eyes: grey", "eyes", ("grey",)),
        ("- **Eyes:** a clear grey", "eyes", ("grey",)),
        ("| Eyes | grey | hard |", "eyes", ("grey",)),
        ("Her eyes are grey.", "eyes", ("grey",)),
        ("Age: thirty-one", "age", (31, 31)),
        ("Born: 3 May 1888", "born", (1888,)),
        ("Handedness: left-handed", "handedness", ("left",)),
        ("Nan is left-handed.", "handedness", ("left",)),
        ("Scar: left cheek", "side:scar", ("left",)),
        ("Sisters: two", "count:sister", (2,)),
        ("Never eats meat.", "never", ("eat", "meat")),
        ("Rank: Captain", "title:military", ("captain",)),
        ("Weapon: a long harpoon", "owns", ("harpoon",)),
        ("Occupation: miller", "occupation", ("miller",)),
        ("Lives in Tanner Row.", "place:street", ("tanner row",)),
        ("Twelve lanterns hang in her shop.", "number:lantern", (12,)),
    ],
)
def test_a_statement_is_read_however_it_is_written(line: str, field: str, value: tuple[str | int, ...]) -> None:
    head = "| What | Canon | Strength |\n|---|---|---|\n" if line.startswith("|") else ""
    assert (field, value) in _statements(f"---\nname: Nan Hale\n---\n# Nan Hale\n\n{head}{line}\n")


@pytest.mark.promise("continuity.statements-kept")
def test_a_line_without_a_known_field_is_kept_and_said_so() -> None:
    text = "---\nname: Nan Hale\n---\n# Nan Hale\n\nEyes: grey\nFavourite hymn: the old one\n"
    lines = reading_of(*SCENES, cards={"Compendium/Characters/CHAR-nan.md": text}).card_lines
    kept = {line.line.written: line.understood for line in lines}
    assert kept["Eyes: grey"]
    assert kept["Favourite hymn: the old one"] is False


@pytest.mark.promise("continuity.progressions")
@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        ("SCN-02 to SCN-04: her hair is black.", 2, 4),
        ("Her hair is black from SCN-03 on.", 3, None),
        ("SCN-03 onwards: her hair is black.", 3, None),
        ("Her hair is black until SCN-03.", 0, 3),
        ("Her hair is black (SCN-03).", 3, 3),
    ],
)
def test_a_line_says_in_which_scenes_it_holds(line: str, first: int, last: int | None) -> None:
    card = {"Compendium/Characters/CHAR-nan.md": f"---\nname: Nan Hale\n---\n\n{line}\n"}
    (one,) = [one for one in reading_of(*SCENES, cards=card).settled if one.field == "hair"]
    assert one.first_scene == first
    assert one.last_scene == last or last is None


def test_kin_on_a_card_is_kin_of_both() -> None:
    cards = {
        "Compendium/Characters/CHAR-nan.md": "---\nname: Nan Hale\nbrother: Osk Hale\n---\n",
        "Compendium/Characters/CHAR-osk.md": "---\nname: Osk Hale\nsister: Nan Hale\n---\n",
    }
    ties = [one for one in reading_of(*SCENES, cards=cards).settled if one.field.startswith("kin:")]
    assert len(ties) == 2
    assert len({(one.subject, one.field, one.value) for one in ties}) == 1
